package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime/debug"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/pawlgo/pawl/machine"
	"github.com/pawlgo/pawl/resume"
	"github.com/pawlgo/pawl/store"
)

// Tool is what a command line is made of. The zero value is a tool that knows no machine: it can still look at every store.
type Tool struct {
	// Name of the program, in its help, its errors, and the note by which others know it. "" means pawl.
	Name string
	// Version of the program; "" means what the build knows.
	Version string
	// Machines are those that "graph" and "table" know, and for whose tasks "task show" tells what may be proposed. With working
	// state among them there is the command "state".
	Machines []machine.Definition
	// Missing writes the rows that a transition table still needs: machinetest.Missing. It is handed in, because that package
	// brings test libraries with it; nil leaves the command "table" out.
	Missing func(d machine.Definition, path string) (string, error)
	// Observers ask the sources of the facts of a working state that demands proof; see workingstate.Options.
	Observers []resume.Observer
	// Controller opens the service's own controller on a store, with its machines, observers and handlers, for the commands that commit to
	// its tasks: "effect settle", "store release" and "store count". Nil makes these say that another tool is needed.
	Controller func(context.Context, store.Store) (*resume.Controller, error)
	// Commands are further commands, such as a server's; nil means none.
	Commands func(*App) []*cobra.Command
	// Now is the clock; nil means time.Now.
	Now func() time.Time
}

// Streams are what a program reads and writes.
type Streams struct {
	In       io.Reader
	Out, Err io.Writer
}

// Main runs the tool with the arguments of the process, and ends the process with the exit code. An interrupt ends the command
// first; a second one ends the process.
func Main(t Tool) {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop)
	os.Exit(Run(ctx, t, os.Args[1:], Streams{os.Stdin, os.Stdout, os.Stderr}))
}

// Run runs the tool with arguments, and returns the exit code.
func Run(ctx context.Context, t Tool, args []string, s Streams) int {
	if t.Name == "" {
		t.Name = "pawl"
	}
	if t.Now == nil {
		t.Now = time.Now
	}
	a := &App{tool: t, io: s}
	root := a.root()
	root.SetArgs(a.doubled(root, args))
	root.SetIn(s.In)
	root.SetOut(s.Out)
	root.SetErr(s.Err)
	err := root.ExecuteContext(ctx)
	if ctx.Err() != nil && err != nil {
		err = errors.Join(ctx.Err(), err)
	}
	a.complain(err)
	exit, _ := exitOf(err)
	return exit
}

// complaint is an error in JSON.
type complaint struct {
	Code     string            `json:"code"`
	Exit     int               `json:"exit"`
	Text     string            `json:"text"`
	Hint     string            `json:"hint,omitempty"`
	Findings []machine.Finding `json:"findings,omitempty"` // of a refusal
}

// complain says what went wrong.
func (a *App) complain(err error) {
	if err == nil {
		return
	}
	exit, code := exitOf(err)
	c := complaint{Code: code, Exit: exit, Text: err.Error()}
	if h, ok := errors.AsType[*hinted](err); ok {
		c.Hint = strings.TrimRight(h.hint, "\n")
	}
	if r, ok := errors.AsType[*RefusedError](err); ok {
		c.Findings = r.Outcome.Findings
	}
	switch {
	case a.output == outputJSON || a.output == outputLines:
		e := json.NewEncoder(a.io.Err)
		e.SetEscapeHTML(false)
		_ = e.Encode(map[string]complaint{"error": c}) // nobody is left to tell
		return
	case exit == ExitInterrupted:
		c.Text, c.Hint = "interrupted", ""
	}
	a.say("%s", c.Text)
	if c.Hint != "" {
		fmt.Fprintln(a.io.Err, printable(c.Hint))
	}
}

// version is that of the tool, or of the module that it was built from.
func (t Tool) version() string {
	if t.Version != "" {
		return t.Version
	}
	if b, ok := debug.ReadBuildInfo(); ok && b.Main.Version != "" {
		return b.Main.Version
	}
	return "(devel)"
}
