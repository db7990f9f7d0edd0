package resume_test

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/pawlgo/pawl/examples/refund/refund"
	"github.com/pawlgo/pawl/guard"
	"github.com/pawlgo/pawl/machine"
	"github.com/pawlgo/pawl/resume"
	"github.com/pawlgo/pawl/store"
	"github.com/stretchr/testify/require"
)

// restore moves a desk to a copy of its store.
type restore func(*pebbleDesk)

func fromBackup(d *pebbleDesk) {
	require.NoError(d.t, d.st.Backup(d.ctx, d.dir+"-copy"))
	d.moveTo(d.dir + "-copy")
}

func fromLines(d *pebbleDesk) {
	var lines bytes.Buffer
	require.NoError(d.t, store.ExportAll(d.ctx, d.st, &lines))
	d.moveTo(d.dir + "-imported")
	n, err := store.Import(d.ctx, d.st, &lines)
	require.NoError(d.t, err)
	require.Positive(d.t, n)
}

// moveTo lets the store go and opens another directory; the world stays.
func (d *pebbleDesk) moveTo(dir string) {
	require.NoError(d.t, d.st.Close())
	d.dir = dir
	d.power()
}

func eachRestore(t *testing.T, f func(t *testing.T, restore restore)) {
	t.Run("backup", func(t *testing.T) { f(t, fromBackup) })
	t.Run("lines", func(t *testing.T) { f(t, fromLines) })
}

// The original has sent what the copy holds unsent: looking it up settles it, and nothing is sent from here.
func TestRestoredLooksUp(t *testing.T) {
	eachRestore(t, func(t *testing.T, restore restore) {
		d := newPebbleDesk(t)
		d.dispatched()
		restore(d)
		d.pay(job{Key: d.key(), Args: refund.Payment{OrderID: "123", Amount: euros}}) // the original goes on
		d.work()
		d.sleep(time.Minute)
		d.work()
		require.Equal(t, refund.Refunded, d.resume().State())
		require.Empty(t, d.world.sent)
		require.Len(t, d.world.ledger, 1)
	})
}

// What the provider does not have is not sent before an operator has released the store; then once.
func TestRestoredSendsNothingBeforeRelease(t *testing.T) {
	eachRestore(t, func(t *testing.T, restore restore) {
		d := newPebbleDesk(t)
		d.dispatched()
		restore(d)
		for range 5 {
			d.sleep(11 * time.Minute)
			d.work()
		}
		require.Empty(t, d.world.sent)
		require.NotZero(t, d.world.found, "it was looked up")
		r, err := d.resume().Report(d.ctx)
		require.NoError(t, err)
		require.Equal(t, "unknown", r.Effects[0].Status)
		require.Contains(t, r.Effects[0].Last, "no operator has released it")

		require.ErrorIs(t, d.ctl.Release(d.ctx, alice, "why not"), resume.ErrOperator)
		require.ErrorIs(t, d.ctl.Release(d.ctx, operator, " "), resume.ErrOperator)
		require.ErrorIs(t, d.ctl.Release(d.ctx, operator, strings.Repeat("x", machine.MaxReason+1)), resume.ErrOperator)
		other := d.open(nil)
		require.NoError(t, other.Release(d.ctx, operator, strings.Repeat("x", machine.MaxReason)))
		require.NoError(t, d.ctl.Release(d.ctx, operator, "again does nothing"))
		found := d.world.found
		for range 2 {
			d.sleep(11 * time.Minute)
			d.work() // the controller that has not released it sees that it is
		}
		require.Equal(t, refund.Refunded, d.resume().State())
		require.Len(t, d.world.sent, 1)
		require.Greater(t, d.world.found, found, "looked up once more before it was sent")

		out, err := d.open(nil).Start(d.ctx, refund.Machine.Task("refund_order_9", alice, refund.Refund{OrderID: "9", Amount: euros, Notes: []string{}}), alice)
		require.NoError(t, err, "a release lasts")
		d.commits(out, refund.RequestRefund.With(machine.None{}).As(guard.User))
		d.sleep(time.Minute)
		d.commits(out, refund.ConfirmRefund.With(refund.Confirm{OrderID: "9", Amount: euros}), d.says(out, "yes, refund it"))
	})
}

