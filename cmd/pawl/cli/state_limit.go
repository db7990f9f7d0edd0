package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/pawlgo/pawl/machine"
	"github.com/pawlgo/pawl/machine/workingstate"
)

// HandoffLimit is the flag that bounds a structured handoff, for commands that serve or change working state.
type HandoffLimit struct{ bytes int }

const handoffFlag = "handoff-bytes"

// Flag declares the flag.
func (l *HandoffLimit) Flag(c *cobra.Command) {
	c.Flags().IntVar(&l.bytes, handoffFlag, workingstate.DefaultHandoff,
		fmt.Sprintf("the most bytes of a structured handoff, 1 to %d; a longer one is refused", workingstate.MaxHandoff))
}

// Machine is the working state with that limit, the same definition otherwise. Errors are of usage: below 1 or above
// [workingstate.MaxHandoff].
func (l *HandoffLimit) Machine() (*machine.Machine[workingstate.Table], error) {
	if l.bytes < 1 || l.bytes > workingstate.MaxHandoff {
		return nil, Usage("--%s %d: 1 to %d", handoffFlag, l.bytes, workingstate.MaxHandoff)
	}
	return workingstate.New(workingstate.Options{HandoffBytes: l.bytes})
}

// limitHandoff puts the working state with the flag's limit in the place of the plain one. A working state that the tool has made has
// limits of its own.
func (a *App) limitHandoff(c *cobra.Command, l *HandoffLimit) error {
	if !c.Flags().Changed(handoffFlag) {
		return nil
	}
	m, err := l.Machine()
	if err != nil {
		return err
	}
	machines := make([]machine.Definition, len(a.tool.Machines))
	for i, d := range a.tool.Machines {
		if machines[i] = d; d == machine.Definition(workingstate.Machine) {
			machines[i] = m
		} else if d.Name() == workingstate.Name {
			return Usage("--%s: the working state of %s has a limit of its own", handoffFlag, a.tool.Name)
		}
	}
	a.tool.Machines = machines
	return nil
}
