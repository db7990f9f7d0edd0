package replay

import (
	"context"
	"fmt"
	"slices"

	"github.com/pawlgo/pawl/guard"
	"github.com/pawlgo/pawl/machine"
)

// run replays a recorded conversation. The messages in which the assistant named what it wrote later become listings of just
// that; what the customer answered is heard word for word; each write is proposed as it was called.
func (g *gate) run(ctx context.Context, rec Run, r *Report) error {
	if g.skips(rec.ID) {
		return nil
	}
	c, err := g.begin(ctx, rec.ID, rec.Bench)
	if err != nil {
		return err
	}
	defer c.end()
	bindings, listings := g.listings(rec)
	var open []machine.OpenOffer
	for i, e := range rec.Events {
		c.trace.event(i, e)
		switch {
		case e.Type == Assistant && len(listings[i]) > 0:
			var out machine.Outcome
			out, err = c.list(ctx, listings[i])
			open = out.Offers
		case e.Type == Customer:
			err = c.said(ctx, e, open)
			open = nil
		case e.Type == ToolCall:
			err = g.recordedCall(ctx, c, rec, i, bindings[i], r)
		}
		if err != nil {
			return fmt.Errorf("%s, event %d: %w", rec.ID, i, err)
		}
	}
	r.runDone()
	return nil
}

// listings are the writes that each message of the assistant lists, and each write's binding.
func (g *gate) listings(rec Run) (map[int]binding, map[int][]Call) {
	bindings, listings := map[int]binding{}, map[int][]Call{}
	for i, e := range rec.Events {
		if e.Type != ToolCall || !slices.Contains(g.domain.Writes, e.Tool) {
			continue
		}
		b := bindingOf(rec.Events, i, g.domain.Subjects(e.Call))
		bindings[i] = b
		if b.listed >= 0 {
			listings[b.listed] = append(listings[b.listed], e.Call)
		}
	}
	return bindings, listings
}

func (g *gate) recordedCall(ctx context.Context, c *conversation, rec Run, i int, b binding, r *Report) error {
	e := rec.Events[i]
	switch {
	case slices.Contains(g.domain.Writes, e.Tool):
		return g.attempt(ctx, c, rec, i, b, r)
	case e.Tool == g.domain.Transfer, slices.Contains(g.domain.SignIns, e.Tool) && e.Differs == nil:
		_, err := c.propose(ctx, e.Call) // where the recording differs, the service had failed
		return err
	}
	return nil
}

// said is a message of the customer: an answer to what was listed just before, or the word who they are.
func (c *conversation) said(ctx context.Context, e Event, open []machine.OpenOffer) error {
	if c.unidentified() && c.g.domain.Said != nil {
		if said := c.g.domain.Said(c.g.channel, c.task, e); len(said) > 0 {
			_, err := c.s.Observe(ctx, said...)
			return err
		}
	}
	return c.hear(ctx, open, guard.Reply{Text: e.Text})
}

// attempt is one write of a recorded conversation: first as it came; then, where it was only the customer's word that was missing,
// with that supplied, so that the facts are judged in any case and the world goes on as it was recorded.
func (g *gate) attempt(ctx context.Context, c *conversation, rec Run, i int, b binding, r *Report) error {
	e := rec.Events[i]
	out, err := c.write(ctx, e.Call)
	if err != nil {
		return err
	}
	a := attempt{run: rec, event: i, out: out, unidentified: c.unidentified(), consent: consentOf(rec.Events, b, out.Kind == machine.Committed)}
	a.offered = out.Kind != machine.Committed && c.offered(ctx, e.Call)
	if a.out, err = g.supplied(ctx, c, rec.User, e.Call, out); err != nil {
		return err
	}
	a.refused = a.out.Kind != machine.Committed
	r.attempt(g, a)
	if a.refused && e.OK {
		if err := c.world.Force(e.Call); err != nil {
			r.lost(fmt.Sprintf("%s event %d: %v", rec.ID, i, err))
		}
	}
	return nil
}

// supplied proposes a write once more with what the customer had to say for it, unless its facts refuse it anyway.
func (g *gate) supplied(ctx context.Context, c *conversation, user string, call Call, out machine.Outcome) (machine.Outcome, error) {
	var err error
	if c.unidentified() {
		c.trace.say("  the replay supplies who the customer is, for the facts to be judged")
		if err := c.signIn(ctx, user); err != nil {
			return out, ignore(err, errUnknown) // the recording does not know them either
		}
		out, err = c.write(ctx, call)
	}
	if err != nil || out.Kind == machine.Committed || !g.admitted(out) {
		return out, err
	}
	c.trace.say("  the replay supplies the customer's yes, for the facts to be judged")
	if out, err = c.agree(ctx, call); err != nil || out.Kind != machine.Committed {
		return out, err
	}
	return c.write(ctx, call)
}

// attempt is what became of a recorded write.
type attempt struct {
	run          Run
	event        int
	out          machine.Outcome // with the customer's word supplied
	refused      bool            // all the same: by facts, or because nothing follows a transfer
	unidentified bool            // it was not known who the customer is
	offered      bool            // not admitted as it came, and yet among the tools that a model would have seen
	consent      consent
}
