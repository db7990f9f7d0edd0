package main

import (
	"encoding/json"

	projection "github.com/pawlgo/pawl/context"
	"github.com/pawlgo/pawl/examples/refund/refund"
	"github.com/pawlgo/pawl/machine"
)

// viewRefund measures the view of the refund desk's decision while the owner is waited for, a day after the question: two
// facts are stale, one offer is open, one quote is shown, and both renderings and their digest are made. The floor is
// encoding/json of the same snapshot: the whole State, as text, which no model should read.
func viewRefund() benchmark {
	return benchmark{
		name: "view/refund", unit: nanoseconds, callers: 1, calls: 12_000, batch: 4,
		ours: func(place) (side, error) {
			s, in, err := confirmation()
			if err != nil {
				return side{}, err
			}
			waiting := machine.Snapshot[any]{Head: s.Head, Data: s.Data}
			said := projection.Quote{Origin: "customer", Text: "continue with yesterday's one"}
			return side{call: func(_, _ int) error {
				_, err := refund.InterpretReply.View(waiting, customer, in.Now, said)
				return err
			}}, nil
		},
		floor: func(place) (side, error) {
			s, _, err := confirmation()
			if err != nil {
				return side{}, err
			}
			return side{call: func(_, _ int) error {
				_, err := json.Marshal(s)
				return err
			}}, nil
		},
	}
}
