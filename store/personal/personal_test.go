package personal_test

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/stretchr/testify/require"

	"github.com/pawlgo/pawl/store"
	"github.com/pawlgo/pawl/store/pebblestore"
	"github.com/pawlgo/pawl/store/personal"
)

var ctx = context.Background()

// desk is a store with personal data, and what lies below it.
type desk struct {
	below *pebblestore.Store
	keys  *personal.Files
	*personal.Store
}

func newDesk(t *testing.T) *desk {
	below, err := pebblestore.Open("db", pebblestore.Options{FS: vfs.NewMem()})
	require.NoError(t, err)
	t.Cleanup(func() { below.Close() })
	keys, err := personal.OpenFiles(filepath.Join(t.TempDir(), "keys"))
	require.NoError(t, err)
	return &desk{below: below, keys: keys, Store: wrapped(t, below, keys)}
}

func wrapped(t *testing.T, below personal.Inner, keys personal.Keys) *personal.Store {
	s, err := personal.Wrap(below, keys, "name", "notes")
	require.NoError(t, err)
	return s
}

func commit(task, owner string, base store.Tip, snapshot string) *store.Commit {
	return &store.Commit{Base: base, Record: store.Record{
		Task: task, Meta: store.Meta{Machine: "m", State: "s", Owner: owner},
		Snapshot: []byte(snapshot), Entry: []byte(`{"event":"said","notes":["my cat is ill"]}`),
	}}
}

// odd is a document whose spelling no encoder would give back.
const odd = "{ \"amount\" : 1.50e1,\n\"name\":\"Zo\\u00eb \\\"Q\\\" <zoe@example.org>\", \"order\": {\"name\" : \"Li\", \"notes\":[\"a\",[null,\"b\"],{\"x\":\"c\"}], \"id\":\"name\"},\"empty\":\"\" }"

// TestPersonalIsHidden checks that no personal text reaches the store below, that everything else does as it was, and that
// the store above gives back every byte, from the newest version, the history and the attempts.
func TestPersonalIsHidden(t *testing.T) {
	d := newDesk(t)
	c := commit("a", "zoe", store.Tip{}, odd)
	tip, err := d.Commit(ctx, c)
	require.NoError(t, err)
	require.Equal(t, tip, c.Tip)
	require.Equal(t, odd, string(c.Snapshot), "the caller's commit stays the caller's")
	body := []byte(`{"refused":true,"name":"Zoe"}`)
	require.NoError(t, d.Note(ctx, "a", store.Attempt{At: 1, Body: body}))

	raw, _, err := d.below.Load(ctx, "a")
	require.NoError(t, err)
	as, err := d.below.Attempts(ctx, "a")
	require.NoError(t, err)
	for _, text := range []string{"zoe@", "Zo\\u00eb", "\"Li\"", "\"a\"", "\"b\"", "\"c\"", "\"Zoe\"", "my cat"} { // none of them can be in base64
		for _, doc := range [][]byte{raw.Snapshot, raw.Entry, as[0].Body} {
			require.NotContains(t, string(doc), text)
		}
	}
	require.Contains(t, string(raw.Snapshot), "{ \"amount\" : 1.50e1,\n\"name\":\"personal1:")
	require.Contains(t, string(raw.Snapshot), `"id":"name"},"empty":"" }`)

	rec, _, err := d.Load(ctx, "a")
	require.NoError(t, err)
	require.Equal(t, odd, string(rec.Snapshot))
	require.Equal(t, string(c.Entry), string(rec.Entry))
	for r, err := range d.History(ctx, "a", 0, 0) {
		require.NoError(t, err)
		require.Equal(t, rec, r)
	}
	as, err = d.Attempts(ctx, "a")
	require.NoError(t, err)
	require.Equal(t, []store.Attempt{{At: 1, Body: body}}, as)
}

