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
		case e.Type == Customer && len(open) > 0:
			err = c.hear(ctx, open, guard.Reply{Text: e.Text})
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

// attempt is one write of a recorded conversation: first as it came; then, if it was only the customer's yes that was missing, with
// that supplied, so that the facts are judged in any case and the world goes on as it was recorded.
func (g *gate) attempt(ctx context.Context, c *conversation, rec Run, i int, b binding, r *Report) error {
	e := rec.Events[i]
	out, err := c.write(ctx, e.Call)
	if err != nil {
		return err
	}
	a := attempt{run: rec, event: i, out: out, consent: consentOf(rec.Events, b, out.Kind == machine.Committed)}
	if a.refused = !admitted(out); a.refused {
		a.offered = c.offered(ctx, e.Call)
	}
	if out.Kind != machine.Committed && !a.refused {
		if a.out, err = c.agree(ctx, e.Call); err == nil && a.out.Kind == machine.Committed {
			a.out, err = c.write(ctx, e.Call)
		}
		if err != nil {
			return err
		}
		a.refused = a.out.Kind != machine.Committed
	}
	r.attempt(g.domain, a)
	if a.refused && e.OK {
		return c.world.Force(e.Call)
	}
	return nil
}

// attempt is what became of a recorded write.
type attempt struct {
	run     Run
	event   int
	out     machine.Outcome
	refused bool // by facts or policy, whatever the customer said
	offered bool // and all the same it was among the tools that a model would have seen
	consent consent
}
