// Tabletest writes the rows that a transition table of a machine of pawl still needs: tabletest MACHINE FILE. It is a program of its
// own because machinetest brings test libraries with it, and pawl must not; "pawl table missing" runs it with the go tool.
package main

import (
	"fmt"
	"os"

	"github.com/pawlgo/pawl/machine"
	"github.com/pawlgo/pawl/machine/machinetest"
	"github.com/pawlgo/pawl/machine/workingstate"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) != 2 {
		return fmt.Errorf("usage: tabletest MACHINE FILE")
	}
	for _, d := range []machine.Definition{workingstate.Machine} {
		if d.Name() == args[0] {
			rows, err := machinetest.Missing(d, args[1])
			fmt.Print(rows)
			return err
		}
	}
	return fmt.Errorf("there is no machine %s", args[0])
}
