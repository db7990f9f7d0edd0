package holder_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlgo/pawl/cmd/pawl/holder"
	"github.com/pawlgo/pawl/store"
	"github.com/pawlgo/pawl/store/pebblestore"
)

var began = time.Date(2026, 11, 30, 9, 0, 0, 0, time.UTC)

func clock() time.Time { return began }

// served is a store that this process holds, and a client that reads it through the socket.
func served(t *testing.T) (*pebblestore.Store, *holder.Client, string) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "s")
	st, err := pebblestore.Open(dir, pebblestore.Options{Now: clock})
	require.NoError(t, err)
	s, err := holder.Listen(t.Context(), dir, st, holder.Options{Program: "desk", Now: clock})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, errors.Join(s.Close(), st.Close())) })
	return st, dial(t, dir), dir
}

func dial(t *testing.T, dir string) *holder.Client {
	t.Helper()
	h, err := holder.Look(dir)
	require.NoError(t, err)
	c, err := holder.Dial(t.Context(), h)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, c.Close()) })
	return c
}

// grow commits versions of a task until it has so many.
func grow(t *testing.T, st store.Store, task string, versions int) {
	t.Helper()
	tip, err := st.Tip(t.Context(), task)
	if !errors.Is(err, store.ErrNotFound) {
		require.NoError(t, err)
	}
	for v := int(tip.Version) + 1; v <= versions; v++ {
		c := &store.Commit{Base: tip, Record: store.Record{Task: task, Nonce: uint64(v), Snapshot: fmt.Appendf(nil, `{"v":%d}`, v),
			Entry: []byte(`{}`), Meta: store.Meta{Machine: "m", State: "s", Owner: "ann", WaitsFor: "user/ann", Since: 7}}}
		if v == 1 {
			c.Once = []string{"a name"}
			c.Emit = []store.Effect{{ID: "pay", Body: []byte("\x00\xff")}}
			c.Swap = []store.Resource{{Name: "cap/" + task, Value: []byte("9")}}
		}
		tip, err = st.Commit(t.Context(), c)
		require.NoError(t, err)
	}
}

func collect[T any](t *testing.T, seq iter.Seq2[T, error]) (out []T) {
	t.Helper()
	for v, err := range seq {
		require.NoError(t, err)
		out = append(out, v)
	}
	return out
}

// Everything that can be read is the same through the socket; a history of one page, of one page and one record, and of several.
func TestSameThroughTheSocket(t *testing.T) {
	st, c, _ := served(t)
	ctx := t.Context()
	grow(t, st, "a", holder.MaxPage)
	grow(t, st, "b", holder.MaxPage+1)
	grow(t, st, "c", 2*holder.MaxPage+1)
	require.NoError(t, st.Note(ctx, "a", store.Attempt{At: 5, Count: 1, Body: []byte("no")}))
	require.NoError(t, st.Prune(ctx, "c", 4))
	require.Equal(t, st.Info(), c.Info())
	for _, task := range []string{"a", "b", "c"} {
		want, wantEffects, err := st.Load(ctx, task)
		require.NoError(t, err)
		got, gotEffects, err := c.Load(ctx, task)
		require.NoError(t, err)
		require.Equal(t, want, got)
		require.Equal(t, wantEffects, gotEffects)
		for _, from := range [][2]uint64{{0, 0}, {3, 1}, {5, 5}, {7, 6}} {
			if task == "c" && from[0] == 3 {
				continue // pruned
			}
			require.Equal(t, collect(t, st.History(ctx, task, from[0], from[1])), collect(t, c.History(ctx, task, from[0], from[1])), task, from)
		}
		require.Len(t, collect(t, c.History(ctx, task, 0, 0)), map[string]int{"a": 16, "b": 17, "c": 30}[task])
	}
	requireSame(t, func(r holder.Reader) (any, error) { return r.Now(ctx) }, st, c)
	requireSame(t, func(r holder.Reader) (any, error) { return r.Tip(ctx, "a") }, st, c)
	requireSame(t, func(r holder.Reader) (any, error) { return r.Once(ctx, "a", "a name") }, st, c)
	requireSame(t, func(r holder.Reader) (any, error) { return r.Attempts(ctx, "a") }, st, c)
	requireSame(t, func(r holder.Reader) (any, error) { return r.Resource(ctx, "cap/a") }, st, c)
	requireSame(t, func(r holder.Reader) (any, error) { return pages(ctx, r) }, st, c)
	for es, after, err := c.Effects(ctx, "", 2); ; es, after, err = c.Effects(ctx, after, 2) {
		require.NoError(t, err)
		require.LessOrEqual(t, len(es), 2)
		if after == "" {
			break
		}
	}
	require.Empty(t, collect(t, c.Verify(ctx)))
}

