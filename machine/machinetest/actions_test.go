package machinetest

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/pawlgo/pawl/guard"
	"github.com/pawlgo/pawl/machine"
)

func TestActions(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		actions, err := Actions(newGate(), "testdata/gate.txtar")
		require.NoError(t, err)
		t.Repeat(actions)
	})
}

// failing is a test that is expected to fail.
type failing struct {
	testing.TB
	said strings.Builder
}

func (f *failing) Errorf(format string, args ...any) { fmt.Fprintf(&f.said, format+"\n", args...) }
func (f *failing) Logf(format string, args ...any)   { f.Errorf(format, args...) }
func (f *failing) Fail()                             {}
func (f *failing) FailNow()                          { runtime.Goexit() }
func (f *failing) Fatalf(format string, args ...any) { f.Errorf(format, args...); f.FailNow() }

// walks goes through random walks that must fail, and gives what they report.
func walks(t *testing.T, m machine.Definition, table string) string {
	path := filepath.Join(t.TempDir(), "walks.txtar")
	require.NoError(t, os.WriteFile(path, []byte(table), 0o644))
	t.Chdir(t.TempDir()) // where the failing case is kept
	require.NoError(t, flag.Set("rapid.shrinktime", "0s"))
	defer func() { require.NoError(t, flag.Set("rapid.shrinktime", "30s")) }()
	f := &failing{TB: t}
	done := make(chan struct{})
	go func() {
		defer close(done)
		rapid.Check(f, func(t *rapid.T) {
			actions, err := Actions(m, path)
			if err != nil {
				t.Fatal(err)
			}
			t.Repeat(actions)
		})
	}()
	<-done
	return f.said.String()
}

// TestWalksFail walks through machines that break what every step must keep.
func TestWalksFail(t *testing.T) {
	table := "-- payloads --\na = leave_mark {\"text\":\"a\"}\n-- situation s --\nstart t alice {\"id\":\"g1\",\"marks\":[]}\n-- table --\n" +
		strings.Join(columns, " | ") + "\ns | | | user/alice | leave_mark | | committed | = | |\n"
	calls := 0
	impure := marker(func(g *gate, _ guard.Case[gate, mark]) { calls++; g.Marks = append(g.Marks, fmt.Sprint(calls)) })
	require.Contains(t, walks(t, impure, table), "Step is not pure")

	sound := marker(func(g *gate, _ guard.Case[gate, mark]) { g.Marks = append(g.Marks, "x") })
	require.NotContains(t, walks(t, sound, table), "failed")
}

// TestKeeps holds what no machine does against what every task keeps.
func TestKeeps(t *testing.T) {
	tb, err := readTable(newGate(), "testdata/gate.txtar")
	require.NoError(t, err)
	at := func(name string) machine.Snapshot[any] { return tb.situationNamed(name).at }
	reopened, vanished, back := at("opened"), at("moving"), at("opened")
	reopened.State = shut
	vanished.Intents = nil
	back.Intents = at("moving").Intents
	for _, c := range []struct {
		was, is machine.Snapshot[any]
		want    string
	}{
		{at("moving"), at("opened"), ""},
		{at("shut"), at("asking"), ""},
		{at("asking"), at("shut"), "version 1 came after 2"},
		{at("opened"), reopened, "the final state opened was left for shut"},
		{at("moving"), vanished, "gate_1/turn_motor/1 vanished without an outcome"},
		{at("opened"), back, "gate_1/turn_motor/1 was confirmed and is intent"},
		{vanished, at("moving"), "gate_1/turn_motor/1 came back"},
	} {
		w := &walk{tb: tb, last: c.was, at: c.is}
		require.Equal(t, c.want, w.broken())
	}
}
