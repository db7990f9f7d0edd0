package resume_test

import (
	"context"
	"fmt"
	"sync"
	"testing"

	"github.com/pawlgo/pawl/examples/refund/refund"
	"github.com/pawlgo/pawl/guard"
	"github.com/pawlgo/pawl/machine"
	"github.com/pawlgo/pawl/resume"
	"github.com/pawlgo/pawl/store"
	"github.com/stretchr/testify/require"
)

// project is a task with tasks below it. It is complete when they have ended, and can be given up at any time.
type project struct {
	Title string `json:"title"`
}

const (
	working  machine.State = "working"
	complete machine.State = "complete"
	dropped  machine.State = "dropped"
)

var (
	finish = machine.NewEvent[machine.None]("finish")
	bill   = machine.NewEvent[machine.None]("bill")
	dropIt = machine.NewEvent[machine.None]("give_up")
	again  = machine.NewEvent[machine.Overridden]("again")
	report = guard.NewFact[string]("report", guard.From("colleague"), guard.Lasting())

	projects = func() *machine.Machine[project] {
		b := machine.New[project]("project", working)
		b.Final(complete, dropped)
		b.Facts(report)
		machine.On(b, finish).From(working).To(complete).By(guard.Model, guard.User).Require(machine.ChildrenClosed())
		machine.On(b, bill).From(working).Stay().By(guard.User).Require(machine.ChildrenClosed())
		machine.On(b, dropIt).From(working).To(dropped).By(guard.User)
		machine.Override(b, again).From(complete, dropped).To(working).Reopens()
		return b.MustBuild()
	}()
)

// family is a desk with projects.
type family struct {
	*pebbleDesk
	colleague *guard.Authority
}

func newFamily(t *testing.T) *family {
	f := &family{newPebbleDesk(t), guard.NewAuthority("colleague")}
	f.ctl = f.serve()
	return f
}

func (f *family) serve() *resume.Controller {
	return f.open(func(c *resume.Config) {
		c.Machines, c.Trust = append(c.Machines, projects), append(c.Trust, f.colleague)
	})
}

// begin starts a project under another one, "" for none.
func (f *family) begin(id, parent string) *resume.Session {
	s, err := f.ctl.Start(f.ctx, projects.Task(id, alice, project{id}).Under(parent), alice)
	require.NoError(f.t, err)
	return s
}

func (f *family) at(id string, who guard.Principal) *resume.Session {
	s, err := f.ctl.Resume(f.ctx, id, who)
	require.NoError(f.t, err)
	return s
}

// ends gives a project up.
func (f *family) ends(id string) {
	f.commits(f.at(id, alice), dropIt.With(machine.None{}).As(guard.User))
}

// open wants the project to be held up by so many tasks below it.
func (f *family) held(id string, open int64) {
	f.t.Helper()
	s := f.at(id, alice)
	version := s.Version()
	out := f.refuses(s, finish.With(machine.None{}))
	require.Equal(f.t, "open_children", out.Code())
	require.Equal(f.t, map[string]any{"open": open}, out.Findings[0].Details)
	require.Equal(f.t, version, s.Version(), "counting makes no version")
}

func (f *family) finishes(id string) machine.Outcome {
	f.t.Helper()
	return f.commits(f.at(id, alice), finish.With(machine.None{}))
}

