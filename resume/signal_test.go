package resume_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pawlgo/pawl/examples/refund/refund"
	"github.com/pawlgo/pawl/guard"
	"github.com/pawlgo/pawl/machine"
	"github.com/pawlgo/pawl/resume"
	"github.com/pawlgo/pawl/store"
	"github.com/stretchr/testify/require"
)

// listener keeps what it hears.
type listener struct {
	mu      sync.Mutex
	signals []resume.Signal
	ended   []resume.Operation
	failed  []resume.Operation
}

func (l *listener) Signal(_ context.Context, s resume.Signal) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.signals = append(l.signals, s)
}

func (l *listener) Begin(ctx context.Context, what resume.Operation, _ string) (context.Context, func(error)) {
	return ctx, func(err error) {
		l.mu.Lock()
		defer l.mu.Unlock()
		if l.ended = append(l.ended, what); err != nil {
			l.failed = append(l.failed, what)
		}
	}
}

func (l *listener) of(kind resume.SignalKind) (out []resume.Signal) {
	for _, s := range l.signals {
		if s.Kind == kind {
			out = append(out, s)
		}
	}
	return out
}

// The story of a task is told by kinds, without anything that a stranger wrote, and with no other task.
func TestSignals(t *testing.T) {
	d, heard, log := newDesk(t), &listener{}, &bytes.Buffer{}
	d.ctl = d.open(func(c *resume.Config) {
		c.Monitor, c.Logger = heard, slog.New(slog.NewJSONHandler(log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	})
	const secret = "hunter2"
	fails := true
	d.world.policy = func(_ context.Context, q guard.Query) (guard.Observed[refund.Eligibility], error) {
		if fails {
			return guard.Observed[refund.Eligibility]{}, &secretError{secret}
		}
		return guard.Observed[refund.Eligibility]{Value: refund.Eligibility{Eligible: true, Policy: secret}, Subject: q.Subject}, nil
	}
	d.world.send = func(_ context.Context, j job) (record, error) { d.pay(j); return record{}, &secretError{secret} }
	s := d.start()
	d.refuses(s, refund.RequestRefund.With(machine.None{}).As(guard.User))
	fails = false
	d.commits(s, refund.RequestRefund.With(machine.None{}).As(guard.User))
	d.commits(s, refund.AskAgain.With(refund.Question{Text: secret}))
	_, err := s.ProposeRaw(d.ctx, secret, []byte(secret))
	require.NoError(t, err)
	_, err = d.ctl.Resume(d.ctx, taskID, mallory)
	require.ErrorIs(t, err, resume.ErrNoTask)
	d.refuses(s, refund.ConfirmRefund.With(refund.Confirm{OrderID: "999", Amount: euros}))
	d.sleep(time.Minute)
	d.commits(s, refund.ConfirmRefund.With(confirm), d.says(s, "yes, refund it"))
	d.work()
	d.sleep(time.Minute)
	d.work()
	require.Equal(t, refund.Refunded, d.resume().State())

	evidence := heard.of(resume.SignalEvidence)
	require.Equal(t, []string{"policy", "refund_eligibility", "failed"}, []string{evidence[0].Source, evidence[0].Fact, evidence[0].Code})
	require.Equal(t, machine.VoidReplaced, heard.of(resume.SignalVoid)[0].Result)
	codes := []string{}
	for _, s := range heard.of(resume.SignalSecurity) {
		codes = append(codes, s.Code)
	}
	require.Equal(t, []string{machine.CodeForbidden, machine.CodeOtherSubject}, codes)
	effects := []string{}
	for _, s := range heard.of(resume.SignalEffect) {
		effects = append(effects, s.Result)
	}
	require.Equal(t, []string{"unknown", "confirmed"}, effects)
	commits := heard.of(resume.SignalCommit)
	require.Equal(t, string(refund.Refunded), commits[len(commits)-1].Result)
	require.Len(t, commits, int(d.resume().Version()))
	for _, what := range []resume.Operation{resume.OperationPropose, resume.OperationPerform, resume.OperationResume} {
		require.Contains(t, heard.ended, what)
	}
	require.NotContains(t, heard.ended, resume.OperationTimer)
	for _, kind := range []string{"commit", "refusal", "security", "void", "evidence", "effect"} {
		require.Contains(t, log.String(), `"msg":"pawl.`+kind+`"`)
	}
	require.NotContains(t, log.String(), secret)
	require.NotContains(t, log.String(), "4300")
	require.Equal(t, strings.Count(log.String(), `"task":`), strings.Count(log.String(), `"task":"`+taskID+`"`))
	for _, s := range heard.signals {
		require.NotContains(t, []string{s.Event, s.Result, s.Code, s.Fact}, secret)
	}
}

// What has come due is measured for each task; that a source must be asked first, side by side with others, is no failure.
func TestTimersAreMeasured(t *testing.T) {
	d, heard := newDesk(t), &listener{}
	d.st = store.NewMemory(store.MemoryOptions{Now: d.clock})
	m, silent := errands(), errors.New("nobody answers")
	ctl, err := resume.Open(d.ctx, d.st, resume.Config{Machines: []machine.Definition{m}, Monitor: heard, Observers: []resume.Observer{
		resume.Pull(home, func(_ context.Context, q guard.Query) (guard.Observed[bool], error) {
			return guard.Observed[bool]{Subject: q.Subject}, silent
		})}})
	require.NoError(t, err)
	_, err = ctl.Start(d.ctx, m.Task("errand_1", alice, errand{}), alice)
	require.NoError(t, err)
	require.NoError(t, ctl.Work(d.ctx))
	require.Empty(t, heard.ended)
	d.sleep(25 * time.Hour)
	require.NoError(t, ctl.Work(d.ctx)) // it rings
	require.NoError(t, ctl.Work(d.ctx)) // it cannot give up yet: first without asking, then asking
	require.Equal(t, []resume.Operation{resume.OperationTimer, resume.OperationTimer, resume.OperationTimer}, heard.ended)
	require.Empty(t, heard.failed)
	require.NoError(t, d.st.Close())
}

// What an operator does to all tasks, and who asks for tasks that are not there, is told; neither with a name that a stranger chose.
func TestSignalsOfNoTask(t *testing.T) {
	d, heard, log := newPebbleDesk(t), &listener{}, &bytes.Buffer{}
	d.asked()
	fromBackup(d)
	d.ctl = d.open(func(c *resume.Config) { c.Monitor, c.Logger = heard, slog.New(slog.NewJSONHandler(log, nil)) })
	require.ErrorIs(t, d.ctl.Freeze(d.ctx, "refund", alice, "x"), resume.ErrOperator)
	require.NoError(t, d.ctl.Freeze(d.ctx, "refund", operator, "the bank has called"))
	require.NoError(t, d.ctl.Thaw(d.ctx, "refund", operator, "false alarm"))
	require.NoError(t, d.ctl.Release(d.ctx, operator, "the original is switched off"))
	require.NoError(t, d.ctl.Release(d.ctx, operator, "it is released already"))
	_, err := d.ctl.Resume(d.ctx, "guessed", mallory)
	require.ErrorIs(t, err, resume.ErrNoTask)
	require.Equal(t, []resume.Signal{
		{Kind: resume.SignalOperator, Machine: "refund", Result: "frozen"},
		{Kind: resume.SignalOperator, Machine: "refund", Result: "thawed"},
		{Kind: resume.SignalOperator, Result: "released"},
	}, heard.of(resume.SignalOperator))
	require.Equal(t, []resume.Signal{{Kind: resume.SignalRefusal, Result: "refused", Code: "no_task"}}, heard.of(resume.SignalRefusal))
	require.Contains(t, log.String(), `"level":"WARN","msg":"pawl.operator","machine":"refund","result":"frozen"`)
	for _, personal := range []string{"olga", "the bank", "guessed", "mallory"} {
		require.NotContains(t, log.String(), personal)
	}
}

// secretError is an error of a provider that quotes what it should not.
type secretError struct{ text string }

func (e *secretError) Error() string { return e.text }

// A caller who goes away is no fault of the source that was asked for them; one that lets its time pass is told.
func TestWhoGoesAwayAccusesNoSource(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d, heard := newDesk(t), &listener{}
		asked := make(chan struct{}, 1)
		d.world.policy = func(ctx context.Context, q guard.Query) (guard.Observed[refund.Eligibility], error) {
			asked <- struct{}{}
			<-ctx.Done()
			return guard.Observed[refund.Eligibility]{}, ctx.Err()
		}
		d.ctl = d.open(func(c *resume.Config) { c.Monitor = heard })
		s := d.start()
		ctx, leave := context.WithCancel(d.ctx)
		go func() { <-asked; leave() }()
		_, err := s.Propose(ctx, askFor)
		require.ErrorIs(t, err, context.Canceled)
		synctest.Wait()
		require.Empty(t, heard.of(resume.SignalEvidence))
		require.Empty(t, d.heard)
		d.refuses(s, askFor)
		late := heard.of(resume.SignalEvidence)
		require.Len(t, late, 1)
		require.Equal(t, []string{"policy", "refund_eligibility", "late"}, []string{late[0].Source, late[0].Fact, late[0].Code})
	})
}

