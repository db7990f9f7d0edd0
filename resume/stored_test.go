package resume_test

import (
	"encoding/json"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/pawlgo/pawl/guard"
	"github.com/pawlgo/pawl/machine"
	"github.com/pawlgo/pawl/resume"
	"github.com/pawlgo/pawl/store"
	"github.com/rogpeppe/go-internal/txtar"
	"github.com/stretchr/testify/require"
)

var update = flag.Bool("update", false, "write the stored tasks of testdata/stored that are missing")

// storedTasks are the tasks of testdata/stored, and how each came to be.
var storedTasks = map[string]func(p *post, ctl *resume.Controller, id string){
	"letter1_new": func(p *post, ctl *resume.Controller, id string) {
		_, err := ctl.Start(p.ctx, letter1().Task(id, alice, letterV1{"l1", "Dear Bob", 0}), alice)
		require.NoError(p.t, err)
	},
	"letter1_child": func(p *post, ctl *resume.Controller, id string) {
		for _, t := range []machine.Task{letter1().Task("above", alice, letterV1{ID: "l0"}), letter1().Task(id, alice, letterV1{ID: "l1"}).Under("above")} {
			_, err := ctl.Start(p.ctx, t, alice)
			require.NoError(p.t, err)
		}
	},
	"letter1_written": func(p *post, ctl *resume.Controller, id string) { p.written(ctl, id) },
	"letter1_disputed": func(p *post, ctl *resume.Controller, id string) {
		p.written(ctl, id)
		at := p.now
		as := func(o *guard.Observed[bool]) { o.At = at }
		p.tell(ctl, id, says(p, franked, true, as), says(p, franked, false, as))
	},
	"letter1_asked": func(p *post, ctl *resume.Controller, id string) { p.asked(ctl, id) },
	"letter1_put_off": func(p *post, ctl *resume.Controller, id string) {
		p.asked(ctl, id)
		p.tick(25 * time.Hour) // the franking has gone stale, so that the timer is put off
		require.NoError(p.t, ctl.Work(p.ctx))
	},
	"letter1_agreed": func(p *post, ctl *resume.Controller, id string) { p.agreed(ctl, id) },
	"letter1_sent": func(p *post, ctl *resume.Controller, id string) {
		p.agreed(ctl, id)
		require.NoError(p.t, ctl.Work(p.ctx))
	},
	"letter1_kept": func(p *post, ctl *resume.Controller, id string) {
		p.commits(p.written(ctl, id), dropLetter.With(machine.None{}))
	},
}

// storedTask is a task of testdata/stored.
type storedTask struct {
	name     string
	meta     store.Meta
	snapshot []byte
	entry    []byte
}

func readStored(t *testing.T) (all []storedTask) {
	t.Helper()
	files, err := filepath.Glob("testdata/stored/*.txtar")
	require.NoError(t, err)
	for _, f := range files {
		a, err := txtar.ParseFile(f)
		require.NoError(t, err)
		s := storedTask{name: strings.TrimSuffix(filepath.Base(f), ".txtar")}
		for _, part := range a.Files {
			data := []byte(strings.TrimSuffix(string(part.Data), "\n"))
			switch part.Name {
			case "meta":
				require.NoError(t, json.Unmarshal(data, &s.meta))
			case "snapshot":
				s.snapshot = data
			case "entry":
				s.entry = data
			}
		}
		all = append(all, s)
	}
	return all
}

// writeStored writes a task that is missing.
func writeStored(t *testing.T, name string, make func(*post, *resume.Controller, string)) {
	path := filepath.Join("testdata", "stored", name+".txtar")
	if _, err := os.Stat(path); err == nil {
		return
	}
	p := newPost(t)
	make(p, p.serve(nil, letter1()), name)
	r, _, err := p.st.Load(p.ctx, name)
	require.NoError(t, err)
	meta, err := json.Marshal(r.Meta)
	require.NoError(t, err)
	a := &txtar.Archive{Comment: []byte("A task as it was stored. See README.md before you change a byte of it.\n"), Files: []txtar.File{
		{Name: "meta", Data: append(meta, '\n')}, {Name: "snapshot", Data: append(r.Snapshot, '\n')}, {Name: "entry", Data: append(r.Entry, '\n')}}}
	require.NoError(t, os.WriteFile(path, txtar.Format(a), 0o644))
}

// TestStoredTasks reads every task that was ever stored, with the definition that it was stored under: nothing of it is lost, and
// that definition still has the digest that it had.
func TestStoredTasks(t *testing.T) {
	if *update {
		for name, make := range storedTasks {
			writeStored(t, name, make)
		}
	}
	all := readStored(t)
	require.GreaterOrEqual(t, len(all), len(storedTasks))
	v1 := machine.Erase(letter1())
	for _, s := range all {
		t.Run(s.name, func(t *testing.T) {
			snap, err := v1.Decode(s.snapshot)
			require.NoError(t, err)
			again, err := v1.Encode(nil, snap)
			require.NoError(t, err)
			within(t, s.snapshot, again)
			e, err := machine.DecodeEntry(s.entry)
			require.NoError(t, err)
			require.Equal(t, snap.Version, e.Version)
			require.Equal(t, snap.Stamp(), machine.Stamp{Machine: e.Machine, Version: e.Definition, Digest: e.Digest})
			line, err := e.Append(nil)
			require.NoError(t, err)
			within(t, s.entry, line)
		})
	}
}

