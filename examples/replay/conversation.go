package replay

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/pawlgo/pawl/guard"
	"github.com/pawlgo/pawl/machine"
	"github.com/pawlgo/pawl/resume"
)

// conversation is one customer at the gate.
type conversation struct {
	g     *gate
	task  string
	who   guard.Principal
	world World
	s     *resume.Session
	trace tracer
}

// begin starts the task of a conversation. The caller ends it.
func (g *gate) begin(ctx context.Context, id, bench string) (*conversation, error) {
	c := &conversation{g: g, task: g.domain.Name + ":" + id, who: guard.Principal{ID: "customer_of_" + id}, trace: g.tracer(id)}
	var task machine.Task
	task, c.world = g.site.Begin(c.task, bench, c.who)
	var err error
	c.s, err = g.ctl.Start(ctx, task, c.who)
	return c, err
}

func (c *conversation) end() { c.g.site.End(c.task) }

// signIn identifies the customer.
func (c *conversation) signIn(ctx context.Context, user string) error {
	call, said, err := c.g.site.SignIn(c.g.channel, c.task, user)
	if err != nil {
		return err
	}
	var out machine.Outcome
	if call.Tool == "" {
		out, err = c.s.Observe(ctx, said...)
	} else {
		out, err = c.propose(ctx, call)
	}
	if err == nil && out.Err() != nil {
		err = fmt.Errorf("%w: %w", errUnknown, out.Err())
	}
	return err
}

// errUnknown says that a customer of a recording could not be signed in.
var errUnknown = errors.New("the customer cannot be signed in")

// ignore is an error that is not of a kind.
func ignore(err, kind error) error {
	if errors.Is(err, kind) {
		return nil
	}
	return err
}

// unidentified tells whether it is not known yet who the customer is.
func (c *conversation) unidentified() bool { return c.s.State() == c.g.domain.Unidentified }

// propose puts a call of a tool to the machine.
func (c *conversation) propose(ctx context.Context, call Call, carried ...guard.Observation) (machine.Outcome, error) {
	out, err := c.s.ProposeRaw(ctx, call.Tool, call.Args, carried...)
	c.trace.outcome(call, out)
	return out, err
}

// list puts writes to the customer: all of them, or none when one of them would be refused.
func (c *conversation) list(ctx context.Context, calls []Call, carried ...guard.Observation) (machine.Outcome, error) {
	byTool := map[string][]json.RawMessage{}
	for _, tool := range c.g.domain.Writes {
		byTool[tool] = []json.RawMessage{}
	}
	for _, call := range calls {
		byTool[call.Tool] = append(byTool[call.Tool], call.Args)
	}
	args, err := json.Marshal(byTool)
	if err != nil {
		return machine.Outcome{}, err
	}
	return c.propose(ctx, Call{c.g.domain.Listing, args}, carried...)
}

// hear observes what the customer says to offers, on the customer's own channel. Offers that are no longer open were answered
// or are void, and nothing is said to them.
func (c *conversation) hear(ctx context.Context, offers []machine.OpenOffer, reply guard.Reply) error {
	reply.By = c.who.ID
	var heard []guard.Observation
	for _, o := range offers {
		if _, open := c.s.Snapshot().Offer(o.ID); open {
			if reply.Choice == guard.ChoiceNone { // words answer the message before them, which listed it
				reply.Shown = &guard.Shown{Message: o.ID, At: o.OpenedAt}
			}
			heard = append(heard, c.g.domain.Reply.Observe(c.g.channel, guard.Observed[guard.Reply]{Value: reply, Subject: o.ID, Ref: "chat"}))
		}
	}
	if len(heard) == 0 {
		return nil
	}
	out, err := c.s.Observe(ctx, heard...)
	if err == nil && out.Kind == machine.Refused {
		err = fmt.Errorf("task %s: the customer was not heard: %w", c.task, out.Err())
	}
	return err
}

// write proposes a write and, when it is admitted, has it made: the intent is committed before, under the key that the receipt
// is about. A worker that finds it without a receipt asks for the same key again.
func (c *conversation) write(ctx context.Context, call Call) (machine.Outcome, error) {
	out, err := c.propose(ctx, call)
	if err != nil || out.Kind != machine.Committed {
		return out, err
	}
	for _, intent := range out.Intents {
		receipt, err := c.world.Perform(intent)
		if err != nil {
			return out, fmt.Errorf("task %s: %w", c.task, err)
		}
		done, err := c.s.Observe(ctx, receipt)
		if err == nil {
			err = done.Err()
		}
		if err != nil {
			return out, fmt.Errorf("task %s: receipt of %s: %w", c.task, intent.Key, err)
		}
	}
	return out, nil
}

// agree lists one write and has the customer say yes to it: what is missing for a write whose facts are all right.
func (c *conversation) agree(ctx context.Context, call Call) (machine.Outcome, error) {
	var vouched []guard.Observation
	if c.g.domain.Vouch != nil {
		vouched = c.g.domain.Vouch(c.g.channel, call)
	}
	out, err := c.list(ctx, []Call{call}, vouched...)
	if err != nil || out.Kind != machine.Committed {
		return out, err
	}
	return out, c.hear(ctx, out.Offers, guard.Reply{Choice: guard.ChoiceYes})
}

// offered tells whether a model would have had the call among its tools.
func (c *conversation) offered(ctx context.Context, call Call) bool {
	view, err := c.s.Project(ctx, c.g.domain.Decision)
	if err != nil {
		return false
	}
	_, err = view.Call(call.Tool, call.Args)
	return err == nil
}

// admitted tells whether everything but what the customer has to say allows a write.
func (g *gate) admitted(out machine.Outcome) bool {
	return out.Kind == machine.Committed || len(out.Findings) > 0 && !slices.ContainsFunc(out.Findings, func(f machine.Finding) bool { return !g.customers(f) })
}

// customers tells whether a finding only waits for the customer's word.
func (g *gate) customers(f machine.Finding) bool {
	return f.Guard == "confirm" || len(f.Missing) > 0 && !slices.ContainsFunc(f.Missing, func(k guard.Key) bool { return !g.spoken[k.Fact] })
}

// compact is a value on one line.
func compact(raw json.RawMessage) string {
	var b bytes.Buffer
	if err := json.Compact(&b, raw); err != nil {
		return string(raw)
	}
	return b.String()
}
