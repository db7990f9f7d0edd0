package resume_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/pawlgo/pawl/examples/refund/refund"
	"github.com/pawlgo/pawl/guard"
	"github.com/pawlgo/pawl/machine"
	"github.com/pawlgo/pawl/resume"
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
