package machine

import (
	"fmt"
	"strings"

	"github.com/pawlgo/pawl/guard"
)

// Limits of holds.
const (
	MaxHolds    = 4   // holds of one commit
	MaxResource = 200 // bytes of a resource's name
)

// ReservedResource begins the names of the resources that controllers keep for themselves; no hold may take from one.
const ReservedResource = "pawl."

// CodeShort says that a resource has not enough left for a hold.
const CodeShort = "resource_short"

// Hold takes a part of something that tasks share: a captured amount, a daily cap, the one refund of an order (law 16). It is taken
// inside the commit that intends the effect, and given back only by the effect's outcome; while that is unknown it is held.
type Hold struct {
	Resource string `json:"resource"`        // such as "captured/123"; shared by all machines on the store
	Amount   int64  `json:"amount"`          // above zero, in the resource's own unit
	Limit    int64  `json:"limit"`           // how much there is in all, as far as is known now
	Spent    bool   `json:"spent,omitempty"` // a confirmed effect has used it up; else any outcome gives it back
}

func (h Hold) check() error {
	switch {
	case h.Resource == "" || len(h.Resource) > MaxResource || strings.IndexByte(h.Resource, 0) >= 0:
		return fmt.Errorf("a resource's name has 1 to %d bytes, none of them zero; %q", MaxResource, clip(h.Resource, MaxResource))
	case strings.HasPrefix(h.Resource, ReservedResource):
		return fmt.Errorf("resource %q: names that begin with %q are the controller's own", h.Resource, ReservedResource)
	case h.Amount <= 0 || h.Limit < 0:
		return fmt.Errorf("a hold of %d out of %d", h.Amount, h.Limit)
	}
	return nil
}

// Reserve takes holds with the effect of the same commit. Its edge must have an [Emit], and the holds go with that effect; when one
// of the resources has not enough left, the commit is refused (resource_short).
func Reserve[D, P any](f func(guard.Case[D, P]) []Hold) Output[D, P] {
	return Output[D, P]{output{kind: reserves, run: func(s *guard.Scene, data, payload any) []any {
		return erase(f(caseOf[D, P](s, data, payload)))
	}}}
}

// hold computes the holds of an edge.
func (a *attempt) hold(j *judged, s *Snapshot[any]) {
	for _, o := range j.edge.outputs {
		if o.kind != reserves {
			continue
		}
		made, v := j.run(o, s.Data)
		if j.add("reserve", v); !v.Allowed() {
			return
		}
		for _, m := range made {
			h := m.(Hold)
			if err := h.check(); err != nil {
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
