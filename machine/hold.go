package machine

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/pawlgo/pawl/guard"
)

// Limits of holds.
const (
	MaxHolds    = 4   // holds of one commit
	MaxResource = 200 // bytes of a resource's name

	MinWindow = time.Second          // of a velocity limit
	MaxWindow = 366 * 24 * time.Hour // of a velocity limit
)

// ReservedResource begins the names of the resources that controllers keep for themselves; no hold may take from one.
const ReservedResource = "pawl."

// CodeShort says that a resource has not enough left for a hold.
const CodeShort = "resource_short"

// Hold takes a part of something that tasks share: a captured amount, a daily cap, the one refund of an order (law 16). It is taken
// inside the commit that intends the effect, and given back only by the effect's outcome; while that is unknown it is held. A velocity
// limit is given back by time: see [Velocity].
type Hold struct {
	Resource string `json:"resource"`        // such as "captured/123"; shared by all machines on the store
	Amount   int64  `json:"amount"`          // above zero, in the resource's own unit
	Limit    int64  `json:"limit"`           // how much there is in all, as far as is known now
	Spent    bool   `json:"spent,omitempty"` // a confirmed effect has used it up; else any outcome gives it back

	// Window makes it a velocity limit, see [Velocity]; zero is none.
	Window time.Duration `json:"window,omitempty"`
}

// Velocity is a hold of a velocity limit: what is taken of the resource within any window is at most the limit, in the resource's
// own unit: 500.00 an hour for a customer, 20 orders a minute (amount 1). Time gives it back and nothing else: it counts
// attempts, and an effect that fails, or is withdrawn before it is sent, has been one.
//
// A commit counts at the instant that its history entry bears, whenever its effect is sent ([SendWithin] bounds that). What was
// taken within a sixteenth of the window counts as one, until the last of it has left the window: never is more let through, and
// what is refused (resource_short) may fit up to that much later than it could. A clock that steps back frees nothing; one that
// steps forward does, as time does.
//
// A resource is for holds with a window or for holds without: while it has some of one kind, the other is refused (form). Give
// each window a resource of its own. Where the window of a resource is made longer, what is older than the shorter one is
// forgotten. A task that is imported into another store brings what it took, as of its own instants, with the release of that
// store. The window is at least [MinWindow] and at most [MaxWindow].
func Velocity(resource string, amount, limit int64, window time.Duration) Hold {
	return Hold{Resource: resource, Amount: amount, Limit: limit, Window: window}
}

func (h Hold) check() error {
	switch {
	case h.Resource == "" || len(h.Resource) > MaxResource || strings.IndexByte(h.Resource, 0) >= 0:
		return fmt.Errorf("a resource's name has 1 to %d bytes, none of them zero; %q", MaxResource, clip(h.Resource, MaxResource))
	case strings.HasPrefix(h.Resource, ReservedResource):
		return fmt.Errorf("resource %q: names that begin with %q are the controller's own", h.Resource, ReservedResource)
	case h.Amount <= 0 || h.Limit < 0:
		return fmt.Errorf("a hold of %d out of %d", h.Amount, h.Limit)
	case h.Window != 0 && (h.Window < MinWindow || h.Window > MaxWindow):
		return fmt.Errorf("resource %q: a window of %v, at least %v and at most %v", h.Resource, h.Window, MinWindow, MaxWindow)
	case h.Window%time.Microsecond != 0:
		return fmt.Errorf("resource %q: a window of %v, and the store's clock counts whole microseconds", h.Resource, h.Window)
	case h.Window != 0 && h.Spent:
		return fmt.Errorf("resource %q: what has a window is given back by time, so it cannot be spent", h.Resource)
	}
	return nil
}

// Reserve takes holds with the effect of the same commit, at most one of each resource. Its edge must have an [Emit], and the
// holds go with that effect; when one of the resources has not enough left, the commit is refused (resource_short).
func Reserve[D, P any](f func(guard.Case[D, P]) []Hold) Output[D, P] {
	return Output[D, P]{output{kind: reserves, holds: func(s *guard.Scene, data, payload any) []Hold {
		return f(caseOf[D, P](s, data, payload))
	}}}
}

// hold computes the holds of an edge.
func (a *attempt) hold(j *judged, s *Snapshot[any]) {
	for _, o := range j.edge.outputs {
		if o.kind != reserves {
			continue
		}
		var made []Hold
		v := j.grounded(func() { made = o.holds(j.scene, s.Data, j.payload) })
		if j.add("reserve", v); !v.Allowed() {
			return
		}
		for _, h := range made {
			err := h.check()
			if slices.ContainsFunc(j.holds, func(o Hold) bool { return o.Resource == h.Resource }) {
				err = fmt.Errorf("two holds of resource %q in one commit: make it one of their sum", h.Resource)
			}
			if err != nil {
				j.deny("reserve", CodeForm, err.Error())
				return
			}
			j.holds = append(j.holds, h)
		}
	}
	switch {
	case len(j.holds) > MaxHolds:
		j.deny("reserve", CodeTooMany, fmt.Sprintf("%d holds in one commit, at most %d", len(j.holds), MaxHolds))
	case len(j.holds) > 0 && len(j.drafts) == 0:
		j.deny("reserve", CodeForm, "there is no effect that the holds could go with")
	}
}

// Reserves tells whether an edge of the machine takes holds, so that it needs a store whose resources can be swapped.
func (m *Machine[D]) Reserves() bool {
	for _, e := range m.c.edges {
		for _, o := range e.outputs {
			if o.kind == reserves {
				return true
			}
		}
	}
	return false
}
