package pebblestore

import (
	"fmt"
	"sync"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/stretchr/testify/require"

	"github.com/pawlgo/pawl/store"
)

// TestBackupWhileServing copies a store that is written to, and opens the copy.
func TestBackupWhileServing(t *testing.T) {
	fs := vfs.NewMem()
	c := &clock{}
	c.at.Store(epoch)
	s, err := Open("db", small(fs, c.now))
	require.NoError(t, err)
	defer s.Close()
	tips := make([]store.Tip, 4)
	commit := func(w int) {
		k := step(fmt.Sprint("t", w), int(tips[w].Version), tips[w])
		k.Emit = []store.Effect{{ID: fmt.Sprint("pay-", tips[w].Version), Body: []byte("b")}}
		tips[w], err = s.Commit(ctx, k)
	}
	for w := range tips {
		commit(w)
		require.NoError(t, err)
	}
	held, err := s.Claim(ctx, store.Slots{}, 2, "worker", 60e6)
	require.NoError(t, err)
	before := append([]store.Tip(nil), tips...)
	require.NoError(t, whileServing(s, tips, func() error { return s.Backup(ctx, "copy") }))
	require.ErrorIs(t, s.Backup(ctx, "copy"), store.ErrInvalid)
	require.ErrorIs(t, s.Backup(ctx, "db/inside"), store.ErrInvalid)
	require.ErrorIs(t, s.Backup(ctx, ""), store.ErrInvalid)

	r, err := Open("copy", small(fs, c.now))
	require.NoError(t, err)
	sound(t, r)
	require.Equal(t, s.Info().ID, r.Info().ID)
	require.Equal(t, s.Info().Incarnation+1, r.Info().Incarnation)
	for w, tip := range before {
		task := fmt.Sprint("t", w)
		got, err := r.Tip(ctx, task)
		require.NoError(t, err)
		require.GreaterOrEqual(t, got.Version, tip.Version)
		for rec, err := range s.History(ctx, task, got.Version, got.Version) {
			require.NoError(t, err)
			require.Equal(t, got, rec.Tip, "the copy's newest is one of ours")
		}
	}
	es, _, err := r.Effects(ctx, "", 0)
	require.NoError(t, err)
	require.NotEmpty(t, es)
	for _, e := range es {
		require.Equal(t, store.Unknown, e.Status, "the original goes on and may have sent it")
		require.Empty(t, e.Holder)
	}
	held[0].Status = store.Intent
	_, err = r.Update(ctx, held[0])
	require.ErrorIs(t, err, store.ErrFenced, "a worker of the original")
	require.NoError(t, r.Close())
	r, err = Open("copy", small(fs, c.now))
	require.NoError(t, err)
	require.Equal(t, s.Info().Incarnation+1, r.Info().Incarnation, "once")
	require.NoError(t, r.Close())
	sound(t, s)
}

// whileServing does something while every task is committed to.
func whileServing(s *Store, tips []store.Tip, f func() error) error {
	stop := make(chan struct{})
	var wg sync.WaitGroup
	for w := range tips {
		wg.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
					tip, err := s.Commit(ctx, step(fmt.Sprint("t", w), int(tips[w].Version), tips[w]))
					if err != nil {
						return
					}
					tips[w] = tip
				}
			}
		})
	}
	err := f()
	close(stop)
	wg.Wait()
	return err
}

// TestCrashWhileReincarnating cuts the power at every change that the first open of a copy makes.
func TestCrashWhileReincarnating(t *testing.T) {
	d := newDisk(vfs.NewCrashableMem())
	c := &clock{}
	c.at.Store(epoch)
	s, err := Open("db", small(d.fs, c.now))
	require.NoError(t, err)
	for i := range 5 {
		k := step(fmt.Sprint("t", i), 0, store.Tip{})
		k.Emit = []store.Effect{{ID: "pay"}, {ID: "mail"}}
		_, err := s.Commit(ctx, k)
		require.NoError(t, err)
	}
	_, err = s.Claim(ctx, store.Slots{}, 3, "worker", 60e6)
	require.NoError(t, err)
	require.NoError(t, s.Backup(ctx, "copy"))
	require.NoError(t, s.Close())
	d = d.crash(0)
	var cuts []*disk
	var mu sync.Mutex
	d.fs.set(func(string, string) error {
		mu.Lock()
		defer mu.Unlock()
		cuts = append(cuts, d.crash(uint64(len(cuts))))
		return nil
	})
	r, err := Open("copy", small(d.fs, c.now))
	require.NoError(t, err)
	require.NoError(t, r.Close())
	require.Greater(t, len(cuts), 5)
	for i, cut := range cuts {
		r, err := Open("copy", small(cut.fs, c.now))
		require.NoError(t, err, i)
		sound(t, r)
		require.Greater(t, r.Info().Incarnation, uint64(1), i)
		es, _, err := r.Effects(ctx, "", 0)
		require.NoError(t, err)
		require.Len(t, es, 10)
		for _, e := range es {
			require.Equal(t, store.Unknown, e.Status)
		}
		require.NoError(t, r.Close())
	}
}