// TestSameTextSameBytes checks that a commit that is made again has the same hash, and that neither another task nor another owner
// has the same bytes for the same text.
func TestSameTextSameBytes(t *testing.T) {
	d := newDesk(t)
	seen := map[string]bool{}
	for _, k := range []struct{ task, owner string }{{"a", "zoe"}, {"b", "zoe"}, {"c", "kim"}} {
		_, err := d.Commit(ctx, commit(k.task, k.owner, store.Tip{}, `{"name":"Li"}`))
		require.NoError(t, err)
		raw, _, err := d.below.Load(ctx, k.task)
		require.NoError(t, err)
		require.False(t, seen[string(raw.Snapshot)])
		seen[string(raw.Snapshot)] = true

		again, err := pebblestore.Open("other", pebblestore.Options{FS: vfs.NewMem()})
		require.NoError(t, err)
		c := commit(k.task, k.owner, store.Tip{}, `{"name":"Li"}`)
		c.At = raw.At
		tip, err := wrapped(t, again, d.keys).Commit(ctx, c)
		require.NoError(t, err)
		require.Equal(t, raw.Tip, tip)
		require.NoError(t, again.Close())
	}
}

// TestForget checks that a person who is forgotten is unreadable in every version and in a backup that was made before, that the
// chain still verifies, that the task goes on without new personal data, and that nobody else is touched.
func TestForget(t *testing.T) {
	d := newDesk(t)
	tip, err := d.Commit(ctx, commit("a", "zoe", store.Tip{}, `{"name":"Zoe","amount":1}`))
	require.NoError(t, err)
	tip, err = d.Commit(ctx, commit("a", "zoe", tip, `{"name":"Zoe B","amount":2}`))
	require.NoError(t, err)
	_, err = d.Commit(ctx, commit("b", "kim", store.Tip{}, `{"name":"Kim"}`))
	require.NoError(t, err)
	require.NoError(t, d.Note(ctx, "a", store.Attempt{Body: []byte(`{"notes":"angry"}`)}))
	require.NoError(t, d.Backup(ctx, "backup"))
	require.NoError(t, d.Forget(ctx, "zoe"))
	require.NoError(t, d.Forget(ctx, "zoe"), "again is a no-op")

	amount := 2
	for r, err := range d.History(ctx, "a", 0, 0) {
		require.NoError(t, err)
		require.JSONEq(t, string(fmtAmount(amount)), string(r.Snapshot))
		require.Equal(t, `{"event":"said","notes":["[erased]"]}`, string(r.Entry))
		amount--
	}
	as, err := d.Attempts(ctx, "a")
	require.NoError(t, err)
	require.Equal(t, `{"notes":"[erased]"}`, string(as[0].Body))
	for p, err := range d.Verify(ctx) {
		require.NoError(t, err)
		require.Fail(t, p.What)
	}
	kim, _, err := d.Load(ctx, "b")
	require.NoError(t, err)
	require.Equal(t, `{"name":"Kim"}`, string(kim.Snapshot))

	_, err = d.Commit(ctx, commit("a", "zoe", tip, `{"name":"Zoe again"}`))
	require.ErrorIs(t, err, store.ErrErased)
	_, err = d.Commit(ctx, commit("new", "zoe", store.Tip{}, `{"name":"Zoe"}`))
	require.ErrorIs(t, err, store.ErrErased)
	c := commit("a", "zoe", tip, `{"name":"[erased]","amount":3}`)
	c.Entry = []byte(`{}`)
	_, err = d.Commit(ctx, c)
	require.NoError(t, err)
	rec, _, err := d.Load(ctx, "a")
	require.NoError(t, err)
	require.Equal(t, `{"name":"[erased]","amount":3}`, string(rec.Snapshot))
}

func fmtAmount(n int) []byte {
	return bytes.ReplaceAll([]byte(`{"name":"[erased]","amount":N}`), []byte("N"), []byte{byte('0' + n)})
}

