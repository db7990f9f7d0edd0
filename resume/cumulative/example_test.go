package cumulative_test

import (
	"context"
	"fmt"

	"github.com/pawlgo/pawl/machine"
	"github.com/pawlgo/pawl/resume/cumulative"
)

// A refund of 50.00, of a payment of which 20.00 had been refunded before. Its answer was lost; the provider says only how much was
// refunded so far.
func Example() {
	type Payment struct {
		ID   string
		Step cumulative.Step
	}
	type Record struct{ Total cumulative.Figure }

	refund := cumulative.Effect[Payment, Record]{
		Step:  func(p Payment) cumulative.Step { return p.Step },
		Total: func(r Record) cumulative.Figure { return r.Total },
	}
	job := machine.Job[Payment]{Key: "t1/refund/1", Args: Payment{"p1", cumulative.Step{Base: 2000, Amount: 5000, Currency: "EUR"}}}
	for _, minor := range []int64{2000, 7000, 7300} {
		read := func(context.Context, machine.Job[Payment]) (Record, error) {
			return Record{cumulative.Figure{Minor: minor, Currency: "EUR"}}, nil
		}
		_, found, err := refund.Find(read)(context.Background(), job)
		fmt.Println(minor, found, err)
	}
	// Output:
	// 2000 false <nil>
	// 7000 true <nil>
	// 7300 false it says 7300 EUR, which is neither 2000 nor 7000: the figure moved otherwise
}
