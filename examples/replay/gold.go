package replay

import (
	"context"
	"fmt"

	"github.com/pawlgo/pawl/machine"
)

// gold replays one gold task: its customer is signed in, and says yes to each write after it was listed.
func (g *gate) gold(ctx context.Context, t Gold, r *Report) error {
	id := fmt.Sprintf("gold:%s:%s:%s", t.Bench, t.Split, t.Task)
	if g.skips(id) {
		return nil
	}
	c, err := g.begin(ctx, id, "")
	if err != nil {
		return err
	}
	defer c.end()
	flagged, agreed := false, true
	if err := c.signIn(ctx, t.User); err != nil {
		if err := ignore(err, errUnknown); err != nil {
			return fmt.Errorf("%s: sign in %s: %w", id, t.User, err)
		}
		agreed = false
	}
	for _, a := range t.Actions {
		flagged = flagged || len(a.Flags) > 0
		ok, err := g.goldAction(ctx, c, a, r)
		if err != nil {
			return err
		}
		agreed = agreed && ok
	}
	equal, err := same(c.world.Changes(), t.Final)
	if err != nil {
		return err
	}
	if !equal {
		c.trace.say("final state differs:\n  is %s\n  should be %s", text(c.world.Changes()), compact(t.Final))
	}
	r.goldTask(id, flagged, agreed, equal)
	return nil
}

// goldAction tells whether a step came out as the task says.
func (g *gate) goldAction(ctx context.Context, c *conversation, a Action, r *Report) (bool, error) {
	switch a.Kind {
	case "transfer":
		out, err := c.propose(ctx, a.Call)
		return out.Kind == machine.Committed, err
	case "write":
	default:
		return true, nil
	}
	if _, err := c.agree(ctx, a.Call); err != nil {
		return false, err
	}
	out, err := c.write(ctx, a.Call)
	if err != nil {
		return false, err
	}
	expected := a.OK && len(a.Flags) == 0 // a gold write that breaks the policy is to be refused
	ok := (out.Kind == machine.Committed) == expected
	r.goldWrite(ok)
	if out.Kind != machine.Committed && a.OK {
		return ok, c.world.Force(a.Call)
	}
	return ok, nil
}
