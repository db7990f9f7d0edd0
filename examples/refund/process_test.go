package main

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pawlgo/pawl/examples/refund/desk"
	"github.com/pawlgo/pawl/examples/refund/model/modeltest"
	"github.com/pawlgo/pawl/examples/refund/refund"
	"github.com/pawlgo/pawl/examples/refund/shop"
	"github.com/pawlgo/pawl/machine"
	"github.com/pawlgo/pawl/store/pebblestore"
	"github.com/stretchr/testify/require"
)

// asProgram names the environment variable that makes the test binary the program itself.
const asProgram = "PAWL_TEST_AS_REFUND"

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
	cmd.Env = append(os.Environ(), asProgram+"=1", keyVariable+"=a-key", "TMPDIR="+temp)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		require.IsType(t, &exec.ExitError{}, err)
	}
	left, err := os.ReadDir(temp)
	require.NoError(t, err)
	return ran{cmd.ProcessState.ExitCode(), out.String(), errs.String(), left}
}

// last is the summary that a story ends with, if it came to its end.
func (r ran) last() (s summary, ended bool) {
	lines := strings.Split(strings.TrimSpace(r.out), "\n")
	return s, json.Unmarshal([]byte(lines[len(lines)-1]), &s) == nil
}

// What -dir names is kept: another process opens the store and finds the task refunded, and the program does not begin a second
// story in it.
func TestProgramKeepsItsData(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new")
	r := program(t, "-dir", dir)
	require.Zero(t, r.status, r.errors)
	sum, ended := r.last()
	require.True(t, ended, r.out)
	require.Equal(t, refund.Refunded, sum.State)
	require.Empty(t, r.temp)

	task := func() (machine.Snapshot[any], []byte) {
		st, err := pebblestore.Open(filepath.Join(dir, "desk"), pebblestore.Options{})
		require.NoError(t, err)
		defer func() { require.NoError(t, st.Close()) }()
		rec, effects, err := st.Load(t.Context(), desk.TaskID)
		require.NoError(t, err)
		require.Empty(t, effects)
		snap, err := machine.Erase(refund.Machine).Decode(rec.Snapshot)
		require.NoError(t, err)
		ledger, err := os.ReadFile(filepath.Join(dir, "shop", shop.LedgerFile))
		require.NoError(t, err)
		return snap, ledger
	}
	before, ledger := task()
	require.Equal(t, refund.Refunded, before.State)
	require.Equal(t, sum.Version, before.Version)
	require.True(t, before.Settled(refund.IssueRefund))

	r = program(t, "-dir", dir)
	require.Equal(t, 1, r.status)
	require.Empty(t, r.out)
	require.Contains(t, r.errors, "refund: -dir: "+dir+" is not empty")
	after, same := task()
	require.Equal(t, before.Version, after.Version)
	require.Equal(t, ledger, same)
}

// A directory that holds anything else, or is none, is refused, and left as it is.
func TestProgramRefusesADirectoryInUse(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "diary.txt")
	require.NoError(t, os.WriteFile(file, []byte("mine"), 0o600))
	for arg, part := range map[string]string{dir: "is not empty", file: "not a directory"} {
		for _, more := range [][]string{nil, {"-talk"}} {
			r := program(t, append([]string{"-dir", arg}, more...)...)
			require.Equal(t, 1, r.status)
			require.Empty(t, r.out)
			require.Contains(t, r.errors, "refund: -dir: ")
			require.Contains(t, r.errors, part)
		}
	}
	left, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Len(t, left, 1)
}

// A step that does not go as told ends the program with status 1 and its reason; it claims no end, and cleans up behind itself.
func TestProgramFailsWhenAStepDoes(t *testing.T) {
	srv := modeltest.Start(t, "a-key", "small", func(modeltest.Question) modeltest.Answer { return modeltest.Answer{Content: askIt} })
	r := program(t, "-model-url", srv.URL, "-model", "small")
	require.Equal(t, 1, r.status)
	require.Contains(t, r.errors, "refund: step 7 did not go as told: ")
	_, ended := r.last()
	require.False(t, ended, r.out)
	require.Empty(t, r.temp)
}

// What the command line does not know ends with status 1, and asking for help with 0.
func TestProgramStatusOfTheCommandLine(t *testing.T) {
	require.Equal(t, 1, program(t, "-nonsense").status)
	r := program(t, "-h")
	require.Zero(t, r.status)
	require.Contains(t, r.errors, "-policy-moves")
}
