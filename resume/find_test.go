package resume_test

import (
	"fmt"
	"testing"

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
