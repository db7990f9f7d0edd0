package resume

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/pawlgo/pawl/guard"
	"github.com/pawlgo/pawl/machine"
	"github.com/pawlgo/pawl/store"
)

// shares is the value of a resource: what is used up, and what is held by effects without an outcome; or what has been taken of a
// velocity limit.
type shares struct {
	Used  int64   `json:"used"`
	Holds []share `json:"holds"`
	velocity
}

// share is a hold, by the key of the effect that it goes with.
type share struct {
	Key    string `json:"key"`
	Amount int64  `json:"amount"`
}

// shortError says that a resource has not enough left.
type shortError struct {
	hold machine.Hold
	left int64
	fits time.Time // when a velocity limit has enough again; zero when that is not known
}

// Error names the resource and what is left of it.
func (e *shortError) Error() string {
	text := fmt.Sprintf("resource %s has %d left of %d, and %d is wanted", e.hold.Resource, e.left, e.hold.Limit, e.hold.Amount)
	if e.hold.Window > 0 {
		text += fmt.Sprintf(" within %v", e.hold.Window)
	}
	if !e.fits.IsZero() {
		text += "; it fits from " + e.fits.UTC().Format(time.RFC3339) + " on"
	}
	return text
}

// finding is the refusal.
func (e *shortError) finding() machine.Finding {
	f := machine.Finding{Code: machine.CodeShort, Text: e.Error(), Details: map[string]any{"left": e.left, "limit": e.hold.Limit}}
	if !e.fits.IsZero() {
		f.Details["fits_from"] = e.fits.UTC().Format(time.RFC3339Nano)
	}
	return f
}

// mixedError says that a resource is for the other kind of holds.
type mixedError struct{ hold machine.Hold }

// Error names the resource.
func (e *mixedError) Error() string {
	kind := map[bool]string{true: "holds with a window", false: "holds without a window"}
	return fmt.Sprintf("resource %s is for %s, and one of %s is asked for: give them names of their own",
		e.hold.Resource, kind[e.hold.Window == 0], kind[e.hold.Window > 0])
}

// take adds a hold, unless it does not fit any more. Sums that overflow do not fit.
func (s *shares) take(key string, h machine.Hold, at time.Time) error {
	s.pass(at)
	switch {
	case h.Window > 0 && (s.Used > 0 || len(s.Holds) > 0), h.Window == 0 && len(s.Taken) > 0:
		return &mixedError{h}
	case h.Window > 0:
		return s.velocity.take(h, at)
	}
	left := h.Limit - s.Used
	for _, taken := range s.Holds {
		if left < 0 {
			break
		}
		left -= taken.Amount
	}
	if h.Amount > left {
		return &shortError{hold: h, left: max(left, 0)}
	}
	s.Holds = append(s.Holds, share{key, h.Amount})
	return nil
}

// settle gives a hold back, or uses it up.
func (s *shares) settle(key string, h machine.Hold, confirmed bool) {
	s.Holds = slices.DeleteFunc(s.Holds, func(o share) bool { return o.Key == key }) // none, when the task was imported and is not released yet
	if confirmed && h.Spent {
		s.Used += min(h.Amount, math.MaxInt64-s.Used)
	}
}

// swaps are the new values of the resources that a version takes from or gives back to: taken with a new intent, given back or
// used up when the intent is settled, and not otherwise (law 16); used up after all when a receipt comes late; but for a velocity
// limit, which only time gives back; those of the families that it begins, ends or counts; and those of the messages that it uses
// up.
func (c *Controller) swaps(ctx context.Context, base loaded, next machine.Snapshot[any], entry *machine.Entry) ([]store.Resource, error) {
	var b basket
	if err := errors.Join(c.kin(ctx, &b, base, next, entry), c.useReplies(ctx, &b, entry)); err != nil {
		return nil, err
	}
	for _, i := range next.Intents {
		before, had := base.snap.Intent(i.Key)
		for _, h := range i.Holds {
			var err error
			switch {
			case !had && i.Unsettled():
				err = b.hold(ctx, c.st, h, func(s *shares) error { return s.take(i.Key, h, next.UpdatedAt) })
			case h.Window > 0: // only time gives it back
			case i.Unsettled() && entry.Event == machine.EntryRestored:
				err = b.hold(ctx, c.st, h, func(s *shares) error { s.regain(i.Key, h); return nil })
			case had && before.Unsettled() && !i.Unsettled():
				err = b.hold(ctx, c.st, h, func(s *shares) error { s.settle(i.Key, h, i.Status == machine.Confirmed); return nil })
			case had && h.Spent && i.Status != machine.Confirmed && !i.Unsettled() && receiptComes(base, next, i):
				err = b.hold(ctx, c.st, h, func(s *shares) error { s.settle(i.Key, h, true); return nil })
			}
			if err != nil {
				return nil, err
			}
		}
	}
	return b.resources, nil
}

// receiptComes tells whether a version brings the receipt of an effect that counted as one that has not happened: what it was given back is
// used up after all.
func receiptComes(base loaded, next machine.Snapshot[any], i machine.Intent) bool {
	receipt := guard.Key{Fact: base.m.EffectNamed(i.Effect).Receipt.Name, Subject: i.Key}
	_, was := base.snap.Facts.Entry(receipt)
	_, is := next.Facts.Entry(receipt)
	return is && !was
}

// basket is the resources that one commit changes.
type basket struct{ resources []store.Resource }

// hold changes what is held of one resource.
func (b *basket) hold(ctx context.Context, st store.Store, h machine.Hold, f func(*shares) error) error {
	return b.change(ctx, st, h.Resource, func(raw []byte) ([]byte, error) {
		var s shares
		if len(raw) > 0 {
			if err := json.Unmarshal(raw, &s); err != nil {
				return nil, fmt.Errorf("%w: %w", store.ErrCorrupt, err)
			}
		}
		if err := f(&s); err != nil {
			return nil, err
		}
		return json.Marshal(s)
	})
}

// change changes the value of one resource, as the changes before it left it.
func (b *basket) change(ctx context.Context, st store.Store, name string, f func([]byte) ([]byte, error)) error {
	i := slices.IndexFunc(b.resources, func(r store.Resource) bool { return r.Name == name })
	if i < 0 {
		r, err := st.(store.Resources).Resource(ctx, name)
		if err != nil {
			return fmt.Errorf("resource %s: %w", name, err)
		}
		if b.resources == nil {
			b.resources = make([]store.Resource, 0, 2) // a message and a hold
		}
		b.resources, i = append(b.resources, r), len(b.resources)
	}
	v, err := f(b.resources[i].Value)
	if err != nil {
		if errors.Is(err, store.ErrCorrupt) {
			err = fmt.Errorf("resource %s: %w", name, err)
		}
		return err
	}
	b.resources[i].Value = v
	return nil
}