// Case B115: a parent is not complete while a child works, whatever happens to the power meanwhile; and a report to one that is complete
// is evidence that came late, not lost.
func TestB115(t *testing.T) {
	f := newFamily(t)
	f.begin("p", "")
	f.begin("c1", "p")
	f.begin("c2", "p")
	f.held("p", 2)
	f.ends("c1")
	f.cut()
	f.ctl = f.serve()
	f.held("p", 1)
	f.ends("c2")
	out := f.finishes("p")
	require.Equal(t, complete, out.State)
	s := f.at("p", alice)
	for e, err := range s.History(f.ctx) {
		require.NoError(t, err)
		require.Equal(t, "open_children", e.Evidence[0].Fact, "the history has the count")
		require.Equal(t, "0", string(e.Evidence[0].Value))
		break
	}

	out, err := s.Propose(f.ctx, finish.With(machine.None{}))
	require.NoError(t, err)
	require.Equal(t, machine.CodeNoTransition, out.Code(), "the sender is told that it is over")
	out, err = f.ctl.Observe(f.ctx, "p", report.Observe(f.colleague, guard.Observed[string]{Value: "done, but late", Subject: "p"}))
	require.NoError(t, err)
	require.NoError(t, out.Err())
	require.Equal(t, complete, out.State)
	got, known := report.Get(f.at("p", alice).Snapshot().Facts)
	require.True(t, known)
	require.Equal(t, "done, but late", got)
}

// Case B045: the grandchild holds the confirmation. It is agreed to, its effect runs once, and neither of those above it is complete
// before.
func TestB045(t *testing.T) {
	f := newFamily(t)
	f.begin("t", "")
	f.begin("t1", "t")
	s, err := f.ctl.Start(f.ctx, refund.Machine.Task(taskID, alice, refund.Refund{OrderID: "123", Amount: euros, Notes: []string{}}).Under("t1"), alice)
	require.NoError(t, err)
	f.commits(s, refund.RequestRefund.With(machine.None{}).As(guard.User))
	f.held("t", 2)
	f.held("t1", 1)
	f.commits(s, refund.ConfirmRefund.With(confirm), f.says(s, "yes, refund it"))
	f.held("t1", 1)
	f.ends("t1") // it does not wait for those below it, and so the one above must
	f.held("t", 1)
	f.work()
	require.Equal(t, refund.Refunded, f.at(taskID, alice).State())
	require.Len(t, f.world.sent, 1)
	f.finishes("t")
	f.work()
	require.Len(t, f.world.sent, 1)
}

// A child that goes on after its end counts again, and one that never began does not.
func TestChildrenAreCountedOnce(t *testing.T) {
	f := newFamily(t)
	f.begin("p", "")
	f.begin("c", "p")
	for range 3 {
		_, err := f.ctl.Start(f.ctx, projects.Task("c", alice, project{"c"}).Under("p"), alice)
		require.ErrorIs(t, err, resume.ErrExists)
	}
	f.held("p", 1)
	f.ends("c")
	f.commits(f.at("c", operator), again.With(machine.Overridden{Reason: "one thing was left"}).As(guard.Operator))
	f.held("p", 1)
	f.finishes("c")
	f.finishes("p")
}

// Nothing begins under what is not there, is not one's own, or has ended; what was reopened has room again.
func TestChildrenNeedAnOpenParent(t *testing.T) {
	f := newFamily(t)
	f.begin("p", "")
	under := func(parent string, who guard.Principal) error {
		_, err := f.ctl.Start(f.ctx, projects.Task("c", who, project{"c"}).Under(parent), who)
		return err
	}
	require.ErrorIs(t, under("nobody", alice), resume.ErrNoTask)
	require.ErrorIs(t, under("p", mallory), resume.ErrNoTask)
	require.ErrorIs(t, under("c", alice), machine.ErrTask)
	require.ErrorIs(t, under("../p", alice), machine.ErrTask)
	f.finishes("p")
	require.ErrorIs(t, under("p", alice), machine.ErrTask)
	require.ErrorContains(t, under("p", alice), "the parent has ended")
	f.commits(f.at("p", operator), again.With(machine.Overridden{Reason: "more to do"}).As(guard.Operator))
	require.NoError(t, under("p", alice))
	f.held("p", 1)
}

