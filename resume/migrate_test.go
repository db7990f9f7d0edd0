package resume_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/pawlgo/pawl/guard"
	"github.com/pawlgo/pawl/machine"
	"github.com/pawlgo/pawl/resume"
	"github.com/pawlgo/pawl/store"
	"github.com/stretchr/testify/require"
)

func parcelTo2(d parcelV1) (parcelV2, error) {
	if d.Order == "odd" {
		return parcelV2{}, errors.New("an odd order")
	}
	return parcelV2{Order: d.Order, Sent: d.Mails}, nil
}

// parcelStep is the migration from version 1 to 2, with all that was renamed.
func parcelStep(v1 *machine.Machine[parcelV1], v2 *machine.Machine[parcelV2]) machine.Migration {
	return machine.MustMigrate(v1, v2, parcelTo2, machine.RenameState(waitDelivery, waitCarrier),
		machine.RenameFact(deliveredOld, deliveredNew), machine.RenameEvent(overdue, lateness))
}

// migrating opens a controller with migrations.
func (p *parcels) migrating(steps []machine.Migration, machines ...machine.Definition) *resume.Controller {
	cfg := p.config(machines...)
	cfg.Migrations = steps
	ctl, err := resume.Open(p.ctx, p.st, cfg)
	require.NoError(p.t, err)
	return ctl
}

func (p *parcels) entries(s *resume.Session) (out []machine.Entry) {
	for e, err := range s.History(p.ctx) {
		require.NoError(p.t, err)
		out = append(out, e)
	}
	return out
}

// Case B013: a later version has another name for the state that the task stands in. With the mapping it goes on there, and no
// mail is sent again.
func TestCaseB013WithTheMapping(t *testing.T) {
	p := newParcels(t)
	v1, v2 := parcel1(), parcel2(2, nil)
	p.waiting(p.open(v1), v1, "t1")
	was := p.resume(p.open(v1), "t1").Snapshot()
	ctl := p.migrating([]machine.Migration{parcelStep(v1, v2)}, v1, v2)
	s := p.resume(ctl, "t1")
	require.Equal(t, waitCarrier, s.State())
	require.Equal(t, v2.Stamp(), s.Snapshot().Stamp())
	require.Equal(t, was.Version+1, s.Version())
	data, ok := machine.As[parcelV2](s.Snapshot())
	require.True(t, ok)
	require.Equal(t, parcelV2{Order: "o1", Sent: 1}, data.Data)
	require.Equal(t, was.Wake(), s.Snapshot().Wake(), "the deadline stands")
	require.NoError(t, ctl.Work(p.ctx))
	require.Equal(t, 1, p.mails)

	e := p.entries(s)[0]
	require.Equal(t, machine.EntryMigrated, e.Event)
	require.Equal(t, v1.Stamp(), e.Migrated.From)
	require.Equal(t, guard.Worker, e.Actor)
	require.Empty(t, e.Principal, "nobody asked for it")
	require.Equal(t, s.Version(), p.resume(ctl, "t1").Version(), "once is enough")

	out, err := ctl.Observe(p.ctx, "t1", deliveredNew.Observe(p.carrier, guard.Observed[bool]{Value: true, Subject: "o1"}))
	require.NoError(t, err)
	require.Equal(t, parcelDone, out.State)
	require.Equal(t, 1, p.mails)
}

// Case B013 without the mapping: a typed refusal, the task as it was, and the operator's list has it.
func TestCaseB013WithoutTheMapping(t *testing.T) {
	p := newParcels(t)
	v1, v2 := parcel1(), parcel2(2, nil)
	p.waiting(p.open(v1), v1, "t1")
	before, _, err := p.st.Load(p.ctx, "t1")
	require.NoError(t, err)
	ctl := p.migrating([]machine.Migration{machine.MustMigrate(v1, v2, parcelTo2)}, v1, v2)
	_, err = ctl.Resume(p.ctx, "t1", alice)
	require.ErrorIs(t, err, machine.ErrUnmigratable)
	var why *machine.UnmigratableError
	require.ErrorAs(t, err, &why)
	require.Equal(t, machine.CodeLosesState, why.Code)
	_, err = ctl.Resume(p.ctx, "t1", mallory)
	require.ErrorIs(t, err, resume.ErrNoTask, "a stranger is not told")
	after, _, err := p.st.Load(p.ctx, "t1")
	require.NoError(t, err)
	require.Equal(t, before, after)
	r, err := ctl.DryRunMigration(p.ctx, "parcel")
	require.NoError(t, err)
	require.Equal(t, []resume.Trouble{{Task: "t1", Version: why.Version, State: waitDelivery, Definition: 1, Code: machine.CodeLosesState, Text: why.Text}}, r.Troubles)
}