// An actor that nobody may be is a stranger's text; a source that answers about something else is told so; an offer that was agreed to is
// not called void.
func TestSignalsSayNoMoreThanIsSo(t *testing.T) {
	d, heard := newDesk(t), &listener{}
	d.world.policy = func(_ context.Context, _ guard.Query) (guard.Observed[refund.Eligibility], error) {
		return guard.Observed[refund.Eligibility]{Subject: "another"}, nil
	}
	d.ctl = d.open(func(c *resume.Config) { c.Monitor = heard })
	s := d.start()
	d.refuses(s, askFor)
	require.Equal(t, machine.CodeOtherSubject, heard.of(resume.SignalEvidence)[0].Code)
	d.world.policy = nil
	d.refuses(s, askFor.As("a stranger's text"))
	d.refuses(s, askFor.As(guard.Worker))
	for _, h := range heard.of(resume.SignalSecurity) {
		require.Equal(t, []string{"", machine.CodeActor}, []string{string(h.Actor), h.Code})
	}
	require.Len(t, heard.of(resume.SignalSecurity), 2)
	d.commits(s, askFor)
	d.sleep(time.Minute)
	d.commits(s, refund.ConfirmRefund.With(confirm), d.says(s, "yes, refund it"))
	require.Empty(t, heard.of(resume.SignalVoid))
}
