package command_test

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/pawlgo/pawl/cmd/pawl/cli"
	"github.com/pawlgo/pawl/cmd/pawl/mcp"
	"github.com/pawlgo/pawl/cmd/pawl/mcp/command"
	projection "github.com/pawlgo/pawl/context"
	"github.com/pawlgo/pawl/examples/refund/refund"
	"github.com/pawlgo/pawl/machine"
	"github.com/pawlgo/pawl/machine/workingstate"
	"github.com/pawlgo/pawl/resume"
	"github.com/pawlgo/pawl/store"
)

var config = resume.Config{Machines: []machine.Definition{workingstate.Machine, refund.Machine}}

var _ = main // a test has a main of its own

func main() {
	cli.Main(cli.Tool{
		Machines: []machine.Definition{workingstate.Machine, refund.Machine},
		Commands: func(a *cli.App) []*cobra.Command { return []*cobra.Command{command.New(a, serve)} },
	})
}

// serve opens what is served, on the store that --dir names.
func serve(ctx context.Context, st store.Store) (mcp.Options, func() error, error) {
	ctl, err := resume.Open(ctx, st, config) // machines, observers, effects, as everywhere
	if err != nil {
		return mcp.Options{}, nil, err
	}
	working, stop := context.WithCancel(ctx)
	ended := make(chan error, 1)
	go func() { ended <- ctl.Run(working) }() // timers and effects
	o := mcp.Options{Tasks: ctl, WorkingState: workingstate.Machine, Decisions: []*projection.Decision{refund.InterpretReply}}
	return o, func() error { stop(); <-ended; return nil }, nil
}
