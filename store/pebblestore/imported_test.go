package pebblestore

import (
	"bytes"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/stretchr/testify/require"

	"github.com/pawlgo/pawl/store"
)

// TestImportedResourcesLivedElsewhere: what an imported task's records say of resources is about those of another store. A verification does
// not miss them, and retention leaves such a history alone, and goes on, until it is counted.
func TestImportedResourcesLivedElsewhere(t *testing.T) {
	c := &clock{}
	c.at.Store(epoch)
	from, err := Open("from", small(vfs.NewMem(), c.now))
	require.NoError(t, err)
	defer from.Close()
	var tip store.Tip
	for i := range 3 {
		k := stepAt("took", i, tip)
		k.Meta.Final = i == 2
		k.Swap = []store.Resource{{Name: "cap", Rev: uint64(i), Value: []byte{byte(i)}}}
		tip, err = from.Commit(ctx, k)
		require.NoError(t, err)
	}
	var lines bytes.Buffer
	require.NoError(t, store.ExportAll(ctx, from, &lines))

	to, err := Open("to", small(vfs.NewMem(), c.now))
	require.NoError(t, err)
	defer to.Close()
	k := stepAt("here", 0, store.Tip{})
	k.Swap = []store.Resource{{Name: "cap", Value: []byte("here")}}
	_, err = to.Commit(ctx, k)
	require.NoError(t, err)
	_, err = store.Import(ctx, to, &lines)
	require.NoError(t, err)
	sound(t, to)
	kept, err := store.Retain(ctx, to, 1<<62)
	require.NoError(t, err)
	require.Zero(t, kept)

	mark, err := to.Resource(ctx, store.ImportedResource("took"))
	require.NoError(t, err)
	k = stepAt("counts", 0, store.Tip{})
	k.Swap = []store.Resource{{Name: mark.Name, Rev: mark.Rev, Value: store.Imported{Tip: tip, Counted: true}.Encode()}}
	_, err = to.Commit(ctx, k)
	require.NoError(t, err)
	pruned, err := store.Retain(ctx, to, 1<<62)
	require.NoError(t, err)
	require.Equal(t, 1, pruned)
	sound(t, to)
}
