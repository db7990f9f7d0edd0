package cli_test

import (
	"context"
	"os"
	"time"

	"github.com/pawlgo/pawl/cmd/pawl/cli"
	"github.com/pawlgo/pawl/guard"
	"github.com/pawlgo/pawl/machine"
	"github.com/pawlgo/pawl/machine/machinetest"
	"github.com/pawlgo/pawl/machine/workingstate"
)

// door is a machine of the service's own.
func door() *machine.Machine[struct{}] {
	b := machine.New[struct{}]("door", "closed")
	b.Final("open")
	machine.On(b, machine.NewEvent[machine.None]("push")).From("closed").To("open").By(guard.User)
	return b.MustBuild()
}

// A service makes the same tool with its own machines; in its main function it is cli.Main(tool). machinetest.Missing is for the
// tool of the service's developers, since it brings test libraries with it.
func Example() {
	tool := cli.Tool{
		Name:     "desk",
		Version:  "v1.4.0",
		Machines: []machine.Definition{door(), workingstate.Machine},
		Missing:  machinetest.Missing,
		Now:      func() time.Time { return time.Date(2026, 11, 30, 9, 0, 0, 0, time.UTC) },
	}
	cli.Run(context.Background(), tool, []string{"graph", "door"}, cli.Streams{Out: os.Stdout, Err: os.Stderr})
	cli.Run(context.Background(), tool, []string{"table", "missing", "door", "testdata/door.txtar"}, cli.Streams{Out: os.Stdout, Err: os.Stderr})
	// Output:
	// stateDiagram-v2
	//     [*] --> closed
	//     closed --> open: push by user
	//     open --> [*]
	// given | after | facts | by      | event | payload | outcome | state | brings | why
	// ?     |       |       | model/? | push  |         | ?       | ?     | ?      | ?
}
