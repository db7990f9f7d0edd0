package pebblestore

import (
	"bytes"
	"fmt"
	"testing"
	"unsafe"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/stretchr/testify/require"

	"github.com/pawlgo/pawl/store"
)

// TestLoadRemembers checks that who has loaded a task can commit to it without another search: it is known from then on.
func TestLoadRemembers(t *testing.T) {
	u := newSubject(t)
	s, err := Open("db", small(u.fs, u.c.now))
	require.NoError(t, err)
	defer s.Close()
	require.Nil(t, s.tasks.peek("a"), "nothing is known after an open")
	rec, es, err := s.Load(ctx, "a")
	require.NoError(t, err)
	e := s.tasks.peek("a")
	require.True(t, e.loaded)
	require.Equal(t, head{tip: u.tip, unsettled: true}, *e.head.Load())
	require.Equal(t, rec.Meta, e.meta)
	require.Equal(t, rec.At, e.at)
	require.Equal(t, []effect{known(&es[0])}, e.effects)

	_, _, err = s.Load(ctx, "absent")
	require.ErrorIs(t, err, store.ErrNotFound)
	require.Nil(t, s.tasks.peek("absent").head.Load(), "what is not there is not remembered")
}

// TestRememberedIsChecked checks that a record that is got by a remembered tip is checked like any other: a flipped byte anywhere in
// it, the record of another version or task, a base in its place and no record at all are told.
func TestRememberedIsChecked(t *testing.T) {
	for name, key := range map[string][]byte{"plain": nil, "with a MAC": []byte("secret")} {
		o := small(vfs.NewMem(), nil)
		o.Key = key
		s, err := Open("db", o)
		require.NoError(t, err)
		first, err := s.Commit(ctx, step("a", 0, store.Tip{}))
		require.NoError(t, err)
		tip, err := s.Commit(ctx, step("a", 1, first))
		require.NoError(t, err)
		_, err = s.Commit(ctx, step("b", 0, store.Tip{}))
		require.NoError(t, err)
		got, _, err := s.Load(ctx, "a")
		require.NoError(t, err)
		require.Equal(t, tip, got.Tip)

		at := store.AppendKey(nil, "a", 2)
		good := stored(t, s, at)
		ok := byTip(s, "a")
		require.True(t, ok, name)
		bad := map[string][]byte{"older": stored(t, s, store.AppendKey(nil, "a", 1)), "other": stored(t, s, store.AppendKey(nil, "b", 1))}
		base, n := s.sealer.SealBase(nil, "a", tip)
		bad["base"] = base[n:]
		for i := 0; i < len(good); i += 13 {
			flipped := bytes.Clone(good)
			flipped[i] ^= 4
			bad["flipped"] = flipped
			for what, value := range bad {
				require.NoError(t, s.db.Set(at, value, pebble.NoSync))
				ok := byTip(s, "a")
				require.False(t, ok, "%s, %s, byte %d", name, what, i)
				if what != "base" {
					_, _, err = s.Load(ctx, "a")
					require.ErrorIs(t, err, store.ErrCorrupt, "%s, %s, byte %d", name, what, i)
				}
			}
		}
		require.NoError(t, s.db.Delete(at, pebble.NoSync))
		ok = byTip(s, "a")
		require.False(t, ok)
		require.NoError(t, s.db.Set(at, good, pebble.NoSync))
		again, _, err := s.Load(ctx, "a")
		require.NoError(t, err)
		require.Equal(t, got, again)
		require.NoError(t, s.Close())
	}
}

// byTip says whether a task is got by its remembered tip.
func byTip(s *Store, task string) bool {
	tip, ok := s.tips.get(task)
	if ok {
		_, ok = s.remembered(task, tip)
	}
	return ok
}

func stored(t *testing.T, s *Store, key []byte) []byte {
	value, closer, err := s.db.Get(key)
	require.NoError(t, err)
	defer closer.Close()
	return bytes.Clone(value)
}

