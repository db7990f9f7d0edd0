package projection

import (
	"time"

	"github.com/pawlgo/pawl/machine"
)

// Past is one entry of a task's history as a model may see it: that something happened, when, and by what kind of actor. It
// holds no payload, no evidence, no person and no reference of the entry: what of the task a model may know is declared in a
// [Spec], and a history would let the rest in by the back door (essay section 7, law 10).
type Past struct {
	Version uint64        `json:"state_version"`
	At      time.Time     `json:"at"`              // UTC
	Event   string        `json:"event,omitempty"` // "" when nothing but evidence came in
	By      string        `json:"by"`              // kind of actor
	From    machine.State `json:"from,omitempty"`
	To      machine.State `json:"to"`
	Voided  int           `json:"offers_voided,omitempty"` // how many open offers it voided
}

// PastOf is what a model may see of a history entry.
func PastOf(e machine.Entry) Past {
	return Past{
		Version: e.Version, At: time.UnixMicro(e.At).UTC(), Event: e.Event, By: string(e.Actor), From: e.From, To: e.To,
		Voided: len(e.Voided),
	}
}
