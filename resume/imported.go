package resume

import (
	"context"
	"slices"

	"github.com/pawlgo/pawl/machine"
)

// A task that is imported brings no resources: what its unsettled effects hold is told by their intents, and taken again when the store is
// released. Before that nothing is intended, so nothing is promised twice.

// lacksHolds tells whether an unsettled effect of a task holds what its resource does not know of.
func (c *Controller) lacksHolds(ctx context.Context, s machine.Snapshot[any]) (lacking bool, err error) {
	var b basket
	for _, i := range s.Intents {
		if !i.Unsettled() {
			continue
		}
		for _, h := range i.Holds {
			err := b.hold(ctx, c.st, h, func(s *shares) error {
				lacking = lacking || s.regain(i.Key, h)
				return nil
			})
			if err != nil {
				return false, err
			}
		}
	}
	return lacking, nil
}

// regain takes a hold of an intent that the resource does not know of, whether it fits or not: it has been promised. It gives whether it
// did. What has been taken of a velocity limit does not tell by whom: that is not taken again.
func (s *shares) regain(key string, h machine.Hold) bool {
	if h.Window > 0 || slices.ContainsFunc(s.Holds, func(o share) bool { return o.Key == key }) {
		return false
	}
	s.Holds = append(s.Holds, share{key, h.Amount})
	return true
}
