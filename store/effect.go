package store

import "fmt"

// Status is how far an unsettled effect has come. A settled effect has no row, so it has no status.
type Status uint8

const (
	Intent  Status = 1 // decided, not sent
	Sent    Status = 2 // claimed: it may have been sent
	Unknown Status = 3 // may have happened; only a lookup can tell
)

// String is the name of the status.
func (s Status) String() string {
	switch s {
	case Intent:
		return "intent"
	case Sent:
		return "sent"
	case Unknown:
		return "unknown"
	}
	return fmt.Sprintf("status(%d)", uint8(s))
}

// Effect is an unsettled wish to act on the world. It lives from the commit that emits it to the one that settles it.
type Effect struct {
	Task    string
	ID      string // 1 to MaxName bytes without a zero byte; unique among the task's unsettled effects
	Version uint64 // of the commit that emitted it
	Rev     uint64 // the fencing token: rises with every change, and across effects of the same id
	Status  Status
	Was     Status // set by Claim: the status before it. Not stored
	Ready   Micros // not claimed before
	Holder  string // who claimed it, while Sent
	Hold    Micros // when the claim runs out by itself, while Sent
	Body    []byte
}

// FirstRev is the revision of an effect that the commit of that version emits. Versions rise, so a revision never
// comes back even if a later commit emits the same id again.
func FirstRev(version uint64) uint64 { return version << 20 }

// Next is when the effect can be claimed next: when it is ready, or when its hold runs out.
func (e *Effect) Next() Micros {
	if e.Status == Sent && e.Hold > 0 {
		return e.Hold
	}
	return e.Ready
}
