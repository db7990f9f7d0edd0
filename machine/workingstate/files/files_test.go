package files_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlgo/pawl/machine"
	ws "github.com/pawlgo/pawl/machine/workingstate"
	"github.com/pawlgo/pawl/machine/workingstate/files"
	"github.com/pawlgo/pawl/resume"
	"github.com/pawlgo/pawl/store"
)

var t0 = time.Date(2026, 8, 13, 1, 4, 0, 0, time.UTC)

// mirrored is the agent trader with its files in a folder; what goes wrong with them is told.
func mirrored(t *testing.T, st store.Store, dir string, problem func(error)) ws.Agent {
	t.Helper()
	ctl, err := resume.Open(t.Context(), st, resume.Config{Machines: []machine.Definition{ws.Machine}})
	require.NoError(t, err)
	a, err := ws.NewAgent(files.Mirror(ctl, dir, problem), "trader")
	require.NoError(t, err)
	return a
}

func memory() store.Store {
	return store.NewMemory(store.MemoryOptions{Now: func() time.Time { return t0 }})
}

func set(t *testing.T, a ws.Agent, key, value string) {
	t.Helper()
	out, err := a.Set(t.Context(), ws.Set{Key: key, Value: value, Reason: "r"})
	require.NoError(t, err)
	require.NoError(t, out.Err())
}

func failing(t *testing.T) func(error) {
	return func(err error) { t.Errorf("files: %v", err) }
}

func folder(t *testing.T, dir string) string {
	t.Helper()
	f, err := files.Folder(dir, "trader")
	require.NoError(t, err)
	return f
}

// The files say after each commit what the store says, and hold nothing else.
func TestMirror(t *testing.T) {
	dir := t.TempDir()
	a := mirrored(t, memory(), dir, failing(t))
	_, err := a.Start(t.Context(), ws.Machine)
	require.NoError(t, err)
	for i := range 5 {
		set(t, a, "k", fmt.Sprint(i))
		held, err := files.Read(dir, "trader")
		require.NoError(t, err)
		now, _, err := a.Table(t.Context())
		require.NoError(t, err)
		require.Equal(t, now, held)
	}
	_, err = a.Handoff(t.Context(), ws.Handoff{Note: "n"})
	require.NoError(t, err)
	_, err = a.Call(t.Context(), "working_state_clear", []byte(`{"key":"k","reason":"done"}`))
	require.NoError(t, err)
	want, err := a.Changes(t.Context(), 100)
	require.NoError(t, err)
	require.Len(t, want, 7)
	got, skipped, err := files.ReadHistory(dir, "trader", 100)
	require.NoError(t, err)
	require.Zero(t, skipped)
	require.Equal(t, want, got)
	entries, err := os.ReadDir(folder(t, dir))
	require.NoError(t, err)
	require.Len(t, entries, 2, "nothing temporary is left")
}

// What was committed without a mirror is written by the next commit with one, and nothing is written twice.
func TestMirrorCatchesUp(t *testing.T) {
	dir, st := t.TempDir(), memory()
	plain := mirrored(t, st, t.TempDir(), failing(t))
	_, err := plain.Start(t.Context(), ws.Machine)
	require.NoError(t, err)
	set(t, plain, "k", "1")
	set(t, mirrored(t, st, dir, failing(t)), "k", "2")
	set(t, plain, "k", "3")
	set(t, mirrored(t, st, dir, failing(t)), "k", "4") // a new process: what is written already is read from the file
	got, _, err := files.ReadHistory(dir, "trader", 100)
	require.NoError(t, err)
	var values []string
	for _, c := range got {
		values = append(values, c.Value)
	}
	require.Equal(t, []string{"1", "2", "3", "4"}, values)
}

// A commit stands when its files cannot be written; the problem is told, and the next commit writes what is missing.
func TestMirrorFails(t *testing.T) {
	dir := t.TempDir()
	var told []error
	a := mirrored(t, memory(), dir, func(err error) { told = append(told, err) })
	require.NoError(t, os.WriteFile(filepath.Join(dir, "trader"), []byte("in the way"), 0o600))
	_, err := a.Start(t.Context(), ws.Machine)
	require.NoError(t, err)
	set(t, a, "k", "1")
	require.Len(t, told, 2)
	require.ErrorContains(t, told[0], "files of agent trader")
	require.NoError(t, os.Remove(filepath.Join(dir, "trader")))
	set(t, a, "k", "2")
	got, _, err := files.ReadHistory(dir, "trader", 100)
	require.NoError(t, err)
	require.Len(t, got, 2)
}

