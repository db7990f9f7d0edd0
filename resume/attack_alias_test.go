package resume_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/pawlgo/pawl/guard"
	"github.com/pawlgo/pawl/machine"
	"github.com/stretchr/testify/require"
)

// stored is the task as the bytes in the store say it is.
func (d *labDesk) stored(id string) machine.Snapshot[any] {
	r, _, err := d.st.Load(d.ctx, id)
	require.NoError(d.t, err)
	s, err := machine.Erase(lab).Decode(r.Snapshot)
	require.NoError(d.t, err)
	return s
}

// What is handed out is written over; the next commit must not carry it.
func TestAttackWriteIntoWhatIsHandedOut(t *testing.T) {
	d := newLab(t)
	s := d.decide("lab1", "pen", "ink")
	before := d.stored("lab1")

	snap := s.Snapshot()
	data := snap.Data.(basket)
	data.Items[0], data.Tags["k"] = "gold", "gold"
	for i, e := range snap.Facts.All() {
		if m, ok := e.Value.(map[string]int); ok {
			m["gold"] = 1
		}
		snap.Facts.All()[i].Source = "me"
	}
	snap.Facts.Subjects()["shop"][0] = "mine"
	snap.Offers[0].Effects[0].Args, snap.Offers[0].Stands[0].Digest, snap.Offers[0].To = "{}", "x", "me"
	snap.Offers[1].Payload.(buy).Items[0] = "gold"
	snap.Waiting.Until, snap.Timers[0].Due = time.Time{}, time.Time{}
	offers := s.Offers()
	offers[0].Effects[0].Args, offers[0].Stands[0].Digest = "{}", "x"
	offers[1].Payload.(buy).Items[0] = "gold"
	r, err := s.Report(d.ctx)
	require.NoError(t, err)
	r.Waiting.Until, r.Offers[0].Stands[0].Digest = time.Time{}, "x"
	for _, f := range r.Facts {
		if m, ok := f.Value.(map[string]int); ok {
			m["gold"] = 1
		}
	}
	permits, err := s.Permits(d.ctx)
	require.NoError(t, err)
	for _, p := range permits {
		p.By[0] = guard.Worker
	}

	again, err := d.ctl.Resume(d.ctx, "lab1", alice)
	require.NoError(t, err)
	for _, x := range []machine.Snapshot[any]{s.Snapshot(), again.Snapshot()} {
		a, err := machine.Erase(lab).Encode(nil, before)
		require.NoError(t, err)
		b, err := machine.Erase(lab).Encode(nil, x)
		require.NoError(t, err)
		require.Equal(t, string(a), string(b))
	}
	d.commits(s, yes.With(buy{"s1", []string{"pen"}}), d.button(s.Offers()[0].ID))
	require.Equal(t, []string{"pen", "ink"}, d.stored("lab1").Data.(basket).Items)
}

// What an outcome holds is written over.
func TestAttackWriteIntoAnOutcome(t *testing.T) {
	d := newLab(t)
	s := d.begin("lab1", "pen")
	out := d.commits(s, ask.With(machine.None{}).As(guard.User))
	out.Offers[0].Effects[0].Args, out.Offers[0].Stands[0].Digest = "{}", "x"
	out.Offers[0].Payload.(buy).Items[0] = "gold"
	out.Entry().Evidence[0].Value = nil
	out = d.commits(s, yes.With(buy{"s1", []string{"pen"}}), d.reply(s.Offers()[0].ID, "yes"))
	out.Intents[0].Args.(order).Items[0] = "gold"
	require.Equal(t, []string{"pen"}, s.Snapshot().Intents[0].Args.(order).Items)
	d.pays = func(_ context.Context, j machine.Job[order]) (paid, error) {
		return paid{slices.Clone(j.Args.Items)}, nil
	}
	require.NoError(t, d.ctl.Work(d.ctx))
	require.Equal(t, []string{"pen"}, d.stored("lab1").Intents[0].Args.(order).Items)
}

// A handler writes into its arguments, so that a receipt of something else would match.
func TestAttackHandlerWritesIntoItsArguments(t *testing.T) {
	d := newLab(t)
	s := d.decide("lab1", "pen")
	d.commits(s, yes.With(buy{"s1", []string{"pen"}}), d.reply(s.Offers()[0].ID, "yes"))
	d.pays = func(_ context.Context, j machine.Job[order]) (paid, error) {
		j.Args.Items[0] = "gold"
		return paid{[]string{"gold"}}, nil
	}
	require.NoError(t, d.ctl.Work(d.ctx))
	now, err := d.ctl.Resume(d.ctx, "lab1", alice)
	require.NoError(t, err)
	require.Equal(t, buying, now.State())
	require.Equal(t, []string{"pen"}, now.Snapshot().Intents[0].Args.(order).Items)
}

// Payload, data, observation and reply are written over after they were handed in.
func TestAttackWriteIntoWhatWasHandedIn(t *testing.T) {
	d := newLab(t)
	items, tags, value := []string{"pen"}, map[string]string{"k": "v"}, map[string]int{"pen": 1}
	s, err := d.ctl.Start(d.ctx, lab.Task("lab1", alice, basket{"s1", items, tags}), alice)
	require.NoError(t, err)
	items[0], tags["k"] = "gold", "gold"
	next := []string{"ink"}
	d.commits(s, put.With(setItems{next}).As(guard.User), stock.Observe(d.warehouse, guard.Observed[map[string]int]{Value: value, Subject: "s1"}))
	next[0], value["pen"] = "gold", 99
	snap := s.Snapshot()
	require.Equal(t, basket{"s1", []string{"ink"}, map[string]string{"k": "v"}}, snap.Data)
	e, _ := snap.Facts.Entry(guard.Key{Fact: "stock", Subject: "s1"})
	require.Equal(t, map[string]int{"pen": 1}, e.Value)
}
