// Pawl is the operator's and the agent's command line: tasks, stores, and the working state of agents.
package main

import (
	"github.com/pawlgo/pawl/cmd/pawl/cli"
	"github.com/pawlgo/pawl/machine"
	"github.com/pawlgo/pawl/machine/workingstate"
)

func main() { cli.Main(tool()) }

// tool is pawl with the machines that are built in.
func tool() cli.Tool {
	return cli.Tool{Machines: []machine.Definition{workingstate.Machine}, Missing: missing, Commands: commands}
}