// What has happened is never kept out: evidence and deadlines of a task that cannot go over count under its old version.
func TestEvidenceLandsThoughTheTaskCannotMigrate(t *testing.T) {
	p := newParcels(t)
	v1, v2 := parcel1(), parcel2(2, nil)
	p.waiting(p.open(v1), v1, "seen")
	p.waiting(p.open(v1), v1, "late")
	ctl := p.migrating([]machine.Migration{machine.MustMigrate(v1, v2, parcelTo2)}, v1, v2)
	out, err := ctl.Observe(p.ctx, "seen", deliveredOld.Observe(p.carrier, guard.Observed[bool]{Value: true, Subject: "o1"}))
	require.NoError(t, err)
	require.Equal(t, parcelDone, out.State)
	require.Len(t, p.heard, 1)
	require.ErrorIs(t, p.heard[0], machine.ErrUnmigratable)
	p.now = p.now.Add(48 * time.Hour)
	require.NoError(t, ctl.Work(p.ctx))
	found, err := ctl.Owned(p.ctx, alice)
	require.NoError(t, err)
	for _, f := range found {
		require.True(t, f.Final, f.Task)
	}
}

// A task that is only worked on goes over as well: its timer fires under the later version.
func TestTimersAndEvidenceMigrateFirst(t *testing.T) {
	p := newParcels(t)
	v1, v2 := parcel1(), parcel2(2, nil)
	p.waiting(p.open(v1), v1, "late")
	p.waiting(p.open(v1), v1, "seen")
	ctl := p.migrating([]machine.Migration{parcelStep(v1, v2)}, v1, v2)
	out, err := ctl.Observe(p.ctx, "seen", deliveredNew.Observe(p.carrier, guard.Observed[bool]{Value: true, Subject: "o1"}))
	require.NoError(t, err)
	require.Equal(t, parcelDone, out.State)
	p.now = p.now.Add(48 * time.Hour)
	require.NoError(t, ctl.Work(p.ctx))
	s := p.resume(ctl, "late")
	require.Equal(t, parcelLost, s.State())
	es := p.entries(s)
	require.Equal(t, []string{"lateness", machine.EntryMigrated}, []string{es[0].Event, es[1].Event})
}

// An effect that was intended under the old version is performed once and settled under the new one.
func TestEffectsOutliveAMigration(t *testing.T) {
	p := newParcels(t)
	v1, v2 := parcel1(), parcel2(2, nil)
	s, err := p.open(v1).Start(p.ctx, v1.Task("t1", alice, parcelV1{Order: "o1"}), alice)
	require.NoError(t, err)
	out, err := s.Propose(p.ctx, mailIt.With(machine.None{}).As(guard.User))
	require.NoError(t, err)
	require.NoError(t, out.Err())
	ctl := p.migrating([]machine.Migration{parcelStep(v1, v2)}, v1, v2)
	require.Equal(t, parcelMailing, p.resume(ctl, "t1").State())
	require.NoError(t, ctl.Work(p.ctx))
	s = p.resume(ctl, "t1")
	require.Equal(t, waitCarrier, s.State())
	data, _ := machine.As[parcelV2](s.Snapshot())
	require.Equal(t, int64(1), data.Data.Sent)
	require.Equal(t, 1, p.mails)
}

// A proposal that was based on the old version is told to read again.
func TestAProposalFromBeforeAMigrationIsAConflict(t *testing.T) {
	p := newParcels(t)
	v1, v2 := parcel1(), parcel2(2, nil)
	p.waiting(p.open(v1), v1, "t1")
	ctl := p.migrating([]machine.Migration{parcelStep(v1, v2)}, v1, v2)
	before := p.resume(p.open(v1, v2), "t1")
	p.resume(ctl, "t1")
	out, err := before.Propose(p.ctx, followUp.With(followed{"x"}).As(guard.User))
	require.NoError(t, err)
	require.Equal(t, machine.Conflict, out.Kind)
	out, err = before.Propose(p.ctx, followUp.With(followed{"x"}).As(guard.User))
	require.NoError(t, err)
	require.NoError(t, out.Err(), "read again, it is judged by the newer version")
	require.Equal(t, v2.Stamp(), before.Snapshot().Stamp())
}

