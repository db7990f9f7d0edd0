package cli_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/require"

	"github.com/pawlgo/pawl/cmd/pawl/cli"
	"github.com/pawlgo/pawl/cmd/pawl/holder"
	"github.com/pawlgo/pawl/guard"
	"github.com/pawlgo/pawl/machine"
	"github.com/pawlgo/pawl/machine/machinetest"
	"github.com/pawlgo/pawl/machine/workingstate"
	"github.com/pawlgo/pawl/resume"
	"github.com/pawlgo/pawl/store"
)

// run runs a tool; what it wrote is returned.
func run(t *testing.T, tool cli.Tool, args ...string) (exit int, out, errs string) {
	t.Helper()
	var o, e bytes.Buffer
	exit = cli.Run(t.Context(), tool, args, cli.Streams{In: strings.NewReader(""), Out: &o, Err: &e})
	return exit, o.String(), e.String()
}

// failing is a tool with a command that fails as it is told.
func failing(err error) cli.Tool {
	return cli.Tool{Commands: func(*cli.App) []*cobra.Command {
		return []*cobra.Command{{Use: "fail", RunE: func(*cobra.Command, []string) error { return err }}}
	}}
}

// Every kind of error has its exit code, however it is wrapped, and the package comment explains each.
func TestExitCodes(t *testing.T) {
	doc, err := os.ReadFile("doc.go")
	require.NoError(t, err)
	for exit, errs := range map[int][]error{
		cli.ExitFailed:      {errors.New("x"), store.ErrFailed, store.ErrClosed},
		cli.ExitUsage:       {cli.ErrUsage, cli.Usage("x"), store.ErrInvalid, store.ErrTooBig},
		cli.ExitNotFound:    {cli.ErrNotFound, store.ErrNotFound, store.ErrErased, resume.ErrNoTask, os.ErrNotExist},
		cli.ExitRefused:     {machine.ErrRefused, machine.ErrAsk, machine.ErrNeedsEvidence},
		cli.ExitConflict:    {machine.ErrConflict, store.ErrConflict, resume.ErrExists, os.ErrExist},
		cli.ExitLocked:      {cli.ErrLocked, &cli.LockedError{}, holder.ErrReadOnly, holder.ErrSilent},
		cli.ExitCorrupt:     {cli.ErrCorrupt, store.ErrCorrupt, &store.CorruptError{}},
		cli.ExitNewer:       {store.ErrNewer, &store.NewerError{}},
		cli.ExitUncertain:   {store.ErrUncertain, &store.UncertainError{Cause: store.ErrCorrupt}},
		cli.ExitInterrupted: {context.Canceled},
	} {
		for _, err := range errs {
			got, _, said := run(t, failing(fmt.Errorf("wrapped: %w", err)), "fail")
			require.Equal(t, exit, got, "%v", err)
			require.NotEmpty(t, said)
			got, _, said = run(t, failing(fmt.Errorf("wrapped: %w", err)), "fail", "-o", "json")
			require.Equal(t, exit, got)
			require.Contains(t, said, fmt.Sprintf(`"exit":%d,`, exit))
		}
		require.Regexp(t, fmt.Sprintf(`(?m)^//\t%d +\w`, exit), string(doc))
	}
	exit, _, said := run(t, failing(nil), "fail")
	require.Equal(t, cli.ExitOK, exit)
	require.Empty(t, said)
	require.Regexp(t, `(?m)^//\t0 +done`, string(doc))
}

// What was interrupted says so, and nothing else.
func TestInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var out, errs bytes.Buffer
	exit := cli.Run(ctx, failing(errors.New("because of that")), []string{"fail"}, cli.Streams{Out: &out, Err: &errs})
	require.Equal(t, cli.ExitInterrupted, exit)
	require.Equal(t, "pawl: interrupted\n", errs.String())
}

// Every command has a help that says in a sentence what it does, and an example.
func TestEveryCommandExplainsItself(t *testing.T) {
	tool := cli.Tool{Machines: []machine.Definition{workingstate.Machine}, Missing: machinetest.Missing}
	var walk func(c *cobra.Command)
	walk = func(c *cobra.Command) {
		require.NotEmpty(t, c.Short, c.CommandPath())
		require.NotContains(t, c.Short, ".", c.CommandPath())
		require.Contains(t, c.Example, c.CommandPath(), "an example that calls %s", c.CommandPath())
		for _, line := range strings.Split(c.Long, "\n") {
			require.LessOrEqual(t, len(line), 105, c.CommandPath())
		}
		for _, sub := range c.Commands() {
			if sub.Name() != "help" && sub.Name() != "completion" { // cobra's own
				walk(sub)
			}
		}
	}
	tool.Commands = func(*cli.App) []*cobra.Command {
		return []*cobra.Command{{Use: "walk", Short: "Walk", Example: "pawl walk", RunE: func(c *cobra.Command, _ []string) error {
			walk(c.Root())
			return nil
		}}}
	}
	exit, _, errs := run(t, tool, "walk")
	require.Equal(t, cli.ExitOK, exit, errs)
}

