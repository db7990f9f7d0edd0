// Package replay puts recorded conversations through a gate: each write of the recording is a proposal to a machine on a real
// store, each answer of the customer is an observation on the customer's channel, and what the machine says is compared with what
// the recording says.
package replay

import (
	"encoding/json"
	"io/fs"
	"time"

	projection "github.com/pawlgo/pawl/context"
	"github.com/pawlgo/pawl/guard"
	"github.com/pawlgo/pawl/machine"
	"github.com/pawlgo/pawl/resume"
)

// Domain is a machine, and what a replay must know of its tools.
type Domain struct {
	Name         string                  // what the names of the data files begin with
	Machine      machine.Definition      // the events are named like the tools
	Decision     *projection.Decision    // shows the tools that are legal now
	Unidentified machine.State           // where it is not known yet who the customer is
	Reply        guard.Fact[guard.Reply] // what the customer says to an offer
	Listing      string                  // the event that lists writes: an object of lists of arguments, by tool
	SignIns      []string                // the tools that say who the customer is
	Writes       []string                // the tools that change something
	Transfer     string                  // the tool that ends the conversation

	// Said is what a message of the customer says beside answering offers, as long as it is not known who they are. Nil: nothing.
	Said func(channel *guard.Authority, task string, e Event) []guard.Observation
	// Vouch is what the customer has to have said for a write besides yes, so that its facts can be judged. Nil: nothing.
	Vouch func(channel *guard.Authority, c Call) []guard.Observation
	// Subjects are the ids that a message names when it lists the write.
	Subjects func(Call) []string
	// Policy is the rule behind a refusal that no recorded tool knows; "" for a rule of the tools.
	Policy func(machine.Finding) (rule string)
	// Load reads the databases.
	Load func(fs.FS) (Site, error)
	// Bars are what a replay of the public recordings has to reach.
	Bars Bars
}

// Site is the world outside of the machine. Safe for concurrent use.
type Site interface {
	// Begin is the world of a conversation, and its task. Bench names the edition of the tools that recorded it.
	Begin(task, bench string, who guard.Principal) (machine.Task, World)
	// Now is when the conversations take place: the store's clock starts there.
	Now() time.Time
	// End forgets the world of a conversation.
	End(task string)
	// SignIn identifies a customer: by a call of a tool, or by what the customer says when there is no such tool.
	SignIn(channel *guard.Authority, task, user string) (Call, []guard.Observation, error)
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
