package machinetest

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlgo/pawl/guard"
	"github.com/pawlgo/pawl/machine"
)

// golden compares with a file, which -update writes.
func golden(t *testing.T, path, got string) {
	t.Helper()
	if updating() {
		require.NoError(t, os.WriteFile(path, []byte(got), 0o644))
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, string(want), got)
}

// failures runs a table that must fail, and gives what it reports.
func failures(d machine.Definition, path string) string {
	c := &collector{name: "TestTables/" + filepath.Base(path)}
	runFile(c, d, path, false)
	var b strings.Builder
	for _, err := range c.all {
		b.WriteString(err.Error() + "\n\n")
	}
	return b.String()
}

// TestFailing runs tables with every fault that a table can have. The messages are in the goldens beside them.
func TestFailing(t *testing.T) {
	files, err := filepath.Glob("testdata/failing/*.txtar")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, f := range files {
		t.Run(filepath.Base(f), func(t *testing.T) {
			got := failures(newGate(), f)
			require.NotEmpty(t, got)
			golden(t, strings.TrimSuffix(f, ".txtar")+".golden", got)
		})
	}
}

func TestNoTable(t *testing.T) {
	c := &collector{}
	runTables(c, newGate(), "testdata/nothing/*.txtar", false)
	require.Len(t, c.all, 1)
	require.EqualError(t, c.all[0], "no table matches testdata/nothing/*.txtar")

	require.ErrorIs(t, Check(newGate(), "testdata/nothing.txtar"), os.ErrNotExist)
	_, err := Missing(newGate(), "testdata/nothing.txtar")
	require.ErrorIs(t, err, os.ErrNotExist)
	_, err = Explore(newGate(), "testdata/nothing.txtar", Limits{})
	require.ErrorIs(t, err, os.ErrNotExist)
	_, err = Actions(newGate(), "testdata/nothing.txtar")
	require.ErrorIs(t, err, os.ErrNotExist)
}

// TestUpdate rewrites a messy table: the expectations are written, the columns aligned, prose and comments kept, and what cannot
// be written down is reported and left.
func TestUpdate(t *testing.T) {
	raw, err := os.ReadFile("testdata/update.txtar")
	require.NoError(t, err)
	path := filepath.Join(t.TempDir(), "update.txtar")
	require.NoError(t, os.WriteFile(path, raw, 0o644))

	c := &collector{name: "TestUpdate"}
	runTables(c, newGate(), path, true)
	require.Len(t, c.all, 2)
	require.ErrorContains(t, c.all[0], `no situation is called "nowhere"`)
	require.ErrorContains(t, c.all[1], "what comes of it differs")

	got, err := os.ReadFile(path)
	require.NoError(t, err)
	golden(t, "testdata/update.golden", string(got))

	require.NoError(t, os.WriteFile(path, []byte(strings.ReplaceAll(string(got), "nowhere", "shut   ")), 0o644))
	runTables(&collector{}, newGate(), path, true)
	once, err := os.ReadFile(path)
	require.NoError(t, err)
	runTables(&collector{}, newGate(), path, true)
	twice, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, string(once), string(twice))
}

// hollow data loses a field when it is stored.
type hollow struct {
	ID   string `json:"id" about:"gate"`
	Kept int    `json:"kept"`
	Lost int    `json:"-"`
}

// shared data brings a Clone that copies nothing.
type shared struct {
	ID    string         `json:"id" about:"gate"`
	Marks map[string]int `json:"marks"`
}

func (s shared) Clone() shared { return s }

// TestStepChecked gives every row a machine that breaks what each step must keep, and sees the row fail although its
// expectations hold.
func TestStepChecked(t *testing.T) {
	calls := 0
	for name, c := range map[string]struct {
		machine machine.Definition
		start   string
		facts   string
		want    string
	}{
		"impure": {
			machine: marker(func(g *gate, _ guard.Case[gate, mark]) {
				calls++
				g.Marks = append(g.Marks, strings.Repeat("x", calls))
			}),
			start: `{"id":"g1","marks":[]}`, want: "Step is not pure",
		},
		"writes": {
			machine: marker(func(s *shared, c guard.Case[shared, mark]) { s.Marks[c.Payload.Text]++ }),
			start:   `{"id":"g1","marks":{}}`, want: "Step wrote into the snapshot",
		},
		"loses": {
			machine: marker(func(h *hollow, _ guard.Case[hollow, mark]) { h.Kept, h.Lost = h.Kept+h.Lost, h.Lost+1 },
				func(b *machine.Builder[hollow]) {
					b.Accept(machine.LintLossy, machine.Everywhere, "the table must notice")
				}),
			start: `{"id":"g1","kept":0}`, want: "from the stored bytes of its situation the step differs",
		},
		"guesses": {
			machine: guesser(), start: `{"id":"g1","marks":[]}`, facts: "unsafe", want: "something unknown opens what is blocked",
		},
	} {
		t.Run(name, func(t *testing.T) {
			text := "-- facts --\nunsafe = safe(g1) false\n-- situation s --\nstart t alice " + c.start + "\nuser/alice leave_mark {\"text\":\"a\"}\n" +
				"-- table --\n" + strings.Join(columns, " | ") + "\n" +
				`s | | ` + c.facts + ` | user/alice | leave_mark | {"text":"b"} | committed | = | |` + "\n"
			if c.facts != "" {
				text = strings.Replace(text, "committed | = | |", "refused | = | | invariant safe", 1)
			}
			path := filepath.Join(t.TempDir(), "step.txtar")
			require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
			got := failures(c.machine, path)
			require.Contains(t, got, c.want)
			require.Contains(t, got, "line_8")
		})
	}
}

// marker is a machine with one edge, which applies what it is given.
func marker[D any](apply func(*D, guard.Case[D, mark]), more ...func(*machine.Builder[D])) machine.Definition {
	b := machine.New[D]("marker", shut)
	b.Final(opened)
	machine.On(b, leave).From(shut).Stay().By(guard.User).Require(guard.Any(guard.Known(safe), always)).Apply(apply)
	machine.On(b, askOpen).From(shut).To(opened).By(guard.User)
	for _, f := range more {
		f(b)
	}
	return b.MustBuild()
}

var always = guard.New("always", func(*guard.Scene) guard.Verdict { return guard.Allow() })

// guesser has an invariant that forgets what is unknown: it refuses what is known to be unsafe, and nothing else.
func guesser() machine.Definition {
	b := machine.New[gate]("guesser", shut)
	b.Final(opened)
	machine.On(b, leave).From(shut).Stay().By(guard.User).Require(guard.Any(guard.Known(safe), always))
	machine.On(b, askOpen).From(shut).To(opened).By(guard.User)
	b.Invariant("safe", func(s machine.Snapshot[gate]) error {
		if ok, known := safe.Get(s.Facts); known && !ok {
			return errors.New("it is not safe")
		}
		return nil
	})
	return b.MustBuild()
}