// MaxAncestors stand above a task, and no more.
func TestMaxAncestors(t *testing.T) {
	f := newFamily(t)
	above := ""
	for n := range resume.MaxAncestors + 1 {
		id := fmt.Sprint("t", n)
		f.begin(id, above)
		above = id
	}
	f.held("t0", resume.MaxAncestors)
	_, err := f.ctl.Start(f.ctx, projects.Task("deeper", alice, project{}).Under(above), alice)
	require.ErrorIs(t, err, machine.ErrTask)
	f.held("t0", resume.MaxAncestors)
	for n := resume.MaxAncestors; n >= 0; n-- {
		f.finishes(fmt.Sprint("t", n))
	}
}

// meddling is a store on which something else happens right before a commit, some times.
type meddling struct {
	store.Store
	store.Resources
	times int
	first func()
}

func (m *meddling) Commit(ctx context.Context, c *store.Commit) (store.Tip, error) {
	if m.times > 0 {
		m.times--
		m.first()
	}
	return m.Store.Commit(ctx, c)
}

// meddle lets something happen before the next commits of the controller that it gives.
func (f *family) meddle(times int, first func()) *resume.Controller {
	real := f.desk.st
	f.desk.st = &meddling{real, real.(store.Resources), times, first}
	defer func() { f.desk.st = real }()
	return f.serve()
}

// A child that begins after the children were counted, and before the parent's commit, keeps the parent open.
func TestChildBeginsAfterTheCount(t *testing.T) {
	for times := 1; times <= resume.MaxRounds; times++ {
		f := newFamily(t)
		f.begin("p", "")
		n := 0
		ctl := f.meddle(times, func() { n++; f.begin(fmt.Sprint("c", n), "p") })
		s, err := ctl.Resume(f.ctx, "p", alice)
		require.NoError(t, err)
		out, err := s.Propose(f.ctx, finish.With(machine.None{}))
		require.NoError(t, err)
		require.Equal(t, "open_children", out.Code())
		require.Equal(t, map[string]any{"open": int64(1)}, out.Findings[0].Details, "it is counted anew at once")
		require.Equal(t, working, f.at("p", alice).State())
	}
}

// What stands on the count and does not end the parent is held up as well.
func TestChildBeginsAfterTheCountForAnEdgeThatStays(t *testing.T) {
	f := newFamily(t)
	f.begin("p", "")
	ctl := f.meddle(1, func() { f.begin("c", "p") })
	s, err := ctl.Resume(f.ctx, "p", alice)
	require.NoError(t, err)
	out, err := s.Propose(f.ctx, bill.With(machine.None{}).As(guard.User))
	require.NoError(t, err)
	require.Equal(t, "open_children", out.Code())
	f.ends("c")
	f.commits(f.at("p", alice), bill.With(machine.None{}).As(guard.User))
	f.begin("d", "p") // it has not ended
}

// A child that begins and ends meanwhile changes nothing: what counts is how many are open when the parent ends.
func TestChildComesAndGoesAfterTheCount(t *testing.T) {
	f := newFamily(t)
	f.begin("p", "")
	ctl := f.meddle(1, func() { f.begin("c", "p"); f.ends("c") })
	s, err := ctl.Resume(f.ctx, "p", alice)
	require.NoError(t, err)
	f.commits(s, finish.With(machine.None{}))
}

// A child whose parent ends right before its first commit does not begin.
func TestParentEndsBeforeTheChildBegins(t *testing.T) {
	f := newFamily(t)
	f.begin("p", "")
	ctl := f.meddle(1, func() { f.finishes("p") })
	_, err := ctl.Start(f.ctx, projects.Task("c", alice, project{"c"}).Under("p"), alice)
	require.ErrorIs(t, err, machine.ErrTask)
	_, err = f.ctl.Resume(f.ctx, "c", alice)
	require.ErrorIs(t, err, resume.ErrNoTask)
}

