package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/stretchr/testify/require"

	"github.com/pawlgo/pawl/cmd/pawl/cli"
	"github.com/pawlgo/pawl/machine"
	"github.com/pawlgo/pawl/resume"
	"github.com/pawlgo/pawl/store"
)

var update = flag.Bool("update", false, "write what comes out into the scripts")

// nowVariable sets the clock of the scripts.
const nowVariable = "PAWL_TEST_NOW"

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"pawl": func() {
			t := tool()
			t.Version, t.Now = "v0.0.0-test", scripted
			cli.Main(t)
		},
		"bare": func() { cli.Main(cli.Tool{Name: "bare", Now: scripted}) }, // knows no machine
		"till": func() { // the tool of a service of payouts
			cli.Main(cli.Tool{Name: "till", Machines: []machine.Definition{payouts}, Now: scripted,
				Controller: func(ctx context.Context, st store.Store) (*resume.Controller, error) { return till(ctx, st, false) }})
		},
		"desk": func() {
			ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
			defer stop()
			if err := desk(ctx, os.Args[1:]); err != nil {
				fmt.Fprintln(os.Stderr, "desk:", err)
				os.Exit(1)
			}
		},
	})
}

// scripted is the clock of a script.
func scripted() time.Time {
	t, err := time.Parse(time.RFC3339, os.Getenv(nowVariable))
	if err != nil {
		panic(err)
	}
	return t
}

// TestScripts runs pawl as processes, as a person or an agent would.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:           "testdata/script",
		UpdateScripts: *update,
		Setup: func(e *testscript.Env) error {
			e.Setenv(nowVariable, "2026-11-30T09:00:00Z")
			e.Setenv("TMPDIR", e.WorkDir)
			e.Setenv("ESCAPE", "a\x1b[31mb") // a script cannot write one
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){"status": status, "await": await, "flip": flip},
	})
}

// status runs a program and wants an exit code: status 3 pawl task show none.
func status(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: status CODE PROGRAM ARGUMENT...")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	err = ts.Exec(args[1], args[2:]...)
	got := 0
	if e, ok := errors.AsType[*exec.ExitError](err); ok {
		got, err = e.ExitCode(), nil
	}
	ts.Check(err)
	if got != want {
		ts.Fatalf("exit code %d, want %d", got, want)
	}
}

// await waits for a file that a process in the background makes, or with ! for its end.
func await(ts *testscript.TestScript, neg bool, args []string) {
	if !appears(ts.MkAbs(args[0]), neg) {
		ts.Fatalf("waited a minute for %s", args[0])
	}
}

// waitFor is await for tests that are no scripts.
func waitFor(t *testing.T, file string) {
	t.Helper()
	require.True(t, appears(file, false), "waited a minute for %s", file)
}

// appears waits until a file is there, or gone.
func appears(file string, gone bool) bool {
	for range 6000 {
		_, err := os.Stat(file)
		if errors.Is(err, fs.ErrNotExist) == gone {
			return true
		}
		time.Sleep(10 * time.Millisecond) // reason: a process of its own makes the file, and nothing else tells
	}
	return false
}

// flip turns one byte in the middle of each table of a store.
func flip(ts *testscript.TestScript, _ bool, args []string) {
	names, err := filepath.Glob(filepath.Join(ts.MkAbs(args[0]), "*.sst"))
	ts.Check(err)
	if len(names) == 0 {
		ts.Fatalf("no table in %s", args[0])
	}
	for _, name := range names {
		b, err := os.ReadFile(name)
		ts.Check(err)
		b[len(b)/3] ^= 1
		ts.Check(os.WriteFile(name, b, 0o600))
	}
}
