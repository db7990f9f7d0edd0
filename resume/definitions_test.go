package resume_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/pawlgo/pawl/guard"
	"github.com/pawlgo/pawl/machine"
	"github.com/pawlgo/pawl/resume"
	"github.com/pawlgo/pawl/store"
	"github.com/stretchr/testify/require"
)

// The parcel of these tests is mailed once and then waited for. Version 2 waits for the carrier, no longer for the delivery, and
// counts its mails; version 3 only adds a state.
const (
	parcelDraft   machine.State = "draft"
	parcelMailing machine.State = "mailing"
	waitDelivery  machine.State = "wait_delivery"
	waitCarrier   machine.State = "wait_carrier"
	parcelShelved machine.State = "shelved"
	parcelDone    machine.State = "done"
	parcelLost    machine.State = "lost"
)

type (
	parcelV1 struct {
		Order string `json:"order" about:"order"`
		Mails int64  `json:"mails"`
	}
	parcelV2 struct {
		Order string `json:"order" about:"order"`
		Sent  int64  `json:"sent" validate:"min=0,max=9"`
	}
	mail struct {
		Order string `json:"order"`
	}
	mailed struct {
		ID string `json:"id"`
	}
	followed struct {
		Text string `json:"text"`
	}
)

var (
	mailedSlip   = guard.NewFact[mailed]("mailed", guard.From("mailer"), guard.About(machine.EffectKind), guard.Lasting())
	deliveredOld = guard.NewFact[bool]("delivered", guard.From("carrier"), guard.About("order"), guard.MaxAge(time.Hour))
	deliveredNew = guard.NewFact[bool]("handed_over", guard.From("carrier"), guard.About("order"), guard.MaxAge(30*time.Minute))
	sendMail     = machine.NewEffect[mail]("send_mail", mailedSlip)
	mailIt       = machine.NewEvent[machine.None]("mail_it")
	followUp     = machine.NewEvent[followed]("follow_up")
	overdue      = machine.NewEvent[machine.None]("overdue")
	lateness     = machine.NewEvent[machine.None]("lateness")
)

// parcel1 is version 1.
func parcel1() *machine.Machine[parcelV1] {
	b := machine.New[parcelV1]("parcel", parcelDraft)
	parcelEdges(b, waitDelivery, deliveredOld, overdue, func(d *parcelV1) { d.Mails++ },
		func(d parcelV1) string { return d.Order })
	return b.MustBuild()
}

// parcel2 is version 2; change may alter it before it is built.
func parcel2(version int, change func(*machine.Builder[parcelV2])) *machine.Machine[parcelV2] {
	b := machine.New[parcelV2]("parcel", parcelDraft)
	b.Version(version)
	parcelEdges(b, waitCarrier, deliveredNew, lateness, func(d *parcelV2) { d.Sent++ },
		func(d parcelV2) string { return d.Order })
	if change != nil {
		change(b)
	}
	return b.MustBuild()
}

func parcelEdges[D any](b *machine.Builder[D], waiting machine.State, delivered guard.Fact[bool], late machine.Event[machine.None],
	count func(*D), order func(D) string) {
	b.Final(parcelDone, parcelLost)
	b.Wait(waiting, "carrier", 48*time.Hour, late)
	machine.On(b, mailIt).From(parcelDraft).To(parcelMailing).By(guard.User).
		Then(machine.Emit(sendMail, func(c guard.Case[D, machine.None]) mail { return mail{order(c.Data)} }))
	machine.On(b, sendMail.Confirmed()).From(parcelMailing).To(waiting).Apply(func(d *D, _ guard.Case[D, machine.Settled]) { count(d) })
	machine.On(b, sendMail.Failed()).From(parcelMailing).To(parcelLost)
	machine.On(b, followUp).From(parcelDraft, waiting).Stay().By(guard.User)
	machine.When(b, delivered).From(waiting).To(parcelDone).Require(guard.True(delivered))
	machine.On(b, late).From(waiting).To(parcelLost)
}

// parcels is a store in memory, a mailer that counts, and the clock.
type parcels struct {
	t     *testing.T
	ctx   context.Context
	st    store.Store
	now   time.Time
	mails int
	heard []error

	carrier *guard.Authority
}

func newParcels(t *testing.T) *parcels {
	p := &parcels{t: t, ctx: t.Context(), now: time.Date(2026, 1, 5, 9, 0, 0, 0, time.UTC), carrier: guard.NewAuthority("carrier")}
	p.st = store.NewMemory(store.MemoryOptions{Now: func() time.Time { p.now = p.now.Add(time.Millisecond); return p.now }})
	return p
}

func (p *parcels) config(machines ...machine.Definition) resume.Config {
	return resume.Config{
		Machines: machines,
		Effects: []resume.Handler{resume.Perform(sendMail,
			func(context.Context, machine.Job[mail]) (mailed, error) {
				p.mails++
				return mailed{fmt.Sprint(p.mails)}, nil
			},
			func(context.Context, machine.Job[mail]) (mailed, bool, error) { return mailed{}, false, nil })},
		Trust:   []*guard.Authority{p.carrier},
		Problem: func(err error) { p.heard = append(p.heard, err) },
	}
}

func (p *parcels) open(machines ...machine.Definition) *resume.Controller {
	ctl, err := resume.Open(p.ctx, p.st, p.config(machines...))
	require.NoError(p.t, err)
	return ctl
}

