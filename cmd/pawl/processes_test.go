package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlgo/pawl/cmd/pawl/cli"
)

// program is a process of this test binary under the name of one of the programs.
func program(t *testing.T, name string, args ...string) *exec.Cmd {
	t.Helper()
	c := exec.CommandContext(t.Context(), name, args...)
	c.Env = append(os.Environ(), nowVariable+"=2026-11-30T09:00:00Z")
	return c
}

// exitCode is that of a process that has ended.
func exitCode(t *testing.T, err error) int {
	t.Helper()
	if e, ok := errors.AsType[*exec.ExitError](err); ok {
		return e.ExitCode()
	}
	require.NoError(t, err)
	return 0
}

// Processes race for one key: one wins, and every other one hears that it did not.
func TestProcessesRaceForAKey(t *testing.T) {
	const racers = 6
	dir := filepath.Join(t.TempDir(), "s")
	require.NoError(t, program(t, "pawl", "state", "set", "k", "0", "--reason", "r", "--agent", "trader", "--dir", dir).Run())
	var mu sync.Mutex
	var all sync.WaitGroup
	codes := map[int]int{}
	for i := range racers {
		all.Go(func() {
			c := program(t, "pawl", "state", "set", "k", fmt.Sprint(i+1), "--reason", "r", "--expect", "0", "--agent", "trader", "--dir", dir, "--wait", "1m")
			err := c.Run()
			mu.Lock()
			defer mu.Unlock()
			codes[exitCode(t, err)]++
		})
	}
	all.Wait()
	require.Equal(t, map[int]int{cli.ExitOK: 1, cli.ExitConflict: racers - 1}, codes)
	out, err := program(t, "pawl", "state", "get", "--history", "10", "--agent", "trader", "--dir", dir, "-o", "jsonl").Output()
	require.NoError(t, err)
	require.Equal(t, 2, bytes.Count(out, []byte("\n")), "%s", out)
}

// An interrupt ends a watch, with the exit code that shells expect, and the note is taken back.
func TestInterruptEndsAWatch(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "s")
	require.NoError(t, program(t, "desk", "start", dir, "door_1", "ann").Run())
	desk := program(t, "desk", "serve", dir)
	require.NoError(t, desk.Start())
	waitFor(t, dir+".ready")
	watch, errs := watching(t, dir)
	require.NoError(t, watch.Process.Signal(os.Interrupt))
	require.Equal(t, cli.ExitInterrupted, exitCode(t, watch.Wait()))
	require.Equal(t, "pawl: interrupted\n", errs.String())

	watch, errs = watching(t, dir) // the service ends while it is watched
	require.NoError(t, desk.Process.Signal(os.Interrupt))
	require.NoError(t, desk.Wait())
	require.Equal(t, cli.ExitFailed, exitCode(t, watch.Wait()))
	require.Contains(t, errs.String(), "the holder of the store cannot be reached")
}

// watching is a process that watches a door, and has told its first version.
func watching(t *testing.T, dir string) (*exec.Cmd, *bytes.Buffer) {
	t.Helper()
	watch, errs := program(t, "pawl", "task", "watch", "door_1", "--after", "0", "--dir", dir), &bytes.Buffer{}
	out, err := watch.StdoutPipe()
	require.NoError(t, err)
	watch.Stderr = errs
	require.NoError(t, watch.Start())
	line, err := bufio.NewReader(out).ReadString('\n')
	require.NoError(t, err)
	require.Contains(t, line, "start")
	return watch, errs
}

// Readers wait no longer than they must: a store whose holder offers a socket is read at once, whatever --wait says.
func TestReadersDoNotWait(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "s")
	require.NoError(t, program(t, "desk", "start", dir, "door_1", "ann").Run())
	desk := program(t, "desk", "serve", dir)
	require.NoError(t, desk.Start())
	waitFor(t, dir+".ready")
	out, err := program(t, "pawl", "task", "ls", "--dir", dir, "--wait", "1000h").Output()
	require.NoError(t, err)
	require.True(t, strings.Contains(string(out), "door_1"))
	require.NoError(t, desk.Process.Signal(os.Interrupt))
	require.NoError(t, desk.Wait())
}
