// Package replay puts recorded conversations through a gate: each write of the recording is a proposal to a machine on a real
// store, each answer of the customer is an observation on the customer's channel, and what the machine says is compared with what
// the recording says.
package replay

import (
	"encoding/json"
	"io/fs"

	projection "github.com/pawlgo/pawl/context"
	"github.com/pawlgo/pawl/guard"
	"github.com/pawlgo/pawl/machine"
	"github.com/pawlgo/pawl/resume"
)

// Domain is a machine, and what a replay must know of its tools.
type Domain struct {
	Name     string                              // what the names of the data files begin with
	Machine  machine.Definition                  // the events are named like the tools
	Decision *projection.Decision                // shows the tools that are legal now
	Reply    guard.Fact[guard.Reply]             // what the customer says to an offer
	Listing  string                              // the event that lists writes: an object of lists of arguments, by tool
	SignIns  []string                            // the tools that say who the customer is
	Writes   []string                            // the tools that change something
	Transfer string                              // the tool that ends the conversation
	Subjects func(Call) []string                 // ids that a message names when it lists the write
	Policy   func(machine.Finding) (rule string) // the rule of a refusal that no recorded tool knows; "" for a rule of the tools
	Load     func(fs.FS) (Site, error)           // reads the databases
}

// Site is the world outside of the machine. Safe for concurrent use.
type Site interface {
	// Begin is the world of a conversation, and its task. Bench names the edition of the tools that recorded it.
	Begin(task, bench string, who guard.Principal) (machine.Task, World)
	// End forgets the world of a conversation.
	End(task string)
	// SignIn is the call that identifies a customer.
	SignIn(user string) (Call, error)
	Observers() []resume.Observer
	Handlers() []resume.Handler
	// Trust are the handles of receipts.
	Trust() []*guard.Authority
}

// World is what one conversation can change.
type World interface {
	// Perform makes a write that was admitted, once for its key, and gives the receipt.
	Perform(machine.Intent) (guard.Observation, error)
	// Force makes a recorded write that the machine refused, so that the rest of the conversation meets the world it met.
	Force(Call) error
	// Set changes a record behind the conversation's back.
	Set(path []string, value json.RawMessage) error
	// Changes are the records that are not as they were, to be compared as JSON.
	Changes() any
}