// Of a parent that ends and a child that begins at the same moment, one is too late. It is never both.
func TestParentAndChildRace(t *testing.T) {
	f := newFamily(t)
	ended, begun := 0, 0
	for n := range 100 {
		parent, child := fmt.Sprint("p", n), fmt.Sprint("c", n)
		s := f.begin(parent, "")
		var out machine.Outcome
		var began, failed error
		barrier := make(chan struct{})
		var both sync.WaitGroup
		both.Go(func() { <-barrier; out, failed = s.Propose(f.ctx, finish.With(machine.None{})) })
		both.Go(func() {
			<-barrier
			_, began = f.ctl.Start(f.ctx, projects.Task(child, alice, project{child}).Under(parent), alice)
		})
		close(barrier)
		both.Wait()
		require.NoError(t, failed)
		if out.Kind == machine.Committed {
			ended++
			require.ErrorIs(t, began, machine.ErrTask)
			continue
		}
		begun++
		require.Equal(t, "open_children", out.Code())
		require.NoError(t, began)
	}
	t.Logf("the parent ended first %d times, the child began first %d times", ended, begun)
}

// Many children begin and end at the same time, and each is counted.
func TestManyChildrenAtOnce(t *testing.T) {
	f := newFamily(t)
	f.begin("p", "")
	const many = 24
	var all sync.WaitGroup
	for n := range many {
		all.Go(func() {
			id := fmt.Sprint("c", n)
			s, err := f.ctl.Start(f.ctx, projects.Task(id, alice, project{id}).Under("p"), alice)
			if err == nil && n%2 == 0 {
				var out machine.Outcome
				out, err = s.Propose(f.ctx, dropIt.With(machine.None{}).As(guard.User))
				if err == nil {
					err = out.Err()
				}
			}
			if err != nil {
				t.Errorf("%s: %v", id, err)
			}
		})
	}
	all.Wait()
	f.held("p", many/2)
}

// Only a controller speaks for what it alone can count, and only on a store that can keep the count.
func TestOnlyTheControllerCounts(t *testing.T) {
	f := newFamily(t)
	forged := guard.NewAuthority(machine.ControllerAuthority)
	out, err := f.at(f.begin("p", "").Task(), alice).Propose(f.ctx, finish.With(machine.None{}),
		machine.OpenChildren.Observe(forged, guard.Observed[int64]{Value: 0, Subject: "p"}))
	require.NoError(t, err)
	require.Equal(t, machine.CodeNotEvidence, out.Code())

	cfg := f.config()
	cfg.Machines = append(cfg.Machines, projects)
	faults := func(st store.Store, change func(*resume.Config)) error {
		c := cfg
		change(&c)
		_, err := resume.Open(f.ctx, st, c)
		require.ErrorIs(t, err, resume.ErrConfig)
		return err
	}
	mine := guard.NewFact[bool]("mine", guard.From(machine.ControllerAuthority), guard.Volatile())
	b := machine.New[project]("other", working)
	b.Final(complete)
	machine.On(b, finish).From(working).To(complete).By(guard.User).Require(guard.True(mine))
	other := b.MustBuild()
	require.ErrorContains(t, faults(f.desk.st, func(c *resume.Config) { c.Trust = append(c.Trust, forged) }), "only a controller does")
	require.ErrorContains(t, faults(f.desk.st, func(c *resume.Config) { c.Machines = append(c.Machines, other) }), "only a controller speaks for that")
	plain := struct{ store.Store }{f.desk.st}
	require.ErrorContains(t, faults(plain, func(*resume.Config) {}), "counts children, and the store has no resources")

	m := simple(1)
	ctl, err := resume.Open(f.ctx, plain, resume.Config{Machines: []machine.Definition{m}})
	require.NoError(t, err)
	_, err = ctl.Start(f.ctx, m.Task("s", alice, project{}), alice)
	require.NoError(t, err)
	_, err = ctl.Start(f.ctx, m.Task("c", alice, project{}).Under("s"), alice)
	require.ErrorIs(t, err, machine.ErrTask)
}
