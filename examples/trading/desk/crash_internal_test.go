package desk

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlgo/pawl/examples/trading/trading"
	"github.com/pawlgo/pawl/store"
)

// errDied is what the rest of a process that has died gets of its store.
var errDied = errors.New("the process has died")

// mortal is a store as one process has it. The process dies at its n-th write: before it, or after it, without having heard of it.
type mortal struct {
	store.Store
	left  int
	after bool
	dead  bool
}

func (m *mortal) write(do func() error) error {
	if m.dead {
		return errDied
	}
	if m.left--; m.left > 0 {
		return do()
	}
	m.dead = true
	if m.after {
		return errors.Join(do(), errDied)
	}
	return errDied
}

func (m *mortal) Commit(ctx context.Context, c *store.Commit) (tip store.Tip, err error) {
	err = m.write(func() (err error) { tip, err = m.Store.Commit(ctx, c); return err })
	return tip, err
}

func (m *mortal) Claim(ctx context.Context, s store.Slots, limit int, holder string, hold store.Micros) (e []store.Effect, err error) {
	err = m.write(func() (err error) { e, err = m.Store.Claim(ctx, s, limit, holder, hold); return err })
	if err != nil {
		e = nil
	}
	return e, err
}

func (m *mortal) Update(ctx context.Context, e store.Effect) (rev uint64, err error) {
	err = m.write(func() (err error) { rev, err = m.Store.Update(ctx, e); return err })
	return rev, err
}

// shift is what one process does of the day at 10:07: it wakes the model up, and sends what is to be sent. Its errors are those of a
// process that dies.
func (l *lab) shift() error {
	s, err := l.desk.Standing(l.t.Context())
	if err != nil {
		return err
	}
	if len(s.Exits) == 0 && s.State != trading.Exiting {
		if _, err := l.desk.Wake(l.t.Context(), Wake{Run: "shift", Answers: []string{exitIt}}); err != nil {
			return err
		}
	}
	return l.desk.Work(l.t.Context())
}

// TestOneExitWhateverDies kills the desk before and after each of its writes around the order, starts another one, and finds exactly
// one order at the exchange and one exit in the history.
func TestOneExitWhateverDies(t *testing.T) {
	died := 0
	for _, after := range []bool{false, true} {
		for n := 1; ; n++ {
			l := openLab(t, "2000")
			l.commits(l.set("262", nil))
			l.at("10:07")
			m := &mortal{Store: l.store, left: n, after: after}
			l.open(m)
			err := l.shift()
			if !m.dead {
				require.NoError(t, err)
				break
			}
			died++
			for range 3 { // another process, a claim that runs out, a lookup
				l.now = l.now.Add(90 * time.Second)
				require.NoError(t, l.market.SetNow(t.Context(), l.now))
				l.open(l.store)
				require.NoError(t, l.shift())
			}
			s := l.standing()
			require.Equal(t, trading.Flat, s.State, "write %d, after %t", n, after)
			require.Len(t, s.Exits, 1)
			require.Len(t, l.orders(), 1)
			require.Equal(t, "trader/send_order/1", l.orders()[0].ClientOrderID)
		}
	}
	t.Logf("died at %d points", died)
	require.GreaterOrEqual(t, died, 8)
}