// Two steps are two commits; an operator may take them, and nobody else.
func TestMigrateStepByStep(t *testing.T) {
	p := newParcels(t)
	v1, v2 := parcel1(), parcel2(2, nil)
	v3 := parcel2(3, func(b *machine.Builder[parcelV2]) {
		machine.On(b, overdue).From(parcelDraft).To(parcelShelved).By(guard.Operator)
		machine.On(b, lateness).From(parcelShelved).To(parcelLost).By(guard.Operator)
	})
	p.waiting(p.open(v1), v1, "t1")
	version := p.resume(p.open(v1), "t1").Version()
	steps := []machine.Migration{machine.MustMigrate(v2, v3, machine.SameData[parcelV2]), parcelStep(v1, v2)}
	ctl := p.migrating(steps, v2, v3, v1)
	_, err := ctl.Migrate(p.ctx, "t1", alice)
	require.ErrorIs(t, err, resume.ErrOperator)
	_, err = ctl.Migrate(p.ctx, "t1", mallory)
	require.ErrorIs(t, err, resume.ErrNoTask)
	_, err = ctl.Migrate(p.ctx, "none", operator)
	require.ErrorIs(t, err, resume.ErrNoTask)
	now, err := ctl.Migrate(p.ctx, "t1", operator)
	require.NoError(t, err)
	require.Equal(t, v3.Stamp(), now)
	s := p.resume(ctl, "t1")
	require.Equal(t, version+2, s.Version())
	es := p.entries(s)
	require.Equal(t, []int{3, 2, 1}, []int{es[0].Definition, es[1].Definition, es[2].Definition})
	require.Equal(t, "olga", es[0].Principal)
	require.Equal(t, guard.Operator, es[0].Actor)
}

func TestMigrationsHaveNoGaps(t *testing.T) {
	p := newParcels(t)
	v1, v2, v3, v4 := parcel1(), parcel2(2, nil), parcel2(3, nil), parcel2(4, nil)
	same := func(a, b *machine.Machine[parcelV2]) machine.Migration {
		return machine.MustMigrate(a, b, machine.SameData[parcelV2])
	}
	first := parcelStep(v1, v2)
	for name, row := range map[string]struct {
		machines []machine.Definition
		steps    []machine.Migration
		text     string
	}{
		"gap":        {[]machine.Definition{v1, v2, v3}, []machine.Migration{first}, "no migration leads from version 2 of machine parcel to version 3"},
		"hole":       {[]machine.Definition{v1, v2, v3, v4}, []machine.Migration{first, same(v3, v4)}, "no migration leads from version 2 of machine parcel to version 3"},
		"past":       {[]machine.Definition{v2, v3, v4}, []machine.Migration{same(v2, v4), same(v3, v4)}, "leads to version 4, past version 3"},
		"twice":      {[]machine.Definition{v1, v2}, []machine.Migration{first, first}, "two migrations leave version 1"},
		"not served": {[]machine.Definition{v2}, []machine.Migration{first}, "register both in Machines"},
		"zero":       {[]machine.Definition{v2}, []machine.Migration{{}}, "the zero Migration"},
	} {
		cfg := p.config(row.machines...)
		cfg.Migrations = row.steps
		_, err := resume.Open(p.ctx, p.st, cfg)
		require.ErrorIs(t, err, resume.ErrConfig, name)
		require.ErrorContains(t, err, row.text, name)
	}
	p.migrating([]machine.Migration{same(v3, v4), same(v2, v3)}, v1, v2, v3, v4) // version 1 stays where it is
}

// racing is a store on which another commit comes first, some times.
type racing struct {
	store.Store
	times int
	first func()
}

func (r *racing) Commit(ctx context.Context, c *store.Commit) (store.Tip, error) {
	if r.times > 0 {
		r.times--
		r.first()
	}
	return r.Store.Commit(ctx, c)
}

// A migration that lost a race is made again on what came first, and loses nothing of it.
func TestAMigrationLosesNoCommit(t *testing.T) {
	p := newParcels(t)
	v1, v2 := parcel1(), parcel2(2, nil)
	p.waiting(p.open(v1), v1, "t1")
	other := p.resume(p.open(v1), "t1")
	race := &racing{Store: p.st, times: 2, first: func() {
		out, err := other.Propose(p.ctx, followUp.With(followed{"between"}).As(guard.User))
		require.NoError(t, err)
		require.NoError(t, out.Err())
	}}
	p.st = race
	s := p.resume(p.migrating([]machine.Migration{parcelStep(v1, v2)}, v1, v2), "t1")
	es := p.entries(s)
	require.Equal(t, []string{machine.EntryMigrated, "follow_up", "follow_up"}, []string{es[0].Event, es[1].Event, es[2].Event})
	require.Equal(t, other.Version()+1, s.Version())
}

