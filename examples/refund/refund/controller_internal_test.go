package refund

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/stretchr/testify/require"

	"github.com/pawlgo/pawl/guard"
	"github.com/pawlgo/pawl/machine"
	"github.com/pawlgo/pawl/machine/machinetest"
	"github.com/pawlgo/pawl/resume"
	"github.com/pawlgo/pawl/store/pebblestore"
)

// elsewhere takes the steps of a table at a controller on a Pebble store.
type elsewhere struct {
	t   *testing.T
	now time.Time
	ctl *resume.Controller
}

func openElsewhere(t *testing.T, hands []*guard.Authority) *elsewhere {
	e := &elsewhere{t: t, now: machinetest.T0}
	st, err := pebblestore.Open("store", pebblestore.Options{FS: vfs.NewMem(), Now: func() time.Time { return e.now }, CacheBytes: 1 << 20})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, st.Close()) })
	e.ctl, err = resume.Open(t.Context(), st, resume.Config{
		Machines: []machine.Definition{Machine}, Trust: hands,
		May: func(guard.Principal, machine.Head) bool { return true }, // the table's own guards say who may
		Effects: []resume.Handler{resume.Perform(IssueRefund,
			func(context.Context, machine.Job[Payment]) (Record, error) {
				return Record{}, machine.Declined(errors.New("card closed"))
			},
			func(context.Context, machine.Job[Payment]) (Record, bool, error) { return Record{}, false, nil })},
	})
	require.NoError(t, err)
	return e
}

// take takes one step, and gives its outcome; of the controller's own work there is none.
func (e *elsewhere) take(task string, s machinetest.Step) machine.Outcome {
	e.now = s.At
	var out machine.Outcome
	var err error
	switch actor := s.Proposal.Actor(); {
	case s.Proposal.Event() == "":
		out, err = e.ctl.Observe(e.t.Context(), task, s.Observations...)
	case actor.Outside():
		var session *resume.Session
		session, err = e.ctl.Resume(e.t.Context(), task, s.Principal)
		require.NoError(e.t, err)
		out, err = session.Propose(e.t.Context(), s.Proposal, s.Observations...)
	default:
		err = e.ctl.Work(e.t.Context())
	}
	require.NoError(e.t, err)
	return out
}

// differs says why a controller takes the step of a row otherwise than the pure core does; "" when it must come out the same.
func differs(c machinetest.Case) string {
	receipt := len(c.Step.Observations) > 0 && c.Step.Observations[0].Key().Fact == RefundRecord.Info().Name
	switch actor := c.Step.Proposal.Actor(); {
	case c.Step.Asked:
		return "an observer gives the answer to a question"
	case c.Outcome.Code() == machine.CodeNoEvent:
		return "with nothing in hand there is nothing to call"
	case receipt && c.Step.Proposal.Event() == "":
		return "a receipt settles its effect at once"
	case actor == guard.Worker:
		return "the worker settles what its handler answered"
	case actor == guard.Timer && c.Outcome.Kind != machine.Committed:
		return "the worker fires what is due, and nothing else"
	}
	return ""
}

// TestTableOnPebble takes the rows of the table at a controller on a Pebble store, with equal outcomes.
func TestTableOnPebble(t *testing.T) {
	cases, hands, err := machinetest.Cases(Machine, "testdata/refund.txtar")
	require.NoError(t, err)
	taken := 0
	for _, c := range cases {
		if why := differs(c); why != "" {
			continue
		}
		taken++
		t.Run(c.Name, func(t *testing.T) {
			e := openElsewhere(t, hands)
			_, err := e.ctl.Start(t.Context(), c.Task, guard.Principal{ID: c.Task.Owner})
			require.NoError(t, err)
			for _, s := range c.Way {
				e.take(c.Task.ID, s)
			}
			session, err := e.ctl.Resume(t.Context(), c.Task.ID, c.Step.Principal)
			require.NoError(t, err)
			require.Equal(t, c.Given.State, session.State())

			if c.Step.Proposal.Base() == c.Given.Version { // a receipt and what it settles are one version here
				c.Step.Proposal = c.Step.Proposal.BasedOn(session.Version())
			}
			out := e.take(c.Task.ID, c.Step)
			after, err := e.ctl.Resume(t.Context(), c.Task.ID, c.Step.Principal)
			require.NoError(t, err)
			require.Len(t, after.Snapshot().Intents, len(c.Next.Intents))
			if c.Step.Proposal.Actor() != guard.Timer {
				require.Equal(t, c.Outcome.Kind, out.Kind)
				require.Equal(t, c.Outcome.Findings, out.Findings)
			}
			if c.Outcome.Kind == machine.Committed { // what a refusal brought to light is committed on its own (law 12)
				require.Equal(t, c.Next.State, after.State())
				require.Equal(t, c.Next.Offers, after.Offers())
			}
		})
	}
	require.Greater(t, taken, len(cases)*3/4, "of %d steps", len(cases))
}