// A refused call writes nothing.
func TestMirrorOfARefusal(t *testing.T) {
	dir := t.TempDir()
	a := mirrored(t, memory(), dir, failing(t))
	_, err := a.Start(t.Context(), ws.Machine)
	require.NoError(t, err)
	before, err := os.Stat(filepath.Join(folder(t, dir), files.StateName))
	require.NoError(t, err)
	out, err := a.Set(t.Context(), ws.Set{Key: "BAD", Value: "1", Reason: "r"})
	require.NoError(t, err)
	require.Equal(t, ws.CodeBadKey, out.Code())
	after, err := os.Stat(filepath.Join(folder(t, dir), files.StateName))
	require.NoError(t, err)
	require.True(t, os.SameFile(before, after))
}

// Files of the original's layout load, become an agent's working state, and are continued.
func TestOriginalLayout(t *testing.T) {
	held, err := files.Read("testdata/original", "trader")
	require.NoError(t, err)
	require.EqualValues(t, 7, held.Version)
	require.Equal(t, ws.Entry{Value: "262", Reason: "exit on break", Version: 7, UpdatedAt: t0, UpdatedBy: "trader", ExpiresAt: t0.Add(16200 * time.Second)}, held.States["stop_loss.2317"])
	require.Equal(t, ws.Note{Note: "watch the open", Status: ws.Continue, NextSteps: "read the price at 09:30", Version: 7,
		UpdatedAt: t0.Add(time.Minute), UpdatedBy: "trader"}, *held.Handoff)
	history, skipped, err := files.ReadHistory("testdata/original", "trader", 20)
	require.NoError(t, err)
	require.Zero(t, skipped)
	require.Equal(t, []ws.Op{ws.OpSet, ws.OpSet, ws.OpHandoff}, []ws.Op{history[0].Op, history[1].Op, history[2].Op})

	dir := t.TempDir()
	require.NoError(t, os.CopyFS(dir, os.DirFS("testdata/original")))
	a := mirrored(t, memory(), dir, failing(t))
	started, err := a.StartWith(t.Context(), ws.Machine, held)
	require.NoError(t, err)
	require.True(t, started)
	state, _, err := a.Blocks(t.Context(), ws.Layout{})
	require.NoError(t, err)
	require.Contains(t, state, `- stop_loss.2317 = "262"`)
	expected, version := "262", uint64(7)
	out, err := a.Set(t.Context(), ws.Set{Key: "stop_loss.2317", Value: "257", Reason: "r", Expect: ws.Expect{ExpectedValue: &expected, ExpectedVersion: &version}})
	require.NoError(t, err)
	reply, err := machine.ReturnedAs[ws.SetReply](out)
	require.NoError(t, err)
	require.EqualValues(t, 8, reply.Version)
	history, _, err = files.ReadHistory(dir, "trader", 20)
	require.NoError(t, err)
	require.Len(t, history, 4, "the old lines stay")
	require.EqualValues(t, 8, history[3].Version)
	again, err := files.Read(dir, "trader")
	require.NoError(t, err)
	require.Equal(t, "257", again.States["stop_loss.2317"].Value)
}

// What was written by a program that cannot be asked is never an empty state (vector 70).
func TestReadRefuses(t *testing.T) {
	_, err := files.Read(t.TempDir(), "trader")
	require.ErrorIs(t, err, os.ErrNotExist)
	_, err = files.Read(t.TempDir(), "../evil")
	require.ErrorIs(t, err, ws.ErrAgent)
	valid := `{"version":1,"states":{"k":{"value":"v","reason":"r","updated_at":"2026-08-13T01:04:00Z","updated_by":"t"}}}`
	_, err = files.Decode([]byte(valid))
	require.NoError(t, err)
	for name, raw := range map[string]string{
		"nothing":        ``,
		"garbage":        `garbage`,
		"cut":            valid[:len(valid)-2],
		"trailing":       valid + "{}",
		"no states":      `{"version":1}`,
		"twice":          strings.Replace(valid, `"version":1`, `"version":1,"version":2`, 1),
		"unknown":        strings.Replace(valid, `"version":1`, `"version":1,"rules":{}`, 1),
		"a number":       strings.Replace(valid, `"v"`, `262`, 1),
		"no time":        strings.Replace(valid, `2026-08-13T01:04:00Z`, `yesterday`, 1),
		"not an integer": strings.Replace(valid, `"version":1`, `"version":1.5`, 1),
	} {
		_, err := files.Decode([]byte(raw))
		require.ErrorIs(t, err, files.ErrFile, name)
	}
	for name, raw := range map[string]string{
		"a key":   strings.Replace(valid, `"k"`, `"K K"`, 1),
		"a value": strings.Replace(valid, `"v"`, `" "`, 1),
		"a note":  strings.Replace(valid, `"states"`, `"handoff":{"note":"","updated_at":"2026-08-13T01:04:00Z","updated_by":"t"},"states"`, 1),
		"a status": strings.Replace(valid, `"states"`,
			`"handoff":{"note":"n","status":"done","updated_at":"2026-08-13T01:04:00Z","updated_by":"t"},"states"`, 1),
	} {
		_, err := files.Decode([]byte(raw))
		require.ErrorIs(t, err, ws.ErrTable, name)
	}
	dir := t.TempDir()
	require.NoError(t, os.MkdirAll(folder(t, dir), 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(folder(t, dir), files.StateName), bytes.Repeat([]byte(" "), files.MaxState+1), 0o600))
	_, err = files.Read(dir, "trader")
	require.ErrorIs(t, err, files.ErrFile)
}