// within wants all that the stored JSON says to be said by what was read and written again.
func within(t *testing.T, stored, again []byte) {
	t.Helper()
	var a, b any
	require.NoError(t, json.Unmarshal(stored, &a))
	require.NoError(t, json.Unmarshal(again, &b))
	require.Empty(t, lacks(a, b, ""), "%s\n%s", stored, again)
}

// lacks is the path of something that a has and b has not.
func lacks(a, b any, path string) string {
	switch a := a.(type) {
	case map[string]any:
		b, ok := b.(map[string]any)
		if !ok {
			return path
		}
		for k, v := range a {
			if at := lacks(v, b[k], path+"."+k); at != "" {
				return at
			}
		}
		return ""
	case []any:
		b, ok := b.([]any)
		if !ok || len(a) != len(b) {
			return path
		}
		for i := range a {
			if at := lacks(a[i], b[i], path+"[]"); at != "" {
				return at
			}
		}
		return ""
	}
	if a != b {
		return path
	}
	return ""
}

// stores puts a stored task into a store, as a task that has one version: what it is based on is gone.
func (p *post) stores(s storedTask) {
	var v struct {
		Version uint64 `json:"state_version"`
	}
	require.NoError(p.t, json.Unmarshal(s.snapshot, &v))
	tip := store.Tip{}
	for n := uint64(1); n <= v.Version; n++ {
		r := store.Record{Task: s.name, Meta: s.meta, Snapshot: s.snapshot, Entry: s.entry, Nonce: n}
		var emit []store.Effect
		if n == v.Version {
			emit = p.effects(s)
		}
		var err error
		tip, err = p.st.Commit(p.ctx, &store.Commit{Record: r, Base: tip, Emit: emit})
		require.NoError(p.t, err)
	}
}

// effects are the rows of a stored task's unsettled effects.
func (p *post) effects(s storedTask) (out []store.Effect) {
	snap, err := machine.Erase(letter1()).Decode(s.snapshot)
	require.NoError(p.t, err)
	for _, i := range snap.Intents {
		if i.Unsettled() {
			out = append(out, store.Effect{Task: s.name, ID: i.Key, Ready: i.At.UnixMicro(), Body: []byte(`{"attempts":0,"lookups":0}`)})
		}
	}
	return out
}

// TestStoredTasksGoOver leads every stored task to the newest definition, on a store whose power fails in between, and on to its end.
func TestStoredTasksGoOver(t *testing.T) {
	for _, s := range readStored(t) {
		t.Run(s.name, func(t *testing.T) {
			p := newPost(t)
			p.now = time.Date(2026, 1, 7, 9, 0, 0, 0, time.UTC)
			p.stores(s)
			old, err := machine.Erase(letter1()).Decode(s.snapshot)
			require.NoError(t, err)

			_, err = p.serve(nil, letter3()).Resume(p.ctx, s.name, alice)
			require.ErrorIs(t, err, resume.ErrMachine, "without its definition nobody reads it")
			require.ErrorContains(t, err, "register version 1 beside version 3")

			ctl := p.serve(letterSteps(), letter1(), letter2(), letter3())
			r, err := ctl.DryRunMigration(p.ctx, "letter")
			require.NoError(t, err)
			require.Equal(t, []int{1, 1, 0}, []int{r.Tasks, r.Ready, len(r.Troubles)}, "%+v", r.Troubles)
			now := p.resume(ctl, s.name)
			require.Equal(t, letter3().Stamp(), now.Snapshot().Stamp())
			require.Equal(t, old.Version+2, now.Version())
			data, ok := machine.As[letterV2](now.Snapshot())
			require.True(t, ok)
			require.NotEmpty(t, data.Data.Lines)
			require.Len(t, data.Intents, len(old.Intents))

			p.cut()
			ctl = p.serve(letterSteps(), letter1(), letter2(), letter3())
			require.Equal(t, now.Version(), p.resume(ctl, s.name).Version(), "once is enough")
			p.tick(49 * time.Hour)
			require.NoError(t, ctl.Work(p.ctx))
			end := p.resume(ctl, s.name)
			switch old.State {
			case sending:
				require.Equal(t, sent, end.State())
				require.Len(t, p.sends, 1)
			case asked1:
				require.Equal(t, kept, end.State(), "its deadline stood")
			case sent, kept:
				require.Equal(t, old.State, end.State())
				require.Empty(t, p.sends)
			default:
				p.commits(end, dropLetter.With(machine.None{}))
			}
		})
	}
}

// TestStoredTasksOfANewerDefinition: what a later release stored is left alone, and says what to do.
func TestStoredTasksOfANewerDefinition(t *testing.T) {
	p := newPost(t)
	ctl := p.serve(nil, letter3())
	_, err := ctl.Start(p.ctx, letter3().Task("t", alice, letterV2{"l1", []string{"Dear Bob"}, 1}), alice)
	require.NoError(t, err)
	before, _, err := p.st.Load(p.ctx, "t")
	require.NoError(t, err)
	_, err = p.serve(nil, letter1(), letter2()).Resume(p.ctx, "t", alice)
	require.ErrorIs(t, err, resume.ErrMachine)
	require.ErrorContains(t, err, "version 3 is newer than all that are served here: use a controller that has it")
	var other *machine.OtherDefinitionError
	require.True(t, errors.As(err, &other))
	require.Equal(t, 3, other.Stored.Version)
	after, _, err := p.st.Load(p.ctx, "t")
	require.NoError(t, err)
	require.Equal(t, before, after)
}
