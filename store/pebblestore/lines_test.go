package pebblestore

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/stretchr/testify/require"

	"github.com/pawlgo/pawl/store"
)

// TestLinesRoundTrip exports a store with every kind of bytes, imports it elsewhere, and exports that: the lines are the
// same, but that what was unsettled is unknown, with a higher revision.
func TestLinesRoundTrip(t *testing.T) {
	c := &clock{}
	c.at.Store(epoch)
	from, err := Open("from", small(vfs.NewMem(), c.now))
	require.NoError(t, err)
	defer from.Close()
	snapshots := []string{
		`{"amount":4900,"note":"<b>&</b>","order":"#W1"}`, "", "null", `{ "spaced": 1 }`, "plain", "\x00\xff\xfe", `"text"`,
		`{"text":"a trap"}`, `{"base64":"AA=="}`, `[1,1.0,1e3,12345678901234567890]`, "é\u2028", `{"a":1,"a":2}`, `{"text":"x","y":1}`, "\n",
	}
	tip := store.Tip{}
	for i, text := range snapshots {
		k := step("a", i, tip)
		k.Snapshot, k.Entry, k.Nonce = []byte(text), []byte(snapshots[len(snapshots)-1-i]), ^uint64(i)
		k.Meta.Wake = []store.Micros{0, 1, epoch + 1, 1 << 62}[i%4]
		k.Emit = []store.Effect{{ID: fmt.Sprint("pay-", i), Body: []byte(text)}}
		if i > 2 {
			k.Settle = []store.Settle{{Effect: fmt.Sprint("pay-", i-1), Rev: store.FirstRev(uint64(i))}}
		}
		tip, err = from.Commit(ctx, k)
		require.NoError(t, err)
	}
	other := store.Tip{}
	for i := range 70 {
		other, err = from.Commit(ctx, step("b", i, other))
		require.NoError(t, err)
	}
	require.NoError(t, from.Prune(ctx, "b", 30))

	var first bytes.Buffer
	require.NoError(t, store.ExportAll(ctx, from, &first))
	require.Contains(t, first.String(), `"snapshot":{"amount":4900,"note":"<b>&</b>","order":"#W1"}`, "readable as it is")
	disk := vfs.NewMem()
	to, err := Open("to", small(disk, c.now))
	require.NoError(t, err)
	n, err := store.Import(ctx, to, bytes.NewReader(first.Bytes()))
	require.NoError(t, err)
	require.Equal(t, 2, n)
	sound(t, to)
	for _, task := range []string{"a", "b"} {
		want, _, err := from.Load(ctx, task)
		require.NoError(t, err)
		got, _, err := to.Load(ctx, task)
		require.NoError(t, err)
		require.Equal(t, want, got)
	}
	var second bytes.Buffer
	require.NoError(t, store.ExportAll(ctx, to, &second))
	require.Equal(t, records(first.String()), records(second.String()))
	require.Len(t, records(first.String()), len(snapshots)+41)

	n, err = store.Import(ctx, to, bytes.NewReader(first.Bytes()))
	require.NoError(t, err, "all of it is there")
	require.Zero(t, n)
	require.EqualValues(t, 3, to.Info().Incarnation, "one more with each task")
	require.NoError(t, to.Close())
	to, err = Open("to", small(disk, c.now))
	require.NoError(t, err)
	require.EqualValues(t, 3, to.Info().Incarnation)
	require.NoError(t, to.Close())
}

// TestImportGoesOn: an import that broke off is made again; a task that has gone on since is passed over, one with another history is not.
func TestImportGoesOn(t *testing.T) {
	c := &clock{}
	c.at.Store(epoch)
	from, err := Open("from", small(vfs.NewMem(), c.now))
	require.NoError(t, err)
	defer from.Close()
	tip, err := from.Commit(ctx, step("a", 0, store.Tip{}))
	require.NoError(t, err)
	_, err = from.Commit(ctx, step("b", 0, store.Tip{}))
	require.NoError(t, err)
	var lines bytes.Buffer
	require.NoError(t, store.ExportAll(ctx, from, &lines))
	all := lines.String()
	to, err := Open("to", small(vfs.NewMem(), c.now))
	require.NoError(t, err)
	defer to.Close()
	n, err := store.Import(ctx, to, strings.NewReader(strings.SplitAfter(all, "\n")[0]))
	require.NoError(t, err)
	require.Equal(t, 1, n)
	_, err = to.Commit(ctx, step("a", 1, tip))
	require.NoError(t, err)
	n, err = store.Import(ctx, to, strings.NewReader(all))
	require.NoError(t, err)
	require.Equal(t, 1, n, "what was missing")

	_, err = from.Commit(ctx, step("a", 2, tip))
	require.NoError(t, err)
	lines.Reset()
	require.NoError(t, store.Export(ctx, from, "a", &lines))
	_, err = store.Import(ctx, to, &lines)
	require.ErrorIs(t, err, store.ErrConflict, "the store's version 2 is another one")
}

// records are the lines of an export that are no effects.
func records(lines string) (out []string) {
	for _, l := range strings.Split(strings.TrimSpace(lines), "\n") {
		if strings.HasPrefix(l, `{"record":`) {
			out = append(out, l)
		}
	}
	return out
}

func TestBadLinesImportNothing(t *testing.T) {
	c := &clock{}
	c.at.Store(epoch)
	s, err := Open("db", small(vfs.NewMem(), c.now))
	require.NoError(t, err)
	defer s.Close()
	tip, err := s.Commit(ctx, step("a", 0, store.Tip{}))
	require.NoError(t, err)
	k := step("a", 1, tip)
	k.Emit = []store.Effect{{ID: "pay"}}
	_, err = s.Commit(ctx, k)
	require.NoError(t, err)
	var out bytes.Buffer
	require.NoError(t, store.Export(ctx, s, "a", &out))
	good := out.String()
	lines := strings.SplitAfter(good, "\n")
	for what, bad := range map[string]string{
		"no JSON":         good + "{",
		"unknown field":   `{"recrod":{}}` + "\n",
		"neither":         "{}\n",
		"no task":         `{"record":{"task":""}}` + "\n",
		"changed":         strings.Replace(good, "Mechanical", "mechanical", 1),
		"another hash":    strings.Replace(good, `"hash":"`, `"hash":"0`, 1),
		"without effect":  lines[1] + lines[2],
		"without records": lines[0],
		"second missing":  lines[0] + lines[1],
		"first missing":   lines[0] + lines[2],
		"swapped":         lines[0] + lines[2] + lines[1],
		"bad nonce":       strings.Replace(good, `"nonce":"0"`, `"nonce":"-1"`, 1),
	} {
		to, err := Open("db", small(vfs.NewMem(), c.now))
		require.NoError(t, err)
		_, err = store.Import(ctx, to, strings.NewReader(bad))
		if what == "first missing" {
			require.NoError(t, err, "it is a history that begins at a base")
		} else {
			require.ErrorIs(t, err, store.ErrInvalid, what)
			_, err = to.Tip(ctx, "a")
			require.ErrorIs(t, err, store.ErrNotFound, what)
		}
		require.NoError(t, to.Close())
	}
}