// TestEveryWriteIsRemembered checks that what a store remembers of its tasks is what a store that remembers nothing reads.
func TestEveryWriteIsRemembered(t *testing.T) {
	c := &clock{}
	c.at.Store(epoch)
	s, err := Open("db", small(vfs.NewMem(), c.now))
	require.NoError(t, err)
	defer s.Close()
	swaps, plain := map[uint64]bool{}, 0
	for i, op := range generate(23, 300, 300) {
		c.at.Store(epoch + int64(i)*1e6)
		require.NoError(t, op(s))
		for _, task := range []string{"task-0", "task-1", "task-2", "task-3", "task-4"} {
			e := s.tasks.peek(task)
			if e == nil || e.head.Load() == nil || e.head.Load().tip.Version == 0 {
				continue
			}
			tip, ok := s.tips.get(task)
			fresh := &entry{}
			require.NoError(t, s.learn(task, fresh))
			h := fresh.head.Load()
			require.Equal(t, !h.erased && !h.unsettled, ok, "operation %d, %s", i, task)
			if ok {
				require.Equal(t, h.tip, tip, "operation %d, %s", i, task)
				plain++
			}
			require.Equal(t, *fresh.head.Load(), *e.head.Load(), "operation %d, %s", i, task)
			require.Equal(t, fresh.meta, e.meta, "operation %d, %s", i, task)
			require.ElementsMatch(t, fresh.effects, e.effects, "operation %d, %s", i, task)
		}
		if e := s.resources.peek("cap"); e != nil && e.resource.Load() != nil {
			rev, value, err := s.numbered(appendResource(nil, "cap"))
			require.NoError(t, err)
			require.Equal(t, store.Resource{Name: "cap", Rev: rev, Value: value}, *e.resource.Load(), "operation %d", i)
			swaps[rev] = true
		}
	}
	require.Greater(t, plain, 10, "tips were remembered again and again")
	require.Greater(t, len(swaps), 10, "what a resource became was remembered again and again")
}

// TestLargeValuesAreNotRemembered checks both sides of the bound, and that what was remembered before is forgotten.
func TestLargeValuesAreNotRemembered(t *testing.T) {
	s, err := Open("db", small(vfs.NewMem(), nil))
	require.NoError(t, err)
	defer s.Close()
	tip := store.Tip{}
	for i, size := range []int{1, rememberedValue, rememberedValue + 1, 3} {
		k := step("a", i, tip)
		k.Swap = []store.Resource{{Name: "cap", Rev: uint64(i), Value: bytes.Repeat([]byte{byte(i)}, size)}}
		tip, err = s.Commit(ctx, k)
		require.NoError(t, err)
		require.Equal(t, size <= rememberedValue, s.resources.peek("cap").resource.Load() != nil)
		k.Swap[0].Value[0] = 99
		r, err := s.Resource(ctx, "cap")
		require.NoError(t, err)
		require.EqualValues(t, i+1, r.Rev)
		require.Equal(t, bytes.Repeat([]byte{byte(i)}, size), r.Value)
		r.Value[0] = 98
		r, err = s.Resource(ctx, "cap")
		require.NoError(t, err)
		require.EqualValues(t, i, r.Value[0], "what is remembered is nobody else's")
	}
}

// TestTips checks that a tip is found until it is replaced, that a head that a tip does not tell of is forgotten, and that far more
// tasks than there is room for push each other out and are never taken for one another.
func TestTips(t *testing.T) {
	l := newTips(100)
	require.EqualValues(t, slotSize, unsafe.Sizeof(tipSlot{}))
	name := func(i int) string { return fmt.Sprint("task-", i) }
	tip := func(i int) store.Tip { return store.Tip{Version: uint64(1 + i), Hash: [32]byte{byte(i)}} }
	found := 0
	for i := range 1000 {
		_, ok := l.get(name(i))
		require.False(t, ok)
		l.put(name(i), &head{tip: tip(i)})
		got, ok := l.get(name(i))
		require.True(t, ok)
		require.Equal(t, tip(i), got)
	}
	for i := range 1000 {
		if got, ok := l.get(name(i)); ok {
			require.Equal(t, tip(i), got)
			found++
		}
	}
	require.Greater(t, found, 100)
	for i, h := range []head{{tip: tip(1), unsettled: true}, {tip: tip(1), erased: true}, {}} {
		l.put("a", &head{tip: tip(2)})
		l.put("a", &h)
		_, ok := l.get("a")
		require.False(t, ok, i)
	}
	l.put("a", &head{tip: tip(2)})
	l.put("a", &head{tip: tip(3)})
	got, _ := l.get("a")
	require.Equal(t, tip(3), got)
}
