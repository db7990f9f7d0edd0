package main

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlgo/pawl/examples/child"
	"github.com/pawlgo/pawl/examples/trading/desk"
	"github.com/pawlgo/pawl/examples/trading/trading"
	"github.com/pawlgo/pawl/machine"
	"github.com/pawlgo/pawl/store/pebblestore"
)

var update = flag.Bool("update", false, "rewrite the story under testdata")

// asProgram names the environment variable that makes the test binary the program itself.
const asProgram = "PAWL_TEST_AS_TRADING"

// The story starts its own program as exchange and desk: here that is the test binary. It is the whole program when asProgram is set.
func TestMain(m *testing.M) {
	if os.Getenv(asProgram) != "" {
		main()
		return
	}
	if is, err := child.Played(context.Background(), parts); is {
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

// ran is what became of a process.
type ran struct {
	status      int
	out, errors string
	temp        []os.DirEntry // what it left in its temporary directory
}

// program runs the example as a process of its own.
func program(t *testing.T, args ...string) ran {
	t.Helper()
	self, err := os.Executable()
	require.NoError(t, err)
	temp := t.TempDir()
	cmd := exec.CommandContext(t.Context(), self, args...)
	cmd.Env = append(os.Environ(), asProgram+"=1", "TMPDIR="+temp)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		require.IsType(t, &exec.ExitError{}, err)
	}
	left, err := os.ReadDir(temp)
	require.NoError(t, err)
	return ran{cmd.ProcessState.ExitCode(), out.String(), errs.String(), left}
}

// last is the last line of an output.
func last(out string) string {
	lines := strings.Split(strings.TrimSpace(out), "\n")
	return lines[len(lines)-1]
}

// TestStory: a person has read what the program says. Time is the story's own, so each run says the same to the byte.
func TestStory(t *testing.T) {
	r := program(t)
	require.Zero(t, r.status, r.errors)
	require.Empty(t, r.errors)
	require.Empty(t, r.temp)
	const file = "testdata/story.txt"
	if *update {
		require.NoError(t, os.MkdirAll("testdata", 0o755))
		require.NoError(t, os.WriteFile(file, []byte(r.out), 0o644))
	}
	want, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Equal(t, string(want), r.out, "run go test ./examples/trading -update and look at the difference")
	require.Equal(t, `{"task":"trader","exits":1,"exit_price":"261","rule":"stop_loss.2317","superseded":1,"refused":8,"orders_at_exchange":1}`, last(r.out))
	for _, part := range []string{
		"10:07 price 261: the last number in the notes is 257, it holds",
		"above: stop_touched: the price has touched the rule that stands (last 261, rule 262)",
		"effect send_order, key trader/send_order/1, recorded in the same version",
		"open orders at the exchange: 0.",
		"262 -> 254",
		"(current 254, current_version 2, record_version 2)",
		"touched: stop_not_touched: the price is above the rule (last 256, rule 254)",
	} {
		require.Contains(t, r.out, part)
	}
}

// What -dir names is kept: another process finds the one exit in the store, and the program does not begin a second story in it.
func TestProgramKeepsItsData(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new")
	r := program(t, "-v", "-dir", dir)
	require.Zero(t, r.status, r.errors)
	require.Empty(t, r.temp)
	require.Contains(t, r.out, "the model saw:")
	require.Contains(t, r.out, `   | - stop_loss.2317 = "262"`)
	var sum summary
	require.NoError(t, json.Unmarshal([]byte(last(r.out)), &sum))
	require.Equal(t, 1, sum.Exits)

	st, err := pebblestore.Open(filepath.Join(dir, "desk"), pebblestore.Options{})
	require.NoError(t, err)
	rec, effects, err := st.Load(t.Context(), desk.Agent)
	require.NoError(t, err)
	require.Empty(t, effects)
	snap, err := machine.Erase(trading.Machine).Decode(rec.Snapshot)
	require.NoError(t, err)
	require.Equal(t, trading.Closed, snap.State)
	require.True(t, snap.Settled(trading.SendOrder))
	require.Equal(t, uint64(1), snap.Operation("send_order"))
	require.NoError(t, st.Close())

	r = program(t, "-dir", dir)
	require.Equal(t, 1, r.status)
	require.Empty(t, r.out)
	require.Contains(t, r.errors, "trading: -dir: "+dir+" is not empty")
}

func TestProgramStatusOfTheCommandLine(t *testing.T) {
	file := filepath.Join(t.TempDir(), "diary.txt")
	require.NoError(t, os.WriteFile(file, []byte("mine"), 0o600))
	for _, args := range [][]string{{"-nonsense"}, {"extra", "argument"}, {"-dir", file}} {
		r := program(t, args...)
		require.Equal(t, 1, r.status, args)
		require.Empty(t, r.out)
	}
	r := program(t, "-h")
	require.Zero(t, r.status)
	require.Contains(t, r.errors, "-dir")
}

// An agent with one line in its notes goes by it; with none it holds; a line that is not written yet counts for nothing.
func TestByNotes(t *testing.T) {
	sold, told := byNotes(notes[:1], prices)
	require.Equal(t, "261", sold.String())
	require.Len(t, told, 3)
	sold, told = byNotes(nil, prices)
	require.Zero(t, sold.Sign())
	require.Len(t, told, len(prices))
	_, has := lastNumber(notes, opens)
	require.False(t, has)
	stop, has := lastNumber(notes, closes)
	require.True(t, has)
	require.Equal(t, "257", stop.String())
}