// pages are all tasks, by each index, two at once.
func pages(ctx context.Context, r holder.Reader) (out []store.Row, err error) {
	for _, q := range []store.Query{{}, {Machine: "m", State: "s"}, {Owner: "ann"}, {WaitsFor: "user/ann"}, {Owner: "bob"}} {
		for q.Limit = 2; ; {
			rows, next, err := r.Find(ctx, q)
			if err != nil {
				return nil, err
			}
			if out = append(out, rows...); next == "" {
				break
			}
			q.After = next
		}
	}
	return out, nil
}

func requireSame(t *testing.T, f func(holder.Reader) (any, error), a, b holder.Reader) {
	t.Helper()
	want, err := f(a)
	require.NoError(t, err)
	got, err := f(b)
	require.NoError(t, err)
	require.NotEmpty(t, want)
	require.Equal(t, want, got)
}

// Errors can be told apart on the other side.
func TestErrorsThroughTheSocket(t *testing.T) {
	st, c, _ := served(t)
	ctx := t.Context()
	grow(t, st, "gone", 1)
	_, es, err := st.Load(ctx, "gone")
	require.NoError(t, err)
	tip, err := st.Tip(ctx, "gone")
	require.NoError(t, err)
	_, err = st.Commit(ctx, &store.Commit{Base: tip, Record: store.Record{Task: "gone", Meta: store.Meta{Machine: "m", State: "s"}},
		Settle: []store.Settle{{Effect: "pay", Rev: es[0].Rev}}})
	require.NoError(t, err)
	_, err = st.Erase(ctx, "gone", []byte("{}"))
	require.NoError(t, err)
	for task, want := range map[string]error{"none": store.ErrNotFound, "gone": store.ErrErased, "not an id": store.ErrInvalid} {
		_, _, err := c.Load(ctx, task)
		require.ErrorIs(t, err, want)
		_, _, local := st.Load(ctx, task)
		require.EqualError(t, err, local.Error())
	}
	_, _, err = c.Find(ctx, store.Query{State: "s"})
	require.ErrorIs(t, err, store.ErrInvalid)
	_, _, err = c.Find(ctx, store.Query{Limit: store.MaxPage + 1})
	require.ErrorIs(t, err, store.ErrTooBig)
	_, _, err = c.Find(ctx, store.Query{Limit: -1})
	require.ErrorIs(t, err, store.ErrInvalid)
	_, _, err = c.Effects(ctx, "", -1)
	require.ErrorIs(t, err, store.ErrInvalid)
	for _, err := range c.History(ctx, "none", 0, 0) {
		require.ErrorIs(t, err, store.ErrNotFound)
	}
	require.ErrorIs(t, c.Backup(ctx, "relative"), store.ErrInvalid)
}

// A copy is made by the holder, and is a whole store.
func TestBackupThroughTheSocket(t *testing.T) {
	st, c, _ := served(t)
	grow(t, st, "a", 3)
	to := filepath.Join(t.TempDir(), "copy")
	require.NoError(t, c.Backup(t.Context(), to))
	require.ErrorIs(t, c.Backup(t.Context(), to), store.ErrInvalid, "it is there already")
	again, err := pebblestore.Open(to, pebblestore.Options{})
	require.NoError(t, err)
	require.Equal(t, st.Info().Incarnation+1, again.Info().Incarnation)
	require.NoError(t, again.Close())
}

