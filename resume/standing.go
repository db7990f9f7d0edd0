package resume

import (
	"context"
	"fmt"

	"github.com/pawlgo/pawl/guard"
	"github.com/pawlgo/pawl/machine"
	"github.com/pawlgo/pawl/store"
)

const codeNoSend = "no_send" // the task is in a state in which nothing is sent

// standing judges what must still hold for the effect to be sent, on facts that are observed again for it. What that brings to light
// about the task is committed on its own (law 12).
func (j *job) standing(ctx context.Context) (v guard.Verdict, err error) {
	if s := j.s.State(); !j.s.at.m.Sends(s) {
		return guard.Deny(codeNoSend, "in "+string(s)+" nothing is sent"), nil
	}
	if len(j.handler.effect.While) == 0 {
		return guard.Allow(), nil
	}
	r := &request{}
	if r.received, err = j.c.now(ctx); err != nil {
		return v, err
	}
	asking, end := j.unlessStopped(ctx)
	defer end()
	can := func(f guard.AnyFact) bool { _, ok := j.c.observers[f.Info().Name]; return ok }
	for range MaxRounds {
		now, err := j.c.now(ctx)
		if err != nil {
			return v, err
		}
		v = j.s.at.m.Standing(j.s.at.snap, j.intent.Key, machine.Input{Evidence: r.evidence, Received: r.received, Now: now}, can)
		if !v.Unknown() {
			break
		}
		if more, err := j.s.ask(asking, r, v.Missing()); err != nil || !more {
			break
		}
	}
	if _, err := j.s.land(ctx, r.evidence); err != nil {
		j.c.cfg.Problem(fmt.Errorf("task %s, effect %s: keep what was observed: %w", j.row.Task, j.row.ID, err))
	}
	return v, nil
}

// hinder says what becomes of an effect that may not be sent now: nothing of it has left in this attempt.
func (j *job) hinder(ctx context.Context, v guard.Verdict, err error) error {
	switch {
	case err != nil:
		return err
	case j.done.Maybe:
		return j.later(ctx, store.Unknown, j.done.Lookups, "the provider has nothing under the key, and what it stood on is not so now: "+v.Text())
	case v.Denied():
		return j.settle(ctx, j.handler.effect.Fail(j.intent.Key, "it was not sent, for what it stood on is no longer so: "+v.Text()))
	}
	return j.putOff(ctx, "what must still hold is not known now")
}

// leaseOver tells whether the claim has run out before anything was sent: whoever has claimed the effect since decides about it
// (case B051).
func (j *job) leaseOver(ctx context.Context) (bool, error) {
	now, err := j.c.st.Now(ctx)
	return err == nil && j.row.Hold > 0 && now >= j.row.Hold, err
}
