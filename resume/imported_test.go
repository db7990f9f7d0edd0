package resume_test

import (
	"bytes"
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/pawlgo/pawl/guard"
	"github.com/pawlgo/pawl/machine"
	"github.com/pawlgo/pawl/resume"
	"github.com/pawlgo/pawl/store"
	"github.com/pawlgo/pawl/store/pebblestore"
	"github.com/stretchr/testify/require"
)

// branch is a bank whose tasks can be moved to another.
type branch struct {
	*bank
	st       *pebblestore.Store
	found    bool  // what the bank's own records say of a transfer
	find     error // the bank cannot tell
	trust    *guard.Authority
	sent     int
	problems []string // what nobody waited for
}

func newBranch(t *testing.T) *branch { return newBranchOf(t, withdrawals()) }

func newBranchOf(t *testing.T, m *machine.Machine[draw]) *branch {
	b := &branch{bank: &bank{desk: newDesk(t), m: m}}
	b.send = func() error { b.counting(func() { b.sent++ }); return nil }
	st, err := pebblestore.Open("store", pebblestore.Options{FS: vfs.NewMem(), Now: b.clock})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, st.Close()) })
	b.st, b.desk.st = st, st
	b.ctl = b.serving(b.m)
	return b
}

// counting lets the handlers, which run side by side, change what the test counts.
func (b *branch) counting(f func()) {
	b.mu.Lock()
	defer b.mu.Unlock()
	f()
}

func (b *branch) serving(machines ...machine.Definition) *resume.Controller {
	ctl, err := resume.Open(b.ctx, b.st, b.config(machines...))
	require.NoError(b.t, err)
	return ctl
}

func (b *branch) config(machines ...machine.Definition) resume.Config {
	c := resume.Config{Machines: machines, Problem: func(err error) {
		b.counting(func() { b.problems = append(b.problems, err.Error()) })
	}}
	if b.trust != nil {
		c.Trust = append(c.Trust, b.trust)
	}
	for _, m := range machines {
		if machine.Erase(m).EffectNamed("pay_out") != nil {
			c.Effects = []resume.Handler{resume.Perform(payOut,
				func(context.Context, machine.Job[draw]) (slip, error) { return slip{"s"}, b.send() },
				func(context.Context, machine.Job[draw]) (slip, bool, error) { return slip{"s"}, b.found, b.find })}
		}
	}
	return c
}

// give exports tasks of this branch into another.
func (b *branch) give(to *branch, tasks ...string) {
	for _, task := range tasks {
		var lines bytes.Buffer
		require.NoError(b.t, store.Export(b.ctx, b.st, task, &lines))
		_, err := store.Import(b.ctx, to.st, &lines)
		require.NoError(b.t, err)
	}
}

func (b *branch) release() {
	b.t.Helper()
	require.NoError(b.t, b.ctl.Release(b.ctx, operator, "the other branch is closed"))
}

// account is what the store knows of the shared account.
func (b *branch) account() string { return b.resource("account/1") }

func (b *branch) resource(name string) string {
	b.t.Helper()
	r, err := b.st.Resource(b.ctx, name)
	require.NoError(b.t, err)
	return string(r.Value)
}

// What an imported task has been promised is not promised once more, though the store brought no resources of it.
func TestImportedHoldsAreTakenAgain(t *testing.T) {
	from, to := newBranch(t), newBranch(t)
	require.NoError(t, from.withdraw("a", 60).Err())
	require.NoError(t, to.withdraw("b", 60).Err())
	from.give(to, "a")
	require.Equal(t, "quarantined", to.withdraw("early", 40).Code(), "nothing is promised before the holds are back")
	to.release()
	short := to.withdraw("c", 1)
	require.Equal(t, machine.CodeShort, short.Code())
	require.Contains(t, short.Findings[0].Text, "0 left of 100", "120 are promised")

	to.found = true
	to.work()
	to.sleep(time.Hour)
	to.work()
	require.JSONEq(t, `{"used":120,"holds":[]}`, to.account(), "both have happened")
}

// A release that is made again, and one of a copy with its resources, take nothing twice.
func TestHoldsAreTakenAgainOnce(t *testing.T) {
	from, to := newBranch(t), newBranch(t)
	require.NoError(t, from.withdraw("a", 60).Err())
	from.give(to, "a")
	to.release()
	require.NoError(t, to.withdraw("b", 40).Err())
	other := newBranch(t)
	require.NoError(t, other.withdraw("z", 1).Err())
	other.give(to, "z") // of the same account: a new incarnation, and what a and b hold is known
	to.release()
	short := to.withdraw("c", 1)
	require.Equal(t, machine.CodeShort, short.Code())
	_, effects, err := to.st.Load(to.ctx, "a")
	require.NoError(t, err)
	require.Len(t, effects, 1)
	require.JSONEq(t, `{"used":0,"holds":[{"key":"a/pay_out/1","amount":60},{"key":"b/pay_out/1","amount":40},{"key":"z/pay_out/1","amount":1}]}`, to.account())
}

// What is found to have happened before the release is used up all the same.
func TestImportedAndSettledBeforeRelease(t *testing.T) {
	from, to := newBranch(t), newBranch(t)
	require.NoError(t, from.withdraw("a", 60).Err())
	from.give(to, "a")
	to.found = true
	to.work()
	to.sleep(time.Hour)
	to.work()
	require.Zero(t, to.sent)
	to.release()
	require.Equal(t, machine.CodeShort, to.withdraw("b", 41).Code())
	require.NoError(t, to.withdraw("c", 40).Err())
}

// A task that nobody here can read keeps the store in quarantine; the error names machines and tasks, each up to a limit, and what to do.
func TestReleaseNamesWhatIsNotServed(t *testing.T) {
	for _, count := range []int{1, resume.MaxUnserved, resume.MaxUnserved + 1} {
		from, to := newBranch(t), newBranch(t)
		tasks := make([]string, count)
		for i := range tasks {
			tasks[i] = fmt.Sprintf("t%02d", i)
			require.NoError(t, from.withdraw(tasks[i], 1).Err())
		}
		from.give(to, tasks...)
		other := machine.New[draw]("other", "asked")
		other.Final("done")
		machine.On(other, withdraw).From("asked").To("done").By(guard.User)
		to.ctl = to.serving(other.MustBuild())

		err := to.ctl.Release(to.ctx, operator, "go")
		require.ErrorIs(t, err, resume.ErrMachine)
		var unserved *resume.UnservedError
		require.ErrorAs(t, err, &unserved)
		require.Equal(t, count, unserved.Machines["withdrawal"].Count)
		require.Equal(t, tasks[:min(count, resume.MaxUnserved)], unserved.Machines["withdrawal"].Tasks)
		require.ErrorContains(t, err, "machine withdrawal, t00")
		require.ErrorContains(t, err, "Config.Machines")
		if count > resume.MaxUnserved {
			require.ErrorContains(t, err, "t09 and 1 more")
		} else {
			require.NotContains(t, err.Error(), "more:")
		}
		to.ctl = to.serving(to.m)
		require.Equal(t, "quarantined", to.withdraw("early", 1).Code())
		to.release()
		require.NoError(t, to.withdraw("late", 1).Err())
	}
}
