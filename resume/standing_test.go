package resume_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/pawlgo/pawl/guard"
	"github.com/pawlgo/pawl/machine"
	"github.com/pawlgo/pawl/resume"
	"github.com/stretchr/testify/require"
)

type account struct {
	ID string `json:"id" about:"account"`
}

const (
	wireReady   machine.State = "ready"
	wireSending machine.State = "sending"
	wireDone    machine.State = "done"
	wireFailed  machine.State = "failed"
)

const wireWithin = 10 * time.Minute

var (
	cleared     = guard.NewFact[bool]("cleared", guard.From("compliance"), guard.About("account"), guard.MaxAge(time.Hour))
	wireReceipt = guard.NewFact[string]("wire_receipt", guard.From("wires"), guard.About(machine.EffectKind), guard.Lasting())
	wire        = machine.NewEffect("wire", wireReceipt, machine.SendWhile[account, string](guard.True(cleared)),
		machine.SendWithin[account, string](wireWithin))
	orderWire = machine.NewEvent[machine.None]("order_wire")
)

// wireDesk runs a machine whose effect says what must still hold when it is sent.
type wireDesk struct {
	*desk
	clear func() (bool, error)
	pays  func() error
	wires int
}

func newWire(t *testing.T) *wireDesk {
	b := machine.New[account]("wires", wireReady)
	b.Final(wireDone, wireFailed)
	machine.On(b, orderWire).From(wireReady).To(wireSending).By(guard.User).Require(guard.True(cleared)).
		Then(machine.Emit(wire, func(c guard.Case[account, machine.None]) account { return c.Data }))
	machine.On(b, wire.Confirmed()).From(wireSending).To(wireDone)
	machine.On(b, wire.Failed()).From(wireSending).To(wireFailed)
	m := b.MustBuild()
	d := &wireDesk{desk: newDesk(t), clear: func() (bool, error) { return true, nil }, pays: func() error { return nil }}
	var err error
	d.ctl, err = resume.Open(d.ctx, d.st, resume.Config{Machines: []machine.Definition{m},
		Observers: []resume.Observer{resume.Pull(cleared, func(_ context.Context, q guard.Query) (guard.Observed[bool], error) {
			v, err := d.clear()
			return guard.Observed[bool]{Value: v, Subject: q.Subject}, err
		})},
		Effects: []resume.Handler{resume.Perform(wire,
			func(context.Context, machine.Job[account]) (string, error) { d.wires++; return "w1", d.pays() },
			func(context.Context, machine.Job[account]) (string, bool, error) { return "", false, nil })},
	})
	require.NoError(t, err)
	s, err := d.ctl.Start(d.ctx, m.Task("t1", alice, account{"a1"}), alice)
	require.NoError(t, err)
	d.commits(s, orderWire.With(machine.None{}).As(guard.User))
	return d
}

// What an effect says must still hold is observed again right before it is sent, however fresh the old evidence is.
func TestSentOnlyWhileItHolds(t *testing.T) {
	d := newWire(t)
	d.work()
	require.Equal(t, wireDone, d.lookAt("t1").State())
	require.Equal(t, 1, d.wires)

	d = newWire(t)
	d.clear = func() (bool, error) { return false, nil }
	d.work()
	s := d.lookAt("t1")
	require.Equal(t, wireFailed, s.State(), "nothing was sent, and so it surely failed")
	require.Zero(t, d.wires)
	e, known := s.Snapshot().Facts.Entry(guard.Key{Fact: "cleared", Subject: "a1"})
	require.True(t, known)
	require.Equal(t, false, e.Value, "what was seen is in the record (law 12)")
}

// While a source is silent nothing is sent, and nothing has failed (law 4).
func TestNotSentWhileItIsNotKnown(t *testing.T) {
	d := newWire(t)
	d.clear = func() (bool, error) { return false, errors.New("down") }
	for range 5 {
		d.work()
		d.sleep(time.Minute)
	}
	require.Equal(t, wireSending, d.lookAt("t1").State())
	require.Equal(t, "intent", status(t, d.desk, d.lookAt("t1")))
	require.Zero(t, d.wires)
	d.clear = func() (bool, error) { return true, nil }
	d.work()
	require.Equal(t, wireDone, d.lookAt("t1").State())
}

// The time to send bounds each attempt: what may have been sent before, and of which the provider has nothing, is sent again only within
// it; after it somebody must find out.
func TestNotSentAgainAfterItsTime(t *testing.T) {
	for over, want := range map[time.Duration]int{-time.Minute: 2, time.Minute: 1} {
		d := newWire(t)
		d.pays = func() error { return errReset }
		d.work()
		d.pays = func() error { return nil }
		d.sleep(wireWithin + over)
		d.work()
		require.Equal(t, want, d.wires, "%v", over)
		require.Equal(t, map[int]machine.State{2: wireDone, 1: wireSending}[want], d.lookAt("t1").State())
	}
}

// What hinders an effect is looked at less and less often, but at least every quarter of a minute.
func TestHinderedIsTriedLessOften(t *testing.T) {
	d := newWire(t)
	looks := 0
	d.clear = func() (bool, error) { looks++; return false, errors.New("down") }
	for range 8 * 60 {
		d.sleep(time.Second)
		d.work()
	}
	require.Greater(t, looks, 8*60/17)
	require.Less(t, looks, 8*60/7)
}

// An intent is sent until its time is over, and fails after it, since nothing was sent (send-by).
func TestSendWithin(t *testing.T) {
	for over, want := range map[time.Duration]machine.State{-time.Second: wireDone, time.Second: wireFailed} {
		d := newWire(t)
		d.sleep(wireWithin + over)
		d.work()
		require.Equal(t, want, d.lookAt("t1").State(), "%v", over)
		require.Equal(t, map[machine.State]int{wireDone: 1}[want], d.wires, "%v", over)
	}
}

// What may have been sent before has not failed when it must not be sent again: it is looked up.
func TestNotSentAgainWhenItNoLongerHolds(t *testing.T) {
	d := newWire(t)
	d.pays = func() error { return errReset }
	d.work()
	d.clear = func() (bool, error) { return false, nil }
	for range 5 {
		d.sleep(time.Minute)
		d.work()
	}
	require.Equal(t, wireSending, d.lookAt("t1").State())
	require.Equal(t, "unknown", status(t, d.desk, d.lookAt("t1")))
	require.Equal(t, 1, d.wires)
}

// Case B051: a worker that stalls for longer than its claim sends nothing with it; who claims next looks first.
func TestB051StalledWorkerSendsNothing(t *testing.T) {
	d := newWire(t)
	ctx, cancel := context.WithCancel(d.ctx)
	d.clear = func() (bool, error) {
		d.sleep(2 * resume.DefaultPerformWithin)
		cancel() // this worker takes nothing up any more
		return true, nil
	}
	require.NoError(t, d.ctl.Work(ctx))
	require.Zero(t, d.wires)
	d.clear = func() (bool, error) { return true, nil }
	d.work()
	d.sleep(time.Minute)
	d.work()
	require.Equal(t, 1, d.wires)
	require.Equal(t, wireDone, d.lookAt("t1").State())
}