// Whoever watches hears of a commit, until the holder ends.
func TestWatchThroughTheSocket(t *testing.T) {
	dir := t.TempDir()
	st := store.NewMemory(store.MemoryOptions{})
	s, err := holder.Listen(t.Context(), dir, st, holder.Options{Program: "desk"})
	require.NoError(t, err)
	c := dial(t, dir)
	heard := make(chan store.Row, 1)
	ended := make(chan error, 1)
	go func() {
		for r, err := range c.Watch(t.Context()) {
			if err != nil {
				ended <- err
				return
			}
			select {
			case heard <- r:
			default: // one is enough
			}
		}
		ended <- nil
	}()
	var got store.Row
	for v := 1; got.Task == ""; v++ { // it may begin to listen after any of these
		grow(t, st, "a", v)
		select {
		case got = <-heard:
		case <-time.After(10 * time.Millisecond):
		}
	}
	require.Equal(t, "a", got.Task)
	require.NoError(t, s.Close())
	require.ErrorIs(t, <-ended, holder.ErrGone)
	for _, err := range c.Verify(t.Context()) {
		require.ErrorIs(t, err, holder.ErrGone)
		require.NotErrorIs(t, err, fs.ErrNotExist)
	}
}

// A store without a verifier says so.
func TestUnsupported(t *testing.T) {
	dir := t.TempDir()
	s, err := holder.Listen(t.Context(), dir, store.NewMemory(store.MemoryOptions{}), holder.Options{})
	require.NoError(t, err)
	defer s.Close()
	require.Equal(t, filepath.Base(os.Args[0]), s.Holder().Program)
	c := dial(t, dir)
	for _, err := range c.Verify(t.Context()) {
		require.ErrorIs(t, err, holder.ErrUnsupported)
	}
	require.ErrorIs(t, c.Backup(t.Context(), "/tmp/x"), holder.ErrUnsupported)
}

// Only its user can reach the socket, and nothing stays behind.
func TestSocketIsPrivate(t *testing.T) {
	dir := t.TempDir()
	ctx, cancel := context.WithCancel(t.Context())
	s, err := holder.Listen(ctx, dir, store.NewMemory(store.MemoryOptions{}), holder.Options{Program: "desk", Now: clock})
	require.NoError(t, err)
	h, err := holder.Look(dir)
	require.NoError(t, err)
	require.Equal(t, s.Holder(), h)
	require.Equal(t, fmt.Sprintf("desk (process %d, since 2026-11-30T09:00:00Z)", os.Getpid()), h.String())
	require.True(t, h.Alive())
	require.Equal(t, fs.FileMode(0o600), mode(t, h.Socket).Perm())
	require.Equal(t, fs.FileMode(0o700), mode(t, filepath.Dir(h.Socket)).Perm())
	require.Equal(t, fs.FileMode(0o644), mode(t, filepath.Join(dir, holder.File)).Perm())
	cancel() // the end of the context is the end of the server
	require.NoError(t, s.Close())
	left, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Empty(t, left)
	_, err = holder.Look(dir)
	require.ErrorIs(t, err, fs.ErrNotExist)
	_, err = holder.Dial(t.Context(), h)
	require.ErrorIs(t, err, holder.ErrSilent)
}

func mode(t *testing.T, path string) fs.FileMode {
	t.Helper()
	i, err := os.Stat(path)
	require.NoError(t, err)
	return i.Mode()
}