// The dry run counts and names the tasks of a live store, and writes nothing.
func TestDryRunMigration(t *testing.T) {
	p := newParcels(t)
	v1, v2 := parcel1(), parcel2(2, nil)
	v3 := parcel2(3, func(b *machine.Builder[parcelV2]) {
		b.Invariant("no third", func(s machine.Snapshot[parcelV2]) error {
			if s.Data.Order == "third" {
				return errors.New("it is")
			}
			return nil
		})
	})
	old := p.open(v1)
	for _, id := range []string{"a", "b"} {
		p.waiting(old, v1, id)
	}
	begins := func(id, order string, mails int64) {
		_, err := old.Start(p.ctx, v1.Task(id, alice, parcelV1{Order: order, Mails: mails}), alice)
		require.NoError(t, err)
	}
	begins("odd", "odd", 0)
	begins("many", "o1", 10)
	begins("third", "third", 0)
	_, err := p.open(v3).Start(p.ctx, v3.Task("new", alice, parcelV2{Order: "o1"}), alice)
	require.NoError(t, err)
	five := parcel2(5, nil)
	_, err = p.open(five).Start(p.ctx, five.Task("newer", alice, parcelV2{Order: "o1"}), alice)
	require.NoError(t, err)

	ctl := p.migrating([]machine.Migration{parcelStep(v1, v2), machine.MustMigrate(v2, v3, machine.SameData[parcelV2])}, v1, v2, v3)
	before := p.tips()
	r, err := ctl.DryRunMigration(p.ctx, "parcel")
	require.NoError(t, err)
	require.Equal(t, before, p.tips(), "nothing was written")
	require.Equal(t, []int{7, 1, 0, 2}, []int{r.Tasks, r.Current, r.Staying, r.Ready})
	require.Equal(t, map[string]int{machine.CodeMigratedData: 2, machine.CodeBreaks: 1, resume.CodeUnserved: 1}, r.Failing)
	codes := map[string]string{}
	for _, x := range r.Troubles {
		codes[x.Task] = x.Code
		require.NotEmpty(t, x.Text)
	}
	require.Equal(t, map[string]string{"odd": machine.CodeMigratedData, "many": machine.CodeMigratedData, "third": machine.CodeBreaks, "newer": resume.CodeUnserved}, codes)

	r, err = p.open(v1, v2, v3).DryRunMigration(p.ctx, "parcel")
	require.NoError(t, err)
	require.Equal(t, []int{7, 1, 5, 0}, []int{r.Tasks, r.Current, r.Staying, r.Ready})
	_, err = ctl.DryRunMigration(p.ctx, "other")
	require.ErrorIs(t, err, resume.ErrMachine)
}

// tips are the versions of all tasks.
func (p *parcels) tips() map[string]store.Tip {
	out := map[string]store.Tip{}
	rows, _, err := p.st.Find(p.ctx, store.Query{Machine: "parcel"})
	require.NoError(p.t, err)
	for _, r := range rows {
		tip, err := p.st.Tip(p.ctx, r.Task)
		require.NoError(p.t, err)
		out[r.Task] = tip
	}
	return out
}

// The report names at most MaxFound tasks, and counts them all.
func TestDryRunNamesAtMostMaxFound(t *testing.T) {
	p := newParcels(t)
	v1, v2 := parcel1(), parcel2(2, nil)
	old, ctl := p.open(v1), p.open(v2)
	for n := 1; n <= resume.MaxFound+1; n++ {
		_, err := old.Start(p.ctx, v1.Task(fmt.Sprintf("t%d", n), alice, parcelV1{Order: "o1"}), alice)
		require.NoError(t, err)
		if n < resume.MaxFound {
			continue
		}
		r, err := ctl.DryRunMigration(p.ctx, "parcel")
		require.NoError(t, err)
		require.Equal(t, map[string]int{resume.CodeUnserved: n}, r.Failing)
		require.Len(t, r.Troubles, min(n, resume.MaxFound))
	}
}