// The tool that a command is in tells it which store, which version, and how to open it.
func TestCommandsOfATool(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "s")
	tool := cli.Tool{Name: "desk", Version: "v7", Commands: func(a *cli.App) []*cobra.Command {
		return []*cobra.Command{{Use: "own", RunE: func(c *cobra.Command, _ []string) error {
			require.Equal(t, dir, a.Dir())
			require.Equal(t, "v7", a.Version())
			_, _, err := a.Open(c.Context(), "desk own", false)
			require.ErrorIs(t, err, cli.ErrNotFound)
			require.NoDirExists(t, dir)
			st, done, err := a.Open(c.Context(), "desk own", true)
			require.NoError(t, err)
			h, err := holder.Look(dir)
			require.NoError(t, err)
			require.Equal(t, "desk own", h.Program)
			client, err := holder.Dial(c.Context(), h)
			require.NoError(t, err)
			require.Equal(t, st.Info(), client.Info())
			return errors.Join(client.Close(), done())
		}}}
	}}
	exit, _, errs := run(t, tool, "own", "-dir", dir)
	require.Equal(t, cli.ExitOK, exit, errs)
}

// A key of the greatest length, and of one byte more.
func TestKeyFiles(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "key")
	for size, want := range map[int]int{4096: cli.ExitOK, 4097: cli.ExitUsage} {
		require.NoError(t, os.WriteFile(file, bytes.Repeat([]byte("k"), size), 0o600))
		exit, _, errs := run(t, cli.Tool{Machines: []machine.Definition{workingstate.Machine}}, "state", "set", "a", "1", "--reason", "r",
			"--agent", "trader", "--dir", filepath.Join(dir, fmt.Sprint(size)), "--key-file", file)
		require.Equal(t, want, exit, errs)
	}
}

// A line break behind the key is no part of it.
func TestKeyFileEndsWithALineBreak(t *testing.T) {
	dir, key := filepath.Join(t.TempDir(), "s"), filepath.Join(t.TempDir(), "key")
	for _, text := range []string{"secret", "secret\n", "secret\r\n"} {
		require.NoError(t, os.WriteFile(key, []byte(text), 0o600))
		exit, _, errs := run(t, cli.Tool{Machines: []machine.Definition{workingstate.Machine}}, "state", "set", "a", "1", "--reason", "r",
			"--agent", "trader", "--dir", dir, "--key-file", key)
		require.Equal(t, cli.ExitOK, exit, errs)
	}
}

// A tool whose working state demands proof asks the verifier that it was given.
func TestProof(t *testing.T) {
	proof := workingstate.NewProof(guard.From("test_runner"))
	m, err := workingstate.New(workingstate.Options{Proof: proof})
	require.NoError(t, err)
	tool := cli.Tool{Machines: []machine.Definition{m}, Observers: []resume.Observer{
		resume.Pull(proof, func(_ context.Context, q guard.Query) (guard.Observed[workingstate.Proof], error) {
			return guard.Observed[workingstate.Proof]{Value: workingstate.Proof{Accepted: q.Subject == "run_7", Says: "3 of 4 passed"}, Subject: q.Subject}, nil
		}),
	}}
	dir := filepath.Join(t.TempDir(), "s")
	for _, c := range []struct {
		id   string
		exit int
		says string
	}{{"run_6", cli.ExitRefused, "proof_refused"}, {"", cli.ExitRefused, "proof_required"}, {"run_7", cli.ExitOK, "left the handoff, version 1"}} {
		args := []string{"state", "handoff", "done", "--status", "complete", "--evidence", "the tests", "--agent", "trader", "--dir", dir}
		if c.id != "" {
			args = append(args, "--proof", c.id)
		}
		exit, out, errs := run(t, tool, args...)
		require.Equal(t, c.exit, exit, errs)
		require.Contains(t, out+errs, c.says)
	}
	_, out, _ := run(t, tool, "state", "get", "--agent", "trader", "--dir", dir, "-o", "json")
	require.Contains(t, out, `"verified_by": "test_runner"`)
}