// The longest path that a socket may have, and one byte more: that one lies in the temporary directory.
func TestLongPaths(t *testing.T) {
	root := t.TempDir()
	for _, over := range []int{0, 1} {
		n := holder.MaxSocketPath + over - len(root) - len("//PAWL-SOCKET/s")
		require.Positive(t, n, "the temporary directory has a long name itself")
		dir := filepath.Join(root, strings.Repeat("d", n))
		require.NoError(t, os.Mkdir(dir, 0o700))
		s, err := holder.Listen(t.Context(), dir, store.NewMemory(store.MemoryOptions{}), holder.Options{})
		require.NoError(t, err)
		require.Equal(t, over == 0, strings.HasPrefix(s.Holder().Socket, dir), s.Holder().Socket)
		dial(t, dir)
		require.NoError(t, s.Close())
		require.NoFileExists(t, s.Holder().Socket)
		require.NoDirExists(t, filepath.Dir(s.Holder().Socket))
	}
	long := holder.Holder{PID: 1, Program: "x", Socket: "/" + strings.Repeat("d", holder.MaxSocketPath)}
	_, err := holder.Dial(t.Context(), long)
	require.ErrorIs(t, err, holder.ErrSilent)
	require.ErrorContains(t, err, "offers no socket")
}

// What a killed process left is cleared away by the next one; a process that is not the one of the note is not believed.
func TestStaleNotes(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.Mkdir(filepath.Join(dir, "PAWL-SOCKET"), 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "PAWL-SOCKET", "s"), nil, 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(dir, holder.File), []byte(`{"pid":4194305,"program":"dead"}`), 0o600))
	h, err := holder.Look(dir)
	require.NoError(t, err)
	require.False(t, h.Alive(), "no system here gives out so high a number")
	s, err := holder.Listen(t.Context(), dir, store.NewMemory(store.MemoryOptions{}), holder.Options{})
	require.NoError(t, err)
	defer s.Close()
	dial(t, dir)
	h = s.Holder()
	h.PID++
	_, err = holder.Dial(t.Context(), h)
	require.ErrorIs(t, err, holder.ErrSilent)
	require.ErrorContains(t, err, "answers for it")
	require.False(t, holder.Holder{}.Alive())
}

// A note is small, and says who left it.
func TestNotes(t *testing.T) {
	dir := t.TempDir()
	write := func(text string) error {
		require.NoError(t, os.WriteFile(filepath.Join(dir, holder.File), []byte(text), 0o600))
		_, err := holder.Look(dir)
		return err
	}
	head := `{"pid":1,"program":"`
	longest := head + strings.Repeat("x", holder.MaxNote-len(head)-2) + `"}`
	require.NoError(t, write(longest))
	require.ErrorIs(t, write(longest+" "), holder.ErrNote)
	for _, bad := range []string{"", "x", "{}", `{"pid":0,"program":"a"}`, `{"pid":1}`, `{"pid":"1","program":"a"}`} {
		require.ErrorIs(t, write(bad), holder.ErrNote, bad)
	}
}

// A note that another process left since stays.
func TestAnothersNoteStays(t *testing.T) {
	dir := t.TempDir()
	s, err := holder.Listen(t.Context(), dir, store.NewMemory(store.MemoryOptions{}), holder.Options{})
	require.NoError(t, err)
	other := []byte(`{"pid":7,"program":"other","socket":"/elsewhere"}`)
	require.NoError(t, os.WriteFile(filepath.Join(dir, holder.File), other, 0o600))
	require.NoError(t, s.Close())
	require.FileExists(t, filepath.Join(dir, holder.File))
}

