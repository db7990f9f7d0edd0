package replay

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/pawlgo/pawl/guard"
	"github.com/pawlgo/pawl/machine"
)

// variation replays one made conversation. A yes or a no to a listing is a structured answer to each of its offers.
func (g *gate) variation(ctx context.Context, v Variation, r *Report) error {
	if g.skips(v.ID) {
		return nil
	}
	c, err := g.begin(ctx, v.ID, "")
	if err != nil {
		return err
	}
	defer c.end()
	listed := map[string][]machine.OpenOffer{}
	for i, e := range v.Events {
		c.trace.event(i, e)
		if err := g.variationEvent(ctx, c, v, e, listed, r); err != nil {
			return fmt.Errorf("%s, event %d: %w", v.ID, i, err)
		}
	}
	wrong, err := c.otherStatuses(v.FinalStatus)
	r.variationDone(v, wrong)
	return err
}

// otherStatuses are the orders that did not end as they should.
func (c *conversation) otherStatuses(want map[string]string) ([]string, error) {
	raw, err := json.Marshal(c.world.Changes())
	if err != nil {
		return nil, err
	}
	var is struct {
		Orders map[string]struct {
			Status string `json:"status"`
		} `json:"orders"`
	}
	err = json.Unmarshal(raw, &is)
	var wrong []string
	for id, status := range want {
		if got := is.Orders[id].Status; got != status {
			wrong = append(wrong, fmt.Sprintf("order %s is %q, to be %q", id, got, status))
		}
	}
	return wrong, err
}

func (g *gate) variationEvent(ctx context.Context, c *conversation, v Variation, e Event, listed map[string][]machine.OpenOffer, r *Report) error {
	switch e.Type {
	case ToolCall:
		if e.Tool != g.domain.Transfer && !slices.Contains(g.domain.SignIns, e.Tool) {
			return nil // what the assistant reads proves nothing
		}
		_, err := c.propose(ctx, e.Call)
		return err
	case Listed:
		out, err := c.list(ctx, e.Writes)
		listed[e.ID] = out.Offers
		return err
	case Customer:
		return c.answers(ctx, e, listed)
	case Changed:
		return c.world.Set(e.Path, e.Value)
	case Attempted:
		out, err := c.write(ctx, e.Call)
		if err == nil {
			r.variationWrite(v, e, out, out.Kind != machine.Committed && c.offered(ctx, e.Call))
		}
		return err
	}
	return nil
}

// answers are what the customer says to the listings that an utterance is about.
func (c *conversation) answers(ctx context.Context, e Event, listed map[string][]machine.OpenOffer) error {
	for _, id := range e.Confirms {
		if err := c.hear(ctx, listed[id], guard.Reply{Text: e.Text, Choice: guard.ChoiceYes}); err != nil {
			return err
		}
	}
	for _, id := range e.Declines {
		if err := c.hear(ctx, listed[id], guard.Reply{Text: e.Text, Choice: guard.ChoiceNo}); err != nil {
			return err
		}
	}
	return nil
}
