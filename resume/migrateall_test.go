package resume_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/pawlgo/pawl/guard"
	"github.com/pawlgo/pawl/machine"
	"github.com/pawlgo/pawl/resume"
	"github.com/pawlgo/pawl/store"
	"github.com/stretchr/testify/require"
)

// MigrateAll goes through a live store page by page, over a power cut, and leaves what cannot go over as it is. The dry run said so
// before.
func TestMigrateAll(t *testing.T) {
	p := newPost(t)
	old := p.serve(nil, letter1())
	p.asked(old, "asked")
	p.agreed(old, "agreed")
	for n := range 7 {
		_, err := old.Start(p.ctx, letter1().Task(fmt.Sprint("new", n), alice, letterV1{"l1", "Dear Bob", 1}), alice)
		require.NoError(t, err)
	}
	_, err := p.serve(nil, letter3()).Start(p.ctx, letter3().Task("newest", alice, letterV2{"l1", []string{"x"}, 1}), alice)
	require.NoError(t, err)
	odd := machine.MustMigrate(letter1(), letter2(), func(d letterV1) (letterV2, error) {
		if d.Copies == 2 {
			return letterV2{}, errReset // those of asked and agreed
		}
		return letterV2{d.ID, []string{d.Text}, d.Copies}, nil
	}, machine.RenameState(asked1, awaiting))
	steps := []machine.Migration{odd, letterSteps()[1]}
	serve := func() *resume.Controller { return p.serve(steps, letter1(), letter2(), letter3()) }
	ctl := serve()
	dry, err := ctl.DryRunMigration(p.ctx, "letter")
	require.NoError(t, err)

	_, _, err = ctl.MigrateAll(p.ctx, "letter", alice, "", 0)
	require.ErrorIs(t, err, resume.ErrOperator)
	_, _, err = ctl.MigrateAll(p.ctx, "parcel", operator, "", 0)
	require.ErrorIs(t, err, resume.ErrMachine)

	went, stuck, pages, after := 0, map[string]string{}, 0, ""
	for {
		r, next, err := ctl.MigrateAll(p.ctx, "letter", operator, after, 3)
		require.NoError(t, err)
		require.LessOrEqual(t, r.Tasks, 3)
		for _, x := range r.Troubles {
			stuck[x.Task] = x.Code
		}
		went += r.Ready
		pages++
		if after = next; next == "" {
			break
		}
		p.cut()
		ctl = serve()
	}
	require.Equal(t, dry.Ready, went)
	require.Equal(t, map[string]string{"asked": machine.CodeMigratedData, "agreed": machine.CodeMigratedData}, stuck)
	require.Equal(t, dry.Failing, map[string]int{machine.CodeMigratedData: len(stuck)})
	require.GreaterOrEqual(t, pages, 4)

	r, next, err := ctl.MigrateAll(p.ctx, "letter", operator, "", 0)
	require.NoError(t, err)
	require.Empty(t, next)
	require.Equal(t, []int{10, 8, 0, 0, 2}, []int{r.Tasks, r.Current, r.Staying, r.Ready, r.Failing[machine.CodeMigratedData]}, "once is enough")
	s := p.resume(ctl, "new0")
	for e, err := range s.History(p.ctx) {
		require.NoError(t, err)
		require.Equal(t, []string{machine.EntryMigrated, "olga"}, []string{e.Event, e.Principal})
		break
	}
	r, _, err = p.serve(nil, letter1(), letter3()).MigrateAll(p.ctx, "letter", operator, "", 0)
	require.NoError(t, err)
	require.Equal(t, []int{10, 8, 2, 0}, []int{r.Tasks, r.Current, r.Staying, r.Ready})
	r, _, err = p.serve(nil, letter3()).MigrateAll(p.ctx, "letter", operator, "", 0)
	require.NoError(t, err)
	require.Equal(t, map[string]int{resume.CodeUnserved: 2}, r.Failing)
}

// A letter that has been asked about goes over: its offer is void and says why, its deadlines stand under their new names, and of
// what is believed only what counts for no longer than before counts at all.
func TestMigrationKeepsMeaning(t *testing.T) {
	p := newPost(t)
	s := p.asked(p.serve(nil, letter1()), "t")
	yes := p.agrees(s)
	was := s.Snapshot()
	ctl := p.serve(letterSteps(), letter1(), letter2(), letter3())
	s = p.resume(ctl, "t")
	is := s.Snapshot()
	require.Equal(t, awaiting, is.State)

	require.Empty(t, is.Offers)
	var entries []machine.Entry
	for e, err := range s.History(p.ctx) {
		require.NoError(t, err)
		entries = append(entries, e)
	}
	require.Len(t, entries[1].Voided, 1)
	require.Equal(t, was.Offers[0].ID, entries[1].Voided[0].Offer)
	require.Equal(t, machine.VoidDefinition, entries[1].Voided[0].Reason)
	out, err := ctl.Observe(p.ctx, "t", yes)
	require.NoError(t, err)
	require.Equal(t, machine.CodeOtherSubject, out.Code(), "the question is gone, and so is the answer")
	out, err = s.Propose(p.ctx, sendLetter.With(sendOff{"l1", 2}).As(guard.User), yes)
	require.NoError(t, err)
	require.NotEqual(t, machine.Committed, out.Kind)
	require.False(t, s.Snapshot().Emitted(postIt))

	due := func(h machine.Head, event string) time.Time {
		i := slices.IndexFunc(h.Timers, func(a machine.ArmedTimer) bool { return a.Event == event })
		require.GreaterOrEqual(t, i, 0, event)
		return h.Timers[i].Due
	}
	require.Equal(t, due(was.Head, "late"), due(is.Head, "overdue_answer"))
	require.Equal(t, due(was.Head, "nagged"), due(is.Head, "nagged"))
	require.Equal(t, was.Waiting, is.Waiting)

	left := entries[1].Migrated
	require.Equal(t, []guard.Key{{Fact: "weight", Subject: "l1"}}, left.Forgotten)
	require.Equal(t, []guard.Key{{Fact: "franked", Subject: "l1"}}, left.Doubted)
	by, known := writer.Get(is.Facts)
	require.True(t, known)
	require.Equal(t, "alice", by, "the same authority, type and subject")
	_, known = stamped.Get(is.Facts)
	require.False(t, known, "it would count for four hours now")

	old := func(o *guard.Observed[bool]) { o.At = p.now.Add(-time.Hour) }
	for _, o := range []guard.Observation{says(p, route, "south", func(o *guard.Observed[string]) { o.Seq = 6 }), says(p, stamped, true, old)} {
		out, err := ctl.Observe(p.ctx, "t", o)
		require.NoError(t, err)
		require.Equal(t, machine.Unchanged, out.Kind)
	}
	facts := p.resume(ctl, "t").Snapshot().Facts
	way, _ := route.Get(facts)
	require.Equal(t, "north", way, "what is older stays older")
	_, known = stamped.Get(facts)
	require.False(t, known, "what is older than what was doubted tells nothing")

	p.tell(ctl, "t", says(p, stamped, true))
	p.tick(31 * time.Minute) // the author was good for an hour, the writer is for half of one
	drop, ask := p.resume(ctl, "t"), machine.Erase(letter3())
	require.Equal(t, guard.Stale, statusOf(ask, drop.Snapshot(), writer, p.now))
	require.Equal(t, guard.Verified, statusOf(ask, drop.Snapshot(), stamped, p.now))
}