// An offer of a restored task may have been answered where it came from: it is agreed to no more, and asking again works.
func TestRestoredOffersAreVoid(t *testing.T) {
	eachRestore(t, func(t *testing.T, restore restore) {
		d := newPebbleDesk(t)
		d.asked()
		restore(d)
		s := d.resume()
		yes := d.says(s, "yes, refund it")
		require.Equal(t, "quarantined", d.refuses(s, refund.ConfirmRefund.With(confirm), yes).Code())
		d.commits(s, refund.LeaveNote.With(refund.Note{Text: "what causes nothing goes on"}).As(guard.User))

		require.NoError(t, d.ctl.Release(d.ctx, operator, "the original is switched off"))
		s = d.resume()
		require.Empty(t, s.Offers())
		require.Equal(t, machine.CodeNotOffered, d.refuses(s, refund.ConfirmRefund.With(confirm)).Code())
		for e, err := range s.History(d.ctx) {
			require.NoError(t, err)
			if e.Event == machine.EntryRestored {
				require.Equal(t, machine.VoidRestored, e.Voided[0].Reason)
				require.Equal(t, operator.ID, e.Principal)
				break
			}
		}
		d.commits(s, refund.AskAgain.With(refund.Question{Text: "Shall I?"}))
		d.sleep(time.Minute)
		d.commits(s, refund.ConfirmRefund.With(confirm), d.says(s, "yes, refund it"))
		d.work()
		require.Equal(t, refund.Refunded, d.resume().State())
	})
}

// A controller that serves a store into which somebody imports is in quarantine from then on.
func TestImportIntoALiveStore(t *testing.T) {
	d := newPebbleDesk(t)
	d.dispatched()
	var lines bytes.Buffer
	require.NoError(t, store.ExportAll(d.ctx, d.st, &lines))
	d.moveTo("other")
	d.work()
	_, err := store.Import(d.ctx, d.st, &lines)
	require.NoError(t, err)
	d.sleep(time.Hour)
	d.work()
	require.Empty(t, d.world.sent)
	require.NotZero(t, d.world.found)
}

// A release is of one incarnation of one store: a copy of a released store is not released, nor what its lines are imported into.
func TestReleaseIsOfOneIncarnation(t *testing.T) {
	eachRestore(t, func(t *testing.T, restore restore) {
		d := newPebbleDesk(t)
		d.dispatched()
		for range 3 {
			restore(d)
			d.sleep(time.Hour)
			d.work()
			require.Empty(t, d.world.sent)
			require.NoError(t, d.ctl.Release(d.ctx, operator, "the one before is switched off"))
		}
		d.sleep(time.Hour)
		d.work()
		d.sleep(time.Hour)
		d.work()
		require.Len(t, d.world.sent, 1)
	})
}

// A freeze goes with the lines.
func TestFreezeIsRestored(t *testing.T) {
	eachRestore(t, func(t *testing.T, restore restore) {
		d := newPebbleDesk(t)
		d.asked()
		require.NoError(t, d.ctl.Freeze(d.ctx, "refund", operator, "the bank has called"))
		restore(d)
		require.NoError(t, d.ctl.Release(d.ctx, operator, "the original is switched off"))
		s := d.resume()
		d.commits(s, refund.AskAgain.With(refund.Question{Text: "Shall I?"}))
		require.Equal(t, "frozen", d.refuses(s, refund.ConfirmRefund.With(confirm), d.says(s, "yes, refund it")).Code())
	})
}