// waiting starts a task of version 1 that waits for its delivery.
func (p *parcels) waiting(ctl *resume.Controller, v1 *machine.Machine[parcelV1], id string) {
	s, err := ctl.Start(p.ctx, v1.Task(id, alice, parcelV1{Order: "o1"}), alice)
	require.NoError(p.t, err)
	out, err := s.Propose(p.ctx, mailIt.With(machine.None{}).As(guard.User))
	require.NoError(p.t, err)
	require.NoError(p.t, out.Err())
	require.NoError(p.t, ctl.Work(p.ctx))
}

func (p *parcels) resume(ctl *resume.Controller, id string) *resume.Session {
	s, err := ctl.Resume(p.ctx, id, alice)
	require.NoError(p.t, err)
	return s
}

// Tasks in flight stay on the version that they were begun under; new ones begin on the version that they name.
func TestVersionsSideBySide(t *testing.T) {
	p := newParcels(t)
	v1, v2 := parcel1(), parcel2(2, nil)
	p.waiting(p.open(v1), v1, "old")
	ctl := p.open(v1, v2)
	s, err := ctl.Start(p.ctx, v2.Task("new", alice, parcelV2{Order: "o2"}), alice)
	require.NoError(t, err)
	require.Equal(t, v2.Stamp(), s.Snapshot().Stamp())

	old := p.resume(ctl, "old")
	require.Equal(t, v1.Stamp(), old.Snapshot().Stamp())
	require.Equal(t, waitDelivery, old.State())
	out, err := old.Propose(p.ctx, followUp.With(followed{"where is it?"}).As(guard.User))
	require.NoError(t, err)
	require.NoError(t, out.Err())
	require.Equal(t, v1.Stamp(), old.Snapshot().Stamp(), "a commit keeps the definition")
	out, err = ctl.Observe(p.ctx, "old", deliveredOld.Observe(p.carrier, guard.Observed[bool]{Value: true, Subject: "o1"}))
	require.NoError(t, err)
	require.Equal(t, parcelDone, out.State)
	out, err = ctl.Observe(p.ctx, "new", deliveredOld.Observe(p.carrier, guard.Observed[bool]{Value: true, Subject: "o2"}))
	require.NoError(t, err)
	require.Equal(t, machine.Refused, out.Kind, "version 2 knows no such fact")
}

// The timers and effects of a task in flight are those of its own version.
func TestOldVersionKeepsItsTimersAndEffects(t *testing.T) {
	p := newParcels(t)
	v1, v2 := parcel1(), parcel2(2, nil)
	before := p.open(v1)
	s, err := before.Start(p.ctx, v1.Task("old", alice, parcelV1{Order: "o1"}), alice)
	require.NoError(t, err)
	out, err := s.Propose(p.ctx, mailIt.With(machine.None{}).As(guard.User))
	require.NoError(t, err)
	require.NoError(t, out.Err())

	ctl := p.open(v2, v1)
	require.NoError(t, ctl.Work(p.ctx))
	require.Equal(t, waitDelivery, p.resume(ctl, "old").State())
	p.now = p.now.Add(48 * time.Hour)
	require.NoError(t, ctl.Work(p.ctx))
	require.Equal(t, parcelLost, p.resume(ctl, "old").State())
	require.Equal(t, 1, p.mails)
}

func TestOneVersionHasOneDigest(t *testing.T) {
	p := newParcels(t)
	changed := parcel2(2, func(b *machine.Builder[parcelV2]) {
		machine.On(b, overdue).From(waitCarrier).To(parcelLost).By(guard.Operator)
	})
	_, err := resume.Open(p.ctx, p.st, p.config(parcel1(), parcel2(2, nil), changed))
	require.ErrorIs(t, err, resume.ErrConfig)
	require.ErrorContains(t, err, "version 2, is there with two digests")
	require.ErrorContains(t, err, "raise its Version")
	_, err = resume.Open(p.ctx, p.st, p.config(parcel1(), parcel1()))
	require.ErrorContains(t, err, "machine parcel is there twice, as version 1")
}

// A task of a definition that is not served is refused with what to do, and stays as it was.
func TestUnservedDefinitionsAreRefused(t *testing.T) {
	v1, v2 := parcel1(), parcel2(2, nil)
	changed := parcel2(1, nil)
	for _, row := range []struct {
		name   string
		serves machine.Definition
		advice string
	}{
		{"older", v2, "register version 1 beside version 2 in Config.Machines"},
		{"changed", changed, "version 1 has been changed"},
	} {
		p := newParcels(t)
		p.waiting(p.open(v1), v1, "old")
		before, _, err := p.st.Load(p.ctx, "old")
		require.NoError(t, err, row.name)
		ctl := p.open(row.serves)
		_, err = ctl.Resume(p.ctx, "old", alice)
		require.ErrorIs(t, err, resume.ErrMachine, row.name)
		require.ErrorIs(t, err, machine.ErrStored, row.name)
		require.ErrorContains(t, err, row.advice, row.name)
		_, err = ctl.Resume(p.ctx, "old", mallory)
		require.ErrorIs(t, err, resume.ErrNoTask, "a stranger is not told")
		after, _, err := p.st.Load(p.ctx, "old")
		require.NoError(t, err, row.name)
		require.Equal(t, before, after, row.name)
	}
	p := newParcels(t)
	ctl := p.open(v2)
	_, err := ctl.Start(p.ctx, v2.Task("new", alice, parcelV2{Order: "o2"}), alice)
	require.NoError(t, err)
	_, err = p.open(v1).Resume(p.ctx, "new", alice)
	require.ErrorIs(t, err, resume.ErrMachine)
	require.ErrorContains(t, err, "version 2 is newer than all that are served here")
	_, err = p.open(v1).Start(p.ctx, v2.Task("other", alice, parcelV2{Order: "o2"}), alice)
	require.ErrorIs(t, err, resume.ErrMachine)
}
