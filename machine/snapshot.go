package machine

import (
	"slices"
	"time"

	"github.com/pawlgo/pawl/guard"
)

// State names a state. It is stored, so it is a string.
type State string

// ArmedTimer fires its event once, in the stay that armed it, at or after the instant. First is when it was due before its
// edge was refused and it was put off; zero when it never was.
type ArmedTimer struct {
	Event string    `json:"event"`
	Due   time.Time `json:"due"`
	First time.Time `json:"first,omitzero"`
}

// Operation is the number of the newest operation of an effect. It only rises, so a key is never used again.
type Operation struct {
	Effect string `json:"effect"`
	Number uint64 `json:"number"`
}

// Head is all of a snapshot but the data.
type Head struct {
	Task       string
	Machine    string
	Definition int    // version of the machine's definition
	Digest     string // digest of the machine's definition
	Version    uint64 // state_version: rises by one per commit
	State      State
	Entered    time.Time // when the present stay in the state began
	Owner      string
	Parent     string // the task that this one works for, "" when none
	Created    time.Time
	Facts      guard.Facts
	Waiting    *Waiting
	Offers     []OpenOffer
	Intents    []Intent // the unsettled ones, and the last settled one of each effect
	Operations []Operation
	Timers     []ArmedTimer
	UpdatedAt  time.Time
	UpdatedBy  string
	BasedOn    uint64
}

// Snapshot is a task at one version. Snapshot[any] is the same with the data's type hidden, as controllers hold it.
// Versions share memory: read only. Safe for concurrent use.
type Snapshot[D any] struct {
	Head
	Data D
}

// Emitted tells whether an intent of the effect was ever made by this task, whatever became of it.
func (h Head) Emitted(e AnyEffect) bool {
	return e.Info() != nil && h.Operation(e.Info().Name) > 0
}

// Settled tells whether an intent of the effect was made and none is without an outcome.
func (h Head) Settled(e AnyEffect) bool {
	return h.Emitted(e) && h.unsettled(e.Info().Name, "") == 0
}

// Intent finds an intent by its key.
func (h Head) Intent(key string) (Intent, bool) {
	i := slices.IndexFunc(h.Intents, func(i Intent) bool { return i.Key == key })
	if i < 0 {
		return Intent{}, false
	}
	return h.Intents[i], true
}

// Offer finds an open offer by its id.
func (h Head) Offer(id string) (OpenOffer, bool) {
	i := slices.IndexFunc(h.Offers, func(o OpenOffer) bool { return o.ID == id })
	if i < 0 {
		return OpenOffer{}, false
	}
	return h.Offers[i], true
}

// Wake is when the task has something to do by itself; the zero time when never.
func (h Head) Wake() time.Time {
	var wake time.Time
	for _, t := range h.Timers {
		if wake.IsZero() || t.Due.Before(wake) {
			wake = t.Due
		}
	}
	return wake
}

// Operation is the number of the newest operation of an effect; 0 when it was never intended.
func (h Head) Operation(effect string) uint64 {
	for _, o := range h.Operations {
		if o.Effect == effect {
			return o.Number
		}
	}
	return 0
}

// unsettled counts the intents of an effect without an outcome, but for one.
func (h *Head) unsettled(effect, but string) int {
	n := 0
	for i := range h.Intents {
		if in := &h.Intents[i]; in.Effect == effect && in.Unsettled() && in.Key != but {
			n++
		}
	}
	return n
}

// As gives an erased snapshot its type back; false when it is another machine's.
func As[D any](s Snapshot[any]) (Snapshot[D], bool) {
	d, ok := s.Data.(D)
	return Snapshot[D]{s.Head, d}, ok
}