// A store is not released while it holds tasks that this controller cannot read: their offers would stay open.
func TestReleaseNeedsEveryMachine(t *testing.T) {
	d := newPebbleDesk(t)
	d.asked()
	fromBackup(d)
	ctl, err := resume.Open(d.ctx, d.st, resume.Config{Machines: []machine.Definition{stranger}})
	require.NoError(t, err)
	require.ErrorIs(t, ctl.Release(d.ctx, operator, "x"), resume.ErrMachine)
	require.Equal(t, "quarantined", d.refuses(d.resume(), refund.ConfirmRefund.With(confirm), d.says(d.resume(), "yes, refund it")).Code())
}

var stranger = func() machine.Definition {
	b := machine.New[struct{}]("stranger", "a")
	b.Final("b")
	machine.On(b, machine.NewEvent[machine.None]("go")).From("a").To("b").By(guard.User)
	return b.MustBuild()
}()

// secondLife is a store in memory that says that it is a copy.
type secondLife struct {
	*store.Memory
	copied bool
}

func (s *secondLife) Info() store.Info {
	i := s.Memory.Info()
	if s.copied {
		i.Incarnation++
	}
	return i
}

// A store that leaves unsent what it holds in a copy: the release makes it unknown, so that it is looked up first.
func TestReleaseDoubtsWhatWasUnsent(t *testing.T) {
	d := newDesk(t)
	st := &secondLife{Memory: d.st.(*store.Memory)}
	d.st = st
	d.ctl = d.open(nil)
	d.dispatched()
	st.copied = true
	require.NoError(t, d.ctl.Release(d.ctx, operator, "the original is switched off"))
	d.work()
	require.Equal(t, 1, d.world.found, "looked up")
	require.Len(t, d.world.sent, 1, "and surely absent")
}

// And before it is released, work does the same.
func TestQuarantineDoubtsWhatWasUnsent(t *testing.T) {
	d := newDesk(t)
	st := &secondLife{Memory: d.st.(*store.Memory)}
	d.st = st
	d.ctl = d.open(nil)
	d.dispatched()
	st.copied = true
	d.work()
	require.Empty(t, d.world.sent)
	require.Equal(t, "unknown", status(t, d, d.resume()))
}

// An agreement that causes no effect is none either: it may have been given where the store came from.
func TestQuarantineTakesNoAgreement(t *testing.T) {
	type plan struct {
		Text string `json:"text"`
	}
	reply := guard.NewReply("reply", guard.From("chat"))
	agree, ask := machine.NewEvent[plan]("agree"), machine.NewEvent[machine.None]("ask")
	b := machine.New[plan]("plan", "drafting")
	b.Final("agreed")
	machine.On(b, ask).From("drafting").To("asking").By(guard.User).
		Then(machine.Offer(agree, machine.TaskOwner, time.Hour, func(c guard.Case[plan, machine.None]) []plan { return []plan{c.Data} }))
	machine.On(b, agree).From("asking").To("agreed").By(guard.User).Confirm(reply)
	m := b.MustBuild()
	chat := guard.NewAuthority("chat")
	st := &secondLife{Memory: store.NewMemory(store.MemoryOptions{})}
	ctl, err := resume.Open(t.Context(), st, resume.Config{Machines: []machine.Definition{m}, Trust: []*guard.Authority{chat}})
	require.NoError(t, err)
	s, err := ctl.Start(t.Context(), m.Task("p", alice, plan{"rest"}), alice)
	require.NoError(t, err)
	out, err := s.Propose(t.Context(), ask.With(machine.None{}).As(guard.User))
	require.NoError(t, err)
	require.NoError(t, out.Err())
	yes := reply.Observe(chat, guard.Observed[guard.Reply]{Value: guard.Reply{By: "alice", Text: "yes", Shown: shown(s.Offers()[0])}, Subject: s.Offers()[0].ID, At: time.Now()})
	st.copied = true
	out, err = s.Propose(t.Context(), agree.With(plan{"rest"}).As(guard.User), yes)
	require.NoError(t, err)
	require.Equal(t, "quarantined", out.Code())
	st.copied = false
	out, err = s.Propose(t.Context(), agree.With(plan{"rest"}).As(guard.User))
	require.NoError(t, err)
	require.NoError(t, out.Err())
}