// statusOf is what a guard would find of a fact now.
func statusOf(m *machine.Machine[any], s machine.Snapshot[any], f guard.AnyFact, now time.Time) guard.Status {
	_, status := m.Look(s, alice, now).Reading(f)
	return status
}

// An effect whose outcome is unknown goes over with its key and its holds, over a power cut, and is looked up under the later
// definition: it is never sent again.
func TestMigrationOfAnUnknownEffect(t *testing.T) {
	p := newPost(t)
	old := p.serve(nil, letter1())
	key := p.agreed(old, "t").Snapshot().Intents[0].Key
	p.holds = true
	require.NoError(t, old.Work(p.ctx))
	ctl := p.serve(letterSteps(), letter1(), letter2(), letter3())
	s := p.resume(ctl, "t")
	require.Equal(t, letter3().Stamp(), s.Snapshot().Stamp())
	require.Equal(t, key, s.Snapshot().Intents[0].Key)
	require.True(t, s.Snapshot().Intents[0].Unsettled())
	require.Contains(t, p.stamps(), key, "unknown holds what it took")
	p.cut()
	p.holds = false
	p.tick(24 * time.Hour)
	ctl = p.serve(letterSteps(), letter1(), letter2(), letter3())
	require.NoError(t, ctl.Work(p.ctx))
	require.Equal(t, sent, p.resume(ctl, "t").State())
	require.Equal(t, []string{key}, p.sends)
	require.Equal(t, `{"used":2,"holds":[]}`, p.stamps())
}

// stamps is the resource that letters share.
func (p *post) stamps() string {
	r, err := p.st.Resource(p.ctx, "stamps")
	require.NoError(p.t, err)
	return string(r.Value)
}

// A timer that was put off goes over as put off: it keeps when it was first due, and the wait when it ends.
func TestMigrationOfATimerThatWasPutOff(t *testing.T) {
	p := newPost(t)
	old := p.serve(nil, letter1())
	p.asked(old, "t")
	p.tick(25 * time.Hour)
	require.NoError(t, old.Work(p.ctx))
	was := p.resume(old, "t").Snapshot()
	is := p.resume(p.serve(letterSteps(), letter1(), letter2(), letter3()), "t").Snapshot()
	put := func(h machine.Head) machine.ArmedTimer {
		i := slices.IndexFunc(h.Timers, func(a machine.ArmedTimer) bool { return a.Event == "nagged" })
		return h.Timers[i]
	}
	require.False(t, put(was.Head).First.IsZero())
	require.Equal(t, put(was.Head), put(is.Head))
	require.Equal(t, was.Waiting.Until, is.Waiting.Until)
}

// A page of no more than MaxFound tasks is looked at when nobody says how many.
func TestMigrateAllLooksAtMaxFound(t *testing.T) {
	p := newPost(t)
	st := store.NewMemory(store.MemoryOptions{Now: func() time.Time { return p.now }})
	old, err := resume.Open(p.ctx, st, resume.Config{Machines: []machine.Definition{simple(1)}})
	require.NoError(t, err)
	for n := range resume.MaxFound + 1 {
		_, err := old.Start(p.ctx, simple(1).Task(fmt.Sprint("t", n), alice, project{}), alice)
		require.NoError(t, err)
	}
	ctl, err := resume.Open(p.ctx, st, resume.Config{Machines: []machine.Definition{simple(1), simple(2)},
		Migrations: []machine.Migration{machine.MustMigrate(simple(1), simple(2), machine.SameData[project])}})
	require.NoError(t, err)
	r, next, err := ctl.MigrateAll(p.ctx, "simple", operator, "", 0)
	require.NoError(t, err)
	require.Equal(t, resume.MaxFound, r.Ready)
	require.NotEmpty(t, next)
}

// simple is a machine with one edge.
func simple(version int) *machine.Machine[project] {
	b := machine.New[project]("simple", working)
	b.Version(version)
	b.Final(dropped)
	machine.On(b, dropIt).From(working).To(dropped).By(guard.User)
	return b.MustBuild()
}
