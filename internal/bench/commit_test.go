package main

import (
	"errors"
	"testing"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/stretchr/testify/require"

	"github.com/pawlgo/pawl/store"
)

// recordLives records what the commit benchmark does.
func recordLives(callers, calls int) (*journal, error) {
	return record(func(at place) (side, error) { return openService(at, callers, calls) }, lives(callers, calls))
}

// The floor must write what our own store writes: same batches, same options, nothing left out and nothing added.
func TestTheFloorWritesTheSameBatches(t *testing.T) {
	const callers, calls = 2, 6
	j, err := recordLives(callers, calls)
	require.NoError(t, err)
	fs := vfs.NewMem()
	s, err := replay(place{fs, "floor"}, j)
	require.NoError(t, err)
	for caller := range callers {
		for n := range calls {
			require.NoError(t, s.call(caller, n))
		}
	}
	require.NoError(t, s.close())

	recorded, replayed := map[string]batch{}, map[string]batch{}
	for _, of := range [][][]batch{j.started, j.moves} {
		for _, batches := range of {
			for _, b := range batches {
				recorded[string(b.rows[0].key)] = b
			}
		}
	}
	require.NoError(t, eachBatch(fs, "floor", func(b batch) { replayed[string(b.rows[0].key)] = b }))
	require.Len(t, recorded, callers*(calls+calls/len(life)))
	require.Equal(t, recorded, replayed)

	noted, err := readOptions(fs, "floor")
	require.NoError(t, err)
	require.Equal(t, j.options, noted)
	require.Contains(t, noted, "comparer=pawl.v1")
}

// A batch of the floor holds the whole record, sealed, and the rows of the index.
func TestWhatIsRecorded(t *testing.T) {
	j, err := recordLives(1, len(life))
	require.NoError(t, err)
	confirmed := j.moves[0][2]
	r, kind, err := new(store.Sealer).Open(taskID(0, 0), 4, confirmed.rows[0].value)
	require.NoError(t, err)
	require.Equal(t, store.KindRecord, kind)
	require.Equal(t, "dispatching_refund", r.Meta.State)
	require.NotEmpty(t, r.Snapshot)
	require.NotEmpty(t, r.Entry)
	kinds := map[pebble.InternalKeyKind]int{}
	for _, row := range confirmed.rows {
		kinds[row.kind]++
	}
	require.Equal(t, map[pebble.InternalKeyKind]int{
		pebble.InternalKeyKindSet:          6, // record, state, effect, when it is ready, the resource that it holds, the message that agreed
		pebble.InternalKeyKindSingleDelete: 3, // old state, whom it waited for, its wake-up
	}, kinds)
}

func TestAForeignLogIsRefused(t *testing.T) {
	fs := &keepLogs{FS: vfs.NewMem()}
	s, err := openService(place{fs, "db"}, 1, len(life))
	require.NoError(t, err)
	require.NoError(t, s.close())
	_, err = readJournal(fs, "db", lives(1, len(life)))
	require.ErrorContains(t, err, "want 4", "the moves were never made")
}

func TestOptionsOfAnotherStoreAreRefused(t *testing.T) {
	_, err := openRaw(place{vfs.NewMem(), "db"}, "[Options]\n  nonsense")
	require.Error(t, err)
	_, err = filter("other")
	require.Error(t, err)
}

// Whatever a benchmark calls must do its work: a move that is refused is an error, not a fast call.
func TestARefusedMoveIsAnError(t *testing.T) {
	s, err := openService(place{vfs.NewMem(), "db"}, 1, len(life))
	require.NoError(t, err)
	require.NoError(t, s.call(0, 0))
	require.Error(t, s.call(0, 0), "a refund can be requested once")
	require.NoError(t, s.call(0, 1))
	require.NoError(t, s.call(0, 2))
	require.NoError(t, s.close())
	require.True(t, errors.Is(s.close(), store.ErrClosed))
}

func TestStepSides(t *testing.T) {
	b := stepRefund()
	for _, prepare := range []setup{b.ours, b.floor} {
		s, err := prepare(place{})
		require.NoError(t, err)
		require.NoError(t, s.call(0, 0))
		require.NoError(t, s.call(0, 1), "each call does the same work")
	}
}
