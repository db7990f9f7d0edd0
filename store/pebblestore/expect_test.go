package pebblestore

import (
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/stretchr/testify/require"

	"github.com/pawlgo/pawl/store"
)

// Until a commit that expects a resource is durable, nobody swaps it, and others may expect it: whoever swaps it has seen all of them
// land, and none lands after.
func TestExpectedIsSharedThroughTheSync(t *testing.T) {
	fs := newHookFS(vfs.NewMem())
	c := &clock{}
	c.at.Store(epoch)
	s, err := Open("db", small(fs, c.now))
	require.NoError(t, err)
	defer s.Close()
	freeze := s.resources.take("freeze")
	defer s.resources.give("freeze", freeze)
	watched := func(task string, change func(*store.Commit)) (mayExpect, maySwap bool) {
		k := step(task, 0, store.Tip{})
		change(k)
		fs.set(func(string, string) error {
			if maySwap = freeze.read.TryLock(); maySwap {
				freeze.read.Unlock()
			}
			if mayExpect = freeze.read.TryRLock(); mayExpect {
				freeze.read.RUnlock()
			}
			return nil
		})
		defer fs.set(nil)
		_, err := s.Commit(ctx, k)
		require.NoError(t, err)
		return mayExpect, maySwap
	}
	mayExpect, maySwap := watched("a", func(k *store.Commit) { k.Expect = []store.Revision{{Name: "freeze"}} })
	require.True(t, mayExpect)
	require.False(t, maySwap)
	mayExpect, maySwap = watched("b", func(k *store.Commit) { k.Swap = []store.Resource{{Name: "freeze"}} })
	require.False(t, mayExpect)
	require.False(t, maySwap)
	mayExpect, maySwap = watched("c", func(*store.Commit) {})
	require.True(t, mayExpect)
	require.True(t, maySwap)
}
