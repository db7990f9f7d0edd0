package mcp

import (
	"cmp"
	"errors"
	"fmt"
	"log/slog"
	"time"

	projection "github.com/pawlgo/pawl/context"
	"github.com/pawlgo/pawl/guard"
	"github.com/pawlgo/pawl/machine"
	"github.com/pawlgo/pawl/machine/workingstate"
	"github.com/pawlgo/pawl/resume"
)

// ErrOptions is wrapped by the errors of [New].
var ErrOptions = errors.New("options of the MCP server")

// Options are what a [Server] is made of.
type Options struct {
	// Tasks commits. Its store and its workers are the caller's. Required.
	Tasks *resume.Controller
	// Decisions are what task_project may show, each under its own name, in the language that it shall be shown in. With none,
	// there are no task_project and no task_propose.
	Decisions []*projection.Decision
	// WorkingState is the definition that Tasks serves for working state; nil means that there are no working_state tools. An
	// agent that has none yet gets an empty one at its first call: whoever names it, by flag or by token, wants it to exist.
	WorkingState *machine.Machine[workingstate.Table]
	// Committer is what commits the working state, such as one that writes files beside it. Nil means Tasks.
	Committer workingstate.Committer
	// Layout is how the block of the working state is written.
	Layout workingstate.Layout
	// Principal is who an agent is to the controller. Nil means a principal with the agent's id and no role. A principal with the
	// operator's role is refused at each call: nothing that a model can call is an operator's.
	Principal func(agent string) guard.Principal
	// ReadOnly offers no tool that writes, refuses them when they are called, and begins no working state.
	ReadOnly bool
	// Reads and Writes bound the calls of one agent, counted by each server for itself. The zero Rate means [DefaultReads] and
	// [DefaultWrites].
	Reads, Writes resume.Rate
	// Within bounds one call. 0 means [DefaultWithin].
	Within time.Duration
	// Origins are the web origins, such as https://desk.example, whose pages may call over HTTP. None is needed for clients that
	// are no browser.
	Origins []string
	// Version is told to clients.
	Version string
	// Now is the clock that rates and the expiry of tokens are judged by; nil means [time.Now].
	Now func() time.Time
	// Log hears of denied and failed calls. Nil means nobody. Never let it write to the stdout of a server on stdio.
	Log *slog.Logger
}

func (o Options) withDefaults() Options {
	o.Reads = cmp.Or(o.Reads, DefaultReads)
	o.Writes = cmp.Or(o.Writes, DefaultWrites)
	o.Within = cmp.Or(o.Within, DefaultWithin)
	o.Version = cmp.Or(o.Version, "devel")
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Committer == nil && o.Tasks != nil {
		o.Committer = o.Tasks
	}
	if o.Principal == nil {
		o.Principal = func(agent string) guard.Principal { return guard.Principal{ID: agent} }
	}
	return o
}

func (o Options) check() error {
	var faults []error
	fault := func(format string, args ...any) { faults = append(faults, fmt.Errorf(format, args...)) }
	if o.Tasks == nil {
		fault("there is no controller")
	}
	names := map[string]bool{}
	for i, d := range o.Decisions {
		switch {
		case d == nil:
			fault("decision %d is nil", i)
		case names[d.Name()]:
			fault("two decisions are called %s", d.Name())
		default:
			names[d.Name()] = true
		}
	}
	for _, origin := range o.Origins {
		if _, err := hostOf(origin); err != nil {
			fault("%w", err)
		}
	}
	for name, r := range map[string]resume.Rate{"reads": o.Reads, "writes": o.Writes} {
		if r.Burst < 1 || r.Per <= 0 {
			fault("the rate of %s is %d in %s: both must be above zero", name, r.Burst, r.Per)
		}
	}
	if o.Within < 0 {
		fault("a call may take %s", o.Within)
	}
	if len(faults) > 0 {
		return fmt.Errorf("%w: %w", ErrOptions, errors.Join(faults...))
	}
	return nil
}
