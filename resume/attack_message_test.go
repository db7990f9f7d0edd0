package resume_test

import (
	"sync"
	"testing"

	"github.com/pawlgo/pawl/guard"
	"github.com/pawlgo/pawl/machine"
	"github.com/pawlgo/pawl/resume"
	"github.com/stretchr/testify/require"
)

func buys(item string) machine.Proposal { return yes.With(buy{"s1", []string{item}}) }

// One message, used as the yes to two offers of two tasks: it is used up in the whole store, by its id, and without one by who wrote
// what and when.
func TestAttackOneMessageTwice(t *testing.T) {
	for name, id := range map[string]string{"by its id": "msg1", "without an id": ""} {
		t.Run(name, func(t *testing.T) {
			d := newLab(t)
			a, b := d.decide("lab1", "pen"), d.decide("lab2", "pen")
			at := d.clock()
			said := func(s *resume.Session) guard.Observation {
				o := labReply.Observe(d.chat, guard.Observed[guard.Reply]{Subject: s.Offers()[0].ID, At: at,
					Value: guard.Reply{By: "alice", Text: "yes", Shown: shown(s.Offers()[0])}})
				if id != "" {
					o = o.Identified(id)
				}
				return o
			}
			toB := said(b)
			d.commits(a, buys("pen"), said(a))
			out := d.refuses(b, buys("pen"), toB)
			require.Equal(t, machine.CodeNotEvidence, out.Code())
			require.Equal(t, "reply_used", out.Findings[0].Details["reason"])
			out, err := b.Observe(d.ctx, toB)
			require.NoError(t, err)
			require.Equal(t, machine.Refused, out.Kind, "nor does it count when it comes in by itself")
			require.Empty(t, b.Offers()[0].Answers)
			d.commits(b, buys("pen"), d.reply(b.Offers()[0].ID, "yes").Identified("msg2"))
		})
	}
}

// A message that has been heard at one task is used up there, before anybody acts on it.
func TestAttackOneMessageHeardTwice(t *testing.T) {
	d := newLab(t)
	a, b := d.decide("lab1", "pen"), d.decide("lab2", "pen")
	heard, err := a.Observe(d.ctx, d.reply(a.Offers()[0].ID, "yes").Identified("msg1"))
	require.NoError(t, err)
	require.NoError(t, heard.Err())
	d.refuses(b, buys("pen"), d.reply(b.Offers()[0].ID, "yes").Identified("msg1"))
	d.commits(a, buys("pen"))
}

// The same message once more at the same offer is a duplicate, and does no harm: the channel may deliver twice.
func TestOneMessageDeliveredTwice(t *testing.T) {
	d := newLab(t)
	a := d.decide("lab1", "pen")
	said := d.reply(a.Offers()[0].ID, "yes").Identified("msg1")
	for i, kind := range []machine.Kind{machine.Committed, machine.Unchanged} {
		out, err := a.Observe(d.ctx, said)
		require.NoError(t, err)
		require.Equal(t, kind, out.Kind, "%d", i)
	}
	d.commits(a, buys("pen"), said)
}

// One message raced to the offers of many tasks by two controllers on one store: one task has it.
func TestAttackOneMessageRaced(t *testing.T) {
	d := newLab(t)
	const tasks = 8
	controllers := []*resume.Controller{d.ctl, d.lab(nil)}
	var begin, done sync.WaitGroup
	begin.Add(1)
	kinds := make([]machine.Kind, tasks)
	for i := range tasks {
		d.decide("lab"+string(rune('a'+i)), "pen")
		s, err := controllers[i%2].Resume(d.ctx, "lab"+string(rune('a'+i)), alice)
		require.NoError(t, err)
		said := d.reply(s.Offers()[0].ID, "yes").Identified("msg1")
		done.Go(func() {
			begin.Wait()
			out, err := s.Propose(d.ctx, buys("pen"), said)
			if err != nil {
				t.Error(err)
			}
			kinds[i] = out.Kind
		})
	}
	begin.Done()
	done.Wait()
	committed := 0
	for _, k := range kinds {
		if k == machine.Committed {
			committed++
		}
	}
	require.Equal(t, 1, committed, "%v", kinds)
	list, _, err := d.st.Effects(d.ctx, "", 0)
	require.NoError(t, err)
	require.Len(t, list, 1)
}
