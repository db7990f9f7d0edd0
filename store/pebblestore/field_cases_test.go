package pebblestore

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"testing"

	"github.com/cockroachdb/pebble/v2"
	"github.com/stretchr/testify/require"

	"github.com/pawlgo/pawl/store"
)

// stored is the value of a row of a closed store.
func (u *subject) stored(t *testing.T, key []byte) (value []byte) {
	damage(t, u.fs, func(db *pebble.DB) {
		v, closer, err := db.Get(key)
		require.NoError(t, err)
		value = bytes.Clone(v)
		require.NoError(t, closer.Close())
	})
	return value
}

// put changes a row of a closed store behind its back and opens the store.
func (u *subject) put(t *testing.T, key, value []byte) *Store {
	damage(t, u.fs, func(db *pebble.DB) { require.NoError(t, db.Set(key, value, pebble.Sync)) })
	s, err := Open("db", small(u.fs, u.c.now))
	require.NoError(t, err)
	return s
}

// TestB057: a record in a form that this version does not know is told as newer, by task and version, and never loaded as an
// empty one; its bytes stay as they are, nothing is committed onto it, and other tasks go on.
func TestB057(t *testing.T) {
	u := newSubject(t)
	key := store.AppendKey(nil, "a", u.tip.Version)
	value := u.stored(t, key)
	value[0] = store.RecordFormat + 1
	body := value[:len(value)-4]
	sum := crc32.Update(crc32.Checksum(key, castagnoli), castagnoli, body)
	value = binary.BigEndian.AppendUint32(body, sum)
	s := u.put(t, key, value)
	for what, call := range map[string]func() error{
		"load":   func() error { _, _, err := s.Load(ctx, "a"); return err },
		"tip":    func() error { _, err := s.Tip(ctx, "a"); return err },
		"commit": func() error { _, err := s.Commit(ctx, step("a", 5, u.tip)); return err },
	} {
		var newer *store.NewerError
		require.ErrorAs(t, call(), &newer, what)
		require.Equal(t, store.NewerError{Task: "a", Version: u.tip.Version, Format: store.RecordFormat + 1, Known: store.RecordFormat}, *newer, what)
	}
	_, _, err := s.Load(ctx, "b")
	require.NoError(t, err)
	require.NoError(t, s.Close())
	require.Equal(t, value, u.stored(t, key))
}

// TestB060: a newest record that is cut short anywhere is corrupt, by task and version: it is neither loaded as a living task, nor
// is the version before it, and other tasks go on.
func TestB060(t *testing.T) {
	u := newSubject(t)
	key := store.AppendKey(nil, "a", u.tip.Version)
	value := u.stored(t, key)
	for _, keep := range []int{0, 1, 6, 40, 100, len(value) / 2, len(value) - 5, len(value) - 1} {
		s := u.put(t, key, value[:keep])
		_, _, err := s.Load(ctx, "a")
		var corrupt *store.CorruptError
		require.ErrorAs(t, err, &corrupt, "cut to %d bytes", keep)
		require.Equal(t, "a", corrupt.Task)
		require.Equal(t, u.tip.Version, corrupt.Version)
		_, err = s.Commit(ctx, step("a", 5, u.tip))
		require.ErrorIs(t, err, store.ErrCorrupt, "cut to %d bytes", keep)
		_, _, err = s.Load(ctx, "b")
		require.NoError(t, err)
		require.NoError(t, s.Close())
	}
}

// TestB067: an effect in a status that this version does not know is told as newer; it is neither claimed, nor settled, nor
// forgotten.
func TestB067(t *testing.T) {
	u := newSubject(t)
	key := appendEffect(nil, "a", "pay")
	strange := u.pay
	strange.Status = store.Unknown + 1
	value := appendEffectRow(nil, key, &strange)
	s := u.put(t, key, value)
	settle := step("a", 5, u.tip)
	settle.Settle = []store.Settle{{Effect: "pay", Rev: u.pay.Rev}}
	for what, call := range map[string]func() error{
		"load":   func() error { _, _, err := s.Load(ctx, "a"); return err },
		"claim":  func() error { _, err := s.Claim(ctx, store.Slots{}, 0, "worker", 1e6); return err },
		"settle": func() error { _, err := s.Commit(ctx, settle); return err },
		"list":   func() error { _, _, err := s.Effects(ctx, "", 0); return err },
	} {
		require.ErrorIs(t, call(), store.ErrNewer, what)
	}
	require.NoError(t, s.Close())
	require.Equal(t, value, u.stored(t, key))
}

// TestB069: the wake-up of a task is a part of its commit, and a power cut right after leaves both. TestCrashAtEveryPoint and
// TestFaultAtEveryPoint show for every point within that there is never one without the other.
func TestB069(t *testing.T) {
	u := newSubject(t)
	s, err := Open("db", small(u.fs, u.c.now))
	require.NoError(t, err)
	c := step("a", 5, u.tip)
	c.Meta.Wake = 1
	tip, err := s.Commit(ctx, c)
	require.NoError(t, err)
	left := copied(u.fs) // everything that was not synced is lost
	require.NoError(t, s.Close())
	s, err = Open("db", small(left, u.c.now))
	require.NoError(t, err)
	got, err := s.Tip(ctx, "a")
	require.NoError(t, err)
	require.Equal(t, tip, got)
	rows, err := s.Due(ctx, store.Slots{}, 1)
	require.NoError(t, err)
	require.Equal(t, []store.Row{{Task: "a", Meta: c.Meta}}, rows)
	sound(t, s)
	require.NoError(t, s.Close())
}

// TestB072: a task whose worker is gone is not orphaned: after the next open its effect is claimable at once, told as one that may
// have been sent, and the task ends in one commit.
func TestB072(t *testing.T) {
	u := newSubject(t)
	s, err := Open("db", small(u.fs, u.c.now))
	require.NoError(t, err)
	u.c.at.Store(epoch + 1e6)
	es, err := s.Claim(ctx, store.Slots{}, 0, "old process", 3_600_000_000)
	require.NoError(t, err)
	require.Len(t, es, 1)
	left := copied(u.fs)
	require.NoError(t, s.Close())
	s, err = Open("db", small(left, u.c.now))
	require.NoError(t, err)
	es, err = s.Claim(ctx, store.Slots{}, 0, "new process", 1e6)
	require.NoError(t, err)
	require.Len(t, es, 1)
	require.Equal(t, store.Sent, es[0].Was, "it is looked up before anything is sent")
	end := step("a", 5, u.tip)
	end.Meta.Final, end.Meta.Wake = true, 0
	end.Settle = []store.Settle{{Effect: "pay", Rev: es[0].Rev}}
	_, err = s.Commit(ctx, end)
	require.NoError(t, err)
	unsettled, next, err := s.Effects(ctx, "", 0)
	require.NoError(t, err)
	require.Empty(t, unsettled)
	require.Empty(t, next)
	require.NoError(t, s.Close())
}