// Questions that no client asks, and how much one answer carries at most.
func TestStrangeQuestions(t *testing.T) {
	st, _, dir := served(t)
	h, err := holder.Look(dir)
	require.NoError(t, err)
	hc := http.Client{Transport: &http.Transport{DisableKeepAlives: true, DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "unix", h.Socket)
	}}}
	for _, q := range []struct {
		method, path string
		status       int
	}{
		{"GET", "/", 404}, {"GET", "/v1/commit", 404}, {"POST", "/v1/load?task=a", 405}, {"GET", "/v1/backup?dir=/tmp/x", 405},
		{"GET", "/v1/history?task=a&newest=x", 400}, {"GET", "/v1/history?task=a&oldest=-1", 400},
		{"GET", "/v1/find?limit=18446744073709551616", 400}, {"GET", "/v1/effects?limit=1e3", 400}, {"GET", "/v1/load", 400},
		{"GET", "/v1/find?owner=" + strings.Repeat("x", holder.MaxHeader-1000), 400},
		{"GET", "/v1/find?owner=" + strings.Repeat("x", holder.MaxHeader+4096), 431}, // net/http allows itself 4 KiB more
	} {
		req, err := http.NewRequestWithContext(t.Context(), q.method, "http://store"+q.path, nil)
		require.NoError(t, err)
		resp, err := hc.Do(req)
		require.NoError(t, err)
		require.NoError(t, resp.Body.Close())
		require.Equal(t, q.status, resp.StatusCode, q.path[:min(60, len(q.path))])
	}
	for _, over := range []int{0, 1} {
		versions, more := holder.MaxPage+over, over == 1
		grow(t, st, "a", versions)
		resp, err := hc.Get("http://store/v1/history?task=a")
		require.NoError(t, err)
		var page struct {
			Records []store.Record
			More    bool
		}
		require.NoError(t, json.NewDecoder(resp.Body).Decode(&page))
		require.NoError(t, resp.Body.Close())
		require.Len(t, page.Records, holder.MaxPage)
		require.Equal(t, more, page.More)
	}
}

// The last connection that has a place is answered, and one more waits until another one ends.
func TestConnectionsAreBounded(t *testing.T) {
	_, first, dir := served(t)
	require.NoError(t, first.Close()) // it holds a connection, idle
	h, err := holder.Look(dir)
	require.NoError(t, err)
	var open []net.Conn
	for range holder.MaxConnections - 1 {
		c, err := net.Dial("unix", h.Socket)
		require.NoError(t, err)
		open = append(open, c)
	}
	last, err := holder.Dial(t.Context(), h)
	require.NoError(t, err)
	defer last.Close()
	asked := make(chan error, 1)
	go func() {
		c, err := holder.Dial(t.Context(), h)
		if err == nil {
			err = c.Close()
		}
		asked <- err
	}()
	select {
	case err := <-asked:
		require.Fail(t, "a connection too many was answered", "%v", err)
	case <-time.After(50 * time.Millisecond):
	}
	require.NoError(t, open[0].Close())
	require.NoError(t, <-asked)
	for _, c := range open[1:] {
		require.NoError(t, c.Close())
	}
}

// A reader as a store refuses each change.
func TestReadOnly(t *testing.T) {
	st, c, _ := served(t)
	grow(t, st, "a", 2)
	ctx, ro := t.Context(), holder.ReadOnly(c)
	_, err := ro.Commit(ctx, &store.Commit{Record: store.Record{Task: "a"}})
	require.ErrorIs(t, err, holder.ErrReadOnly)
	_, err = ro.Claim(ctx, store.Slots{}, 1, "h", 1)
	require.ErrorIs(t, err, holder.ErrReadOnly)
	_, err = ro.Due(ctx, store.Slots{}, 1)
	require.ErrorIs(t, err, holder.ErrReadOnly)
	_, err = ro.Update(ctx, store.Effect{Task: "a"})
	require.ErrorIs(t, err, holder.ErrReadOnly)
	require.ErrorIs(t, ro.Note(ctx, "a", store.Attempt{}), holder.ErrReadOnly)
	require.NoError(t, ro.Close())
	var there, here strings.Builder
	require.NoError(t, store.Export(ctx, ro, "a", &there))
	require.NoError(t, store.Export(ctx, st, "a", &here))
	require.Equal(t, here.String(), there.String())
	require.True(t, slices.ContainsFunc(strings.Split(here.String(), "\n"), func(l string) bool { return strings.Contains(l, "AP8=") }))
}
