package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/pawlgo/pawl/cmd/pawl/cli"
	"github.com/pawlgo/pawl/cmd/pawl/mcp"
	"github.com/pawlgo/pawl/cmd/pawl/mcp/command"
	"github.com/pawlgo/pawl/machine"
	"github.com/pawlgo/pawl/resume"
	"github.com/pawlgo/pawl/store"
)

// commands are those that pawl has beside the library's.
func commands(a *cli.App) []*cobra.Command {
	var limit cli.HandoffLimit
	c := command.New(a, func(ctx context.Context, st store.Store) (mcp.Options, func() error, error) {
		return working(ctx, st, &limit)
	})
	limit.Flag(c)
	c.PreRunE = func(*cobra.Command, []string) error { // before a store is made
		_, err := limit.Machine()
		return err
	}
	return []*cobra.Command{c}
}

// working opens the working state for the MCP server.
func working(ctx context.Context, st store.Store, limit *cli.HandoffLimit) (mcp.Options, func() error, error) {
	m, err := limit.Machine()
	if err != nil {
		return mcp.Options{}, nil, err
	}
	ctl, err := resume.Open(ctx, st, resume.Config{Machines: []machine.Definition{m}})
	return mcp.Options{Tasks: ctl, WorkingState: m}, nil, err
}