// TestRefused checks what cannot be hidden: it is told, and nothing is written.
func TestRefused(t *testing.T) {
	d := newDesk(t)
	for name, snapshot := range map[string]string{
		"number": `{"name":7}`, "truth": `{"notes":[true]}`, "no JSON": `{"name":"x"`, "two documents": `{} {}`, "text outside": `name`,
	} {
		_, err := d.Commit(ctx, commit("a", "zoe", store.Tip{}, snapshot))
		require.ErrorIs(t, err, store.ErrInvalid, name)
	}
	_, err := d.Commit(ctx, commit("a", "", store.Tip{}, `{"name":"x"}`))
	require.ErrorIs(t, err, store.ErrInvalid, "nobody's key")
	_, err = d.Tip(ctx, "a")
	require.ErrorIs(t, err, store.ErrNotFound)
	require.ErrorIs(t, d.Note(ctx, "a", store.Attempt{}), store.ErrNotFound)
	_, err = personal.Wrap(d.below, nil, "name")
	require.ErrorIs(t, err, store.ErrInvalid)
	_, err = personal.Wrap(d.below, d.keys)
	require.ErrorIs(t, err, store.ErrInvalid)
	_, err = personal.Wrap(d.below, d.keys, "name", "")
	require.ErrorIs(t, err, store.ErrInvalid)
}

// TestForeignTextIsCorrupt checks that a hidden text that was moved from another task, changed, or read with another key is told as
// corrupt and never shown.
func TestForeignTextIsCorrupt(t *testing.T) {
	d := newDesk(t)
	_, err := d.Commit(ctx, commit("a", "zoe", store.Tip{}, `{"name":"Zoe"}`))
	require.NoError(t, err)
	raw, _, err := d.below.Load(ctx, "a")
	require.NoError(t, err)
	good := string(raw.Snapshot)
	for task, snapshot := range map[string]string{
		"moved": good, "cut": good[:len(good)-4] + `"}`, "short": `{"name":"personal1:AAAA"}`, "no-base64": `{"name":"personal1:!"}`,
	} {
		_, err := d.below.Commit(ctx, commit(task, "zoe", store.Tip{}, snapshot))
		require.NoError(t, err)
		_, _, err = d.Load(ctx, task)
		require.ErrorIs(t, err, store.ErrCorrupt, task)
		for _, err := range d.History(ctx, task, 0, 0) {
			require.ErrorIs(t, err, store.ErrCorrupt, task)
		}
	}
	other, err := personal.OpenFiles(t.TempDir())
	require.NoError(t, err)
	_, _, err = wrapped(t, d.below, other).Load(ctx, "a")
	require.ErrorIs(t, err, store.ErrNotFound, "a key that is not there is no erased one")
	_, err = other.Key(ctx, "zoe", true)
	require.NoError(t, err)
	_, _, err = wrapped(t, d.below, other).Load(ctx, "a")
	require.ErrorIs(t, err, store.ErrCorrupt)
}

// TestFiles checks that keys survive their process, that a destroyed one never comes back, and that a damaged file is told.
func TestFiles(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "keys")
	f, err := personal.OpenFiles(dir)
	require.NoError(t, err)
	_, err = f.Key(ctx, "zoe", false)
	require.ErrorIs(t, err, store.ErrNotFound)
	key, err := f.Key(ctx, "zoe", true)
	require.NoError(t, err)
	require.Len(t, key, personal.KeySize)
	other, err := f.Key(ctx, "../zoe", true)
	require.NoError(t, err)
	require.NotEqual(t, key, other)
	f, err = personal.OpenFiles(dir)
	require.NoError(t, err)
	again, err := f.Key(ctx, "zoe", false)
	require.NoError(t, err)
	require.Equal(t, key, again)

	require.NoError(t, f.Destroy(ctx, "zoe"))
	require.NoError(t, f.Destroy(ctx, "never seen"))
	for _, owner := range []string{"zoe", "never seen"} {
		_, err = f.Key(ctx, owner, true)
		require.ErrorIs(t, err, store.ErrErased)
	}
	names, err := filepath.Glob(filepath.Join(dir, "*"))
	require.NoError(t, err)
	require.Len(t, names, 3)
	for _, name := range names {
		require.NoError(t, os.WriteFile(name, make([]byte, 64), 0o600))
	}
	_, err = f.Key(ctx, "zoe", true)
	require.ErrorIs(t, err, store.ErrCorrupt, "as a crash while it was destroyed may leave it")
	require.NoError(t, f.Destroy(ctx, "zoe"))
	_, err = f.Key(ctx, "zoe", true)
	require.ErrorIs(t, err, store.ErrErased)
	_, err = personal.OpenFiles("")
	require.ErrorIs(t, err, store.ErrInvalid)
}
