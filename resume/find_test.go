package resume_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/pawlgo/pawl/examples/refund/refund"
	"github.com/pawlgo/pawl/guard"
	"github.com/pawlgo/pawl/machine"
	"github.com/pawlgo/pawl/resume"
	"github.com/pawlgo/pawl/store"
	"github.com/stretchr/testify/require"
)

func TestFind(t *testing.T) {
	d := newDesk(t)
	for i := range 5 {
		s, err := d.ctl.Start(d.ctx, refund.Machine.Task(fmt.Sprintf("t%d", i), alice, refund.Refund{OrderID: fmt.Sprint(i), Amount: euros}), alice)
		require.NoError(t, err)
		if i%2 == 0 {
			d.commits(s, refund.RequestRefund.With(machine.None{}))
		}
	}
	require.NoError(t, d.ctl.Freeze(d.ctx, "refund", operator, "x"))
	names := func(who guard.Principal, q resume.Search) (out []string) {
		for {
			found, next, err := d.ctl.Find(d.ctx, who, q)
			require.NoError(t, err)
			for _, f := range found {
				out = append(out, f.Task)
			}
			if q.After = next; next == "" {
				return out
			}
		}
	}
	waiting := resume.Search{Machine: "refund", State: refund.AwaitingUserConfirmation, Limit: 2}
	require.ElementsMatch(t, []string{"t0", "t2", "t4"}, names(operator, waiting), "in pages of two")
	require.Len(t, names(operator, resume.Search{}), 5, "the freeze is no task")
	require.Len(t, names(alice, resume.Search{Owner: "alice", Limit: 1}), 5)
	require.ElementsMatch(t, []string{"t0", "t2", "t4"}, names(alice, resume.Search{WaitsFor: "user/alice"}))

	require.Empty(t, names(alice, resume.Search{}), "only an operator sees other people's tasks")
	require.Empty(t, names(mallory, resume.Search{Owner: "alice"}))
	require.Empty(t, names(mallory, resume.Search{WaitsFor: "user/alice"}))
	require.Empty(t, names(guard.Principal{}, resume.Search{WaitsFor: "user/"}))
	_, _, err := d.ctl.Find(d.ctx, operator, resume.Search{State: "x"})
	require.Error(t, err, "a state needs its machine")
}

// Whoever asks for "my refund" with two open gets both, in whichever way they ask, and what has ended or is another's is told apart.
func TestTwoCandidatesAreTwo(t *testing.T) {
	d := newDesk(t)
	begin := func(task string, who guard.Principal) *resume.Session {
		s, err := d.ctl.Start(d.ctx, refund.Machine.Task(task, who, refund.Refund{OrderID: task, Amount: euros, Notes: []string{}}), who)
		require.NoError(t, err)
		return s
	}
	for _, task := range []string{"first", "second"} {
		d.commits(begin(task, alice), askFor)
	}
	over := begin("over", alice)
	d.commits(over, askFor)
	d.commits(over, cancel)
	begin("checking", alice)
	begin("mallorys", mallory)

	names := func(found []resume.Found, err error) (all []string) {
		require.NoError(t, err)
		for _, f := range found {
			all = append(all, f.Task)
		}
		return all
	}
	require.ElementsMatch(t, []string{"first", "second"}, names(d.ctl.Waiting(d.ctx, alice)))
	found, next, err := d.ctl.Find(d.ctx, alice, resume.Search{Machine: "refund", Owner: "alice", State: refund.AwaitingUserConfirmation})
	require.Empty(t, next)
	require.ElementsMatch(t, []string{"first", "second"}, names(found, err))
	owned, err := d.ctl.Owned(d.ctx, alice)
	require.Len(t, owned, 4)
	require.Equal(t, "over", names(owned, err)[3], "unfinished ones first")
	require.True(t, owned[3].Final)
	_, err = d.ctl.Resume(d.ctx, "", alice)
	require.ErrorIs(t, err, machine.ErrTask, "no task is picked for anybody")
}

// Each field narrows, all of them together, page by page; no page is over its limit, and no task is listed twice.
func TestFindByEverything(t *testing.T) {
	d := newDesk(t)
	bob := guard.Principal{ID: "bob"}
	for i := range 12 {
		who := []guard.Principal{alice, bob}[i%2]
		s, err := d.ctl.Start(d.ctx, refund.Machine.Task(fmt.Sprintf("t%02d", i), who, refund.Refund{OrderID: fmt.Sprint(i), Amount: euros, Notes: []string{}}), who)
		require.NoError(t, err)
		if i%3 > 0 {
			d.world.owner = observed(who.ID)
			d.commits(s, askFor)
		}
		d.sleep(time.Hour)
	}
	all := resume.Search{Machine: "refund", State: refund.AwaitingUserConfirmation, Owner: "bob", WaitsFor: "user/bob", For: 90 * time.Minute}
	want := []string{"t01", "t05", "t07"} // t11 is too young
	for _, row := range []struct {
		name string
		less func(*resume.Search)
		more []string
	}{
		{"all of them", func(*resume.Search) {}, nil},
		{"any age", func(q *resume.Search) { q.For = 0 }, []string{"t11"}},
		{"any party", func(q *resume.Search) { q.WaitsFor = "" }, nil},
		{"any state", func(q *resume.Search) { q.State, q.WaitsFor = "", "" }, []string{"t03", "t09"}},
		{"any owner", func(q *resume.Search) { q.Owner, q.WaitsFor = "", "" }, []string{"t02", "t04", "t08", "t10"}},
		{"any machine", func(q *resume.Search) { q.Machine, q.State = "", "" }, nil},
	} {
		for limit := range 5 {
			q := all
			row.less(&q)
			q.Limit = limit
			var got []string
			for {
				page, next, err := d.ctl.Find(d.ctx, operator, q)
				require.NoError(t, err, row.name)
				require.True(t, limit == 0 || len(page) <= limit, "%s: %d", row.name, len(page))
				for _, f := range page {
					got = append(got, f.Task)
				}
				if q.After = next; next == "" {
					break
				}
			}
			require.ElementsMatch(t, append(row.more, want...), got, "%s, pages of %d", row.name, limit)
		}
	}
	other, _, err := d.ctl.Find(d.ctx, operator, resume.Search{Machine: "other", Owner: "bob"})
	require.NoError(t, err)
	require.Empty(t, other)
}

