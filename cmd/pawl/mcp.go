package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/pawlgo/pawl/cmd/pawl/cli"
	"github.com/pawlgo/pawl/cmd/pawl/mcp"
	"github.com/pawlgo/pawl/cmd/pawl/mcp/command"
	"github.com/pawlgo/pawl/machine"
	"github.com/pawlgo/pawl/machine/workingstate"
	"github.com/pawlgo/pawl/resume"
	"github.com/pawlgo/pawl/store"
)

// commands are those that pawl has beside the library's.
func commands(a *cli.App) []*cobra.Command {
	return []*cobra.Command{command.New(a, working)}
}

// working opens the working state for the MCP server.
func working(ctx context.Context, st store.Store) (mcp.Options, func() error, error) {
	ctl, err := resume.Open(ctx, st, resume.Config{Machines: []machine.Definition{workingstate.Machine}})
	return mcp.Options{Tasks: ctl, WorkingState: workingstate.Machine}, nil, err
}