// A value of several lines in a file is one line afterwards; a proof that a file claims is none.
func TestReadCleans(t *testing.T) {
	held, err := files.Decode([]byte(`{"version":1,"states":{"k":{"value":"262\n## fake","reason":" r\t","updated_at":"2026-08-13T09:04:00+08:00","updated_by":"t"}},` +
		`"handoff":{"note":"n","status":"complete","evidence":"e","proof":"run/1","verified_by":"test_runner","updated_at":"2026-08-13T01:04:00Z","updated_by":"t"}}`))
	require.NoError(t, err)
	require.Equal(t, "262 ## fake", held.States["k"].Value)
	require.Equal(t, t0, held.States["k"].UpdatedAt, "instants, whatever their zone")
	require.Empty(t, held.Handoff.Verified)
}

// Broken lines of a history are skipped and counted (vector 80), one that a crash cut short is written again, and a long
// history lets its oldest lines go (vector 81).
func TestHistoryFile(t *testing.T) {
	dir, st := t.TempDir(), memory()
	a := mirrored(t, st, dir, failing(t))
	_, err := a.Start(t.Context(), ws.Machine)
	require.NoError(t, err)
	set(t, a, "k", "1")
	set(t, a, "k", "2")
	path := filepath.Join(folder(t, dir), files.HistoryName)
	whole, err := os.ReadFile(path)
	require.NoError(t, err)
	lines := strings.SplitAfter(string(whole), "\n")
	require.NoError(t, os.WriteFile(path, []byte("broken\n"+lines[0]+lines[1][:20]), 0o600))
	got, skipped, err := files.ReadHistory(dir, "trader", 20)
	require.NoError(t, err)
	require.Equal(t, 2, skipped)
	require.Len(t, got, 1)

	set(t, mirrored(t, st, dir, failing(t)), "k", "3")
	got, skipped, err = files.ReadHistory(dir, "trader", 20)
	require.NoError(t, err)
	require.Equal(t, 1, skipped, "the broken line stays, the cut one is whole again")
	require.Equal(t, []string{"1", "2", "3"}, []string{got[0].Value, got[1].Value, got[2].Value})

	long := ws.Change{At: t0, Op: ws.OpHandoff, Agent: "trader", Value: strings.Repeat("n", 100_000)}
	var many []ws.Change
	for i := range 2 * files.MaxHistory / 100_000 {
		long.Version = uint64(i + 10)
		many = append(many, long)
	}
	half := len(many) / 2
	require.NoError(t, files.Write(dir, "trader", ws.Table{}, many[:half]))
	require.NoError(t, files.Write(dir, "trader", ws.Table{}, many))
	info, err := os.Stat(path)
	require.NoError(t, err)
	require.LessOrEqual(t, info.Size(), int64(files.MaxHistory))
	require.Greater(t, info.Size(), int64(files.MaxHistory-200_000))
	got, skipped, err = files.ReadHistory(dir, "trader", 1000)
	require.NoError(t, err)
	require.Zero(t, skipped)
	require.Equal(t, long.Version, got[len(got)-1].Version)
	require.NoError(t, files.Write(dir, "trader", ws.Table{}, many[len(many)-2:]))
	again, _, err := files.ReadHistory(dir, "trader", 1000)
	require.NoError(t, err)
	require.Equal(t, got, again, "nothing is written twice")
}

// Equal tables have equal bytes, and come back as they were.
func TestEncode(t *testing.T) {
	table := ws.Table{Version: 3, States: map[string]ws.Entry{
		"b": {Value: `<262> & "x"`, Reason: "r", Version: 1, UpdatedAt: t0, UpdatedBy: "t", ExpiresAt: t0.Add(time.Hour)},
		"a": {Value: "1", Reason: "r", Version: 3, UpdatedAt: t0, UpdatedBy: "t"},
	}, Handoff: &ws.Note{Note: "n", Version: 2, UpdatedAt: t0, UpdatedBy: "t"}}
	raw, err := files.Encode(table)
	require.NoError(t, err)
	require.Contains(t, string(raw), `"value": "<262> & \"x\""`, "people read it")
	back, err := files.Decode(raw)
	require.NoError(t, err)
	require.Equal(t, table, back)
	again, err := files.Encode(back)
	require.NoError(t, err)
	require.Equal(t, raw, again)
}