// Who may see a task decides what is found of it, whatever the search: here nobody but its owner, and while she is shut out nobody.
func TestConfigMayRulesSearches(t *testing.T) {
	d := newLockable(t)
	d.asked()
	found := func(who guard.Principal) (all []resume.Found) {
		for _, list := range []func() ([]resume.Found, error){
			func() ([]resume.Found, error) { return d.ctl.Waiting(d.ctx, who) },
			func() ([]resume.Found, error) { return d.ctl.Owned(d.ctx, who) },
			func() ([]resume.Found, error) {
				f, _, err := d.ctl.Find(d.ctx, who, resume.Search{Owner: "alice"})
				return f, err
			},
			func() ([]resume.Found, error) {
				f, _, err := d.ctl.Find(d.ctx, who, resume.Search{WaitsFor: "user/alice"})
				return f, err
			},
		} {
			f, err := list()
			require.NoError(t, err)
			all = append(all, f...)
		}
		return all
	}
	require.Len(t, found(alice), 4)
	require.Empty(t, found(operator), "this configuration knows no operators")
	d.shut.Store(true)
	require.Empty(t, found(alice))
	other := newLab(t).labOn(d.desk)
	all, _, err := other.Find(d.ctx, operator, resume.Search{})
	require.NoError(t, err)
	require.Len(t, all, 1, "a task that cannot be read here is found by what its row says")
}

// A role finds what waits for it, is told what is wrong with what cannot be read here, and is nobody without a name.
func TestFindByRole(t *testing.T) {
	p := newParcels(t)
	v1 := parcel1()
	ctl := p.open(v1)
	p.waiting(ctl, v1, "p1")
	carrier, anonymous := guard.Principal{ID: "carla", Roles: []string{"carrier"}}, guard.Principal{Roles: []string{"carrier"}}
	for who, want := range map[*guard.Principal]int{&carrier: 1, &anonymous: 0, &mallory: 0} {
		found, err := ctl.Waiting(p.ctx, *who)
		require.NoError(t, err)
		require.Len(t, found, want, who)
		found, _, err = ctl.Find(p.ctx, *who, resume.Search{WaitsFor: "role/carrier"})
		require.NoError(t, err)
		require.Len(t, found, want, who)
		found, err = ctl.Owned(p.ctx, *who)
		require.NoError(t, err)
		require.Empty(t, found)
		_, err = ctl.Resume(p.ctx, "p1", *who)
		require.Equal(t, want == 0, errors.Is(err, resume.ErrNoTask), who)
	}
	other := p.open(parcel2(2, nil))
	for who, want := range map[*guard.Principal]error{&carrier: resume.ErrMachine, &anonymous: resume.ErrNoTask, &mallory: resume.ErrNoTask} {
		_, err := other.Resume(p.ctx, "p1", *who)
		require.ErrorIs(t, err, want)
	}
}

// asking is a store that keeps what it is asked to find.
type asking struct {
	bent
	queries []store.Query
}

func (a *asking) Find(ctx context.Context, q store.Query) ([]store.Row, string, error) {
	a.queries = append(a.queries, q)
	return a.Store.Find(ctx, q)
}

// Where a page ends names the last task that was looked at, so a search runs over what the principal may see, and over nothing else.
func TestFindLooksOnlyAtOnesOwn(t *testing.T) {
	d := newDesk(t)
	a := &asking{bent: bent{Store: d.st}}
	d.st = a
	d.ctl = d.open(nil)
	d.asked()
	of := func(who guard.Principal, q resume.Search) (string, int) {
		a.queries = nil
		found, _, err := d.ctl.Find(d.ctx, who, q)
		require.NoError(t, err)
		require.Len(t, a.queries, 1)
		return a.queries[0].WaitsFor, len(found)
	}
	clerk := guard.Principal{ID: "ben", Roles: []string{"clerk", "clerk"}}
	for _, row := range []struct {
		who   guard.Principal
		q     resume.Search
		over  string
		found int
	}{
		{mallory, resume.Search{Owner: "mallory", WaitsFor: "user/alice"}, "", 0},
		{alice, resume.Search{Owner: "alice", WaitsFor: "role/clerk"}, "", 0},
		{alice, resume.Search{Owner: "alice", WaitsFor: "user/alice"}, "user/alice", 1},
		{clerk, resume.Search{Owner: "alice", WaitsFor: "role/clerk"}, "role/clerk", 0},
		{operator, resume.Search{Owner: "alice", WaitsFor: "user/alice"}, "user/alice", 1},
	} {
		over, found := of(row.who, row.q)
		require.Equal(t, row.over, over, "%v", row)
		require.Equal(t, row.found, found, "%v", row)
	}
	a.queries = nil
	_, err := d.ctl.Waiting(d.ctx, clerk)
	require.NoError(t, err)
	require.Len(t, a.queries, 2, "a role that is named twice is looked for once")
}
