package transfer_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlgo/pawl/examples/transfer/transfer"
	"github.com/pawlgo/pawl/guard"
	"github.com/pawlgo/pawl/machine"
	"github.com/pawlgo/pawl/resume"
	"github.com/pawlgo/pawl/store"
	"github.com/pawlgo/pawl/store/pebblestore"
)

var (
	alice = guard.Principal{ID: "alice", Roles: []string{string(transfer.Treasurer)}}
	small = transfer.Transfer{ID: "T1", Payee: "ACME", Amount: transfer.Money{Minor: 4300, Currency: "EUR"}}
	large = transfer.Transfer{ID: "T1", Payee: "ACME", Amount: transfer.Money{Minor: 5_000_000, Currency: "EUR"}}
)

func treasurer(name string) guard.Principal {
	return guard.Principal{ID: name, Roles: []string{string(transfer.Treasurer)}}
}

// desk is the desk on Pebble, with a bank that tests can bend.
type desk struct {
	t       *testing.T
	dir     string
	st      *pebblestore.Store
	ctl     *resume.Controller
	channel *guard.Authority

	mu     sync.Mutex
	now    time.Time
	payee  string
	answer error // of the bank to the payment; nil: it is made
	found  bool  // the bank has it
	orders []string
}

func open(t *testing.T) *desk {
	d := &desk{t: t, dir: t.TempDir(), channel: guard.NewAuthority("treasury_channel"), payee: transfer.PayeeClear,
		now: time.Date(2026, 1, 5, 9, 0, 0, 0, time.UTC)}
	d.start()
	t.Cleanup(func() { require.NoError(t, d.st.Close()) })
	return d
}

// start opens the store and a controller on it.
func (d *desk) start() {
	var err error
	d.st, err = pebblestore.Open(d.dir, pebblestore.Options{Now: d.clock})
	require.NoError(d.t, err)
	d.ctl = d.another(d.st)
}

// restart ends the process, as far as the desk can tell.
func (d *desk) restart() {
	require.NoError(d.t, d.st.Close())
	d.start()
}

func (d *desk) clock() time.Time {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.now = d.now.Add(time.Millisecond)
	return d.now
}

func (d *desk) another(st store.Store) *resume.Controller {
	ctl, err := resume.Open(d.t.Context(), st, resume.Config{
		Machines: []machine.Definition{transfer.Machine},
		Observers: []resume.Observer{resume.Pull(transfer.PayeeStatus, func(_ context.Context, q guard.Query) (guard.Observed[string], error) {
			return guard.Observed[string]{Value: d.payee, Subject: q.Subject}, nil
		})},
		Effects: []resume.Handler{
			resume.Perform(transfer.Send, d.send, d.find),
			resume.Perform(transfer.TakeBack,
				func(_ context.Context, j machine.Job[transfer.Order]) (transfer.Receipt, error) {
					return d.book(j), nil
				},
				func(context.Context, machine.Job[transfer.Order]) (transfer.Receipt, bool, error) {
					return transfer.Receipt{}, false, nil
				}),
		},
		Trust: []*guard.Authority{d.channel},
	})
	require.NoError(d.t, err)
	return ctl
}

func (d *desk) book(j machine.Job[transfer.Order]) transfer.Receipt {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.orders = append(d.orders, j.Key)
	return transfer.Receipt{Number: "b1", Payee: j.Args.Payee, Amount: j.Args.Amount}
}

func (d *desk) send(_ context.Context, j machine.Job[transfer.Order]) (transfer.Receipt, error) {
	r := d.book(j)
	return r, d.answer
}

func (d *desk) find(_ context.Context, j machine.Job[transfer.Order]) (transfer.Receipt, bool, error) {
	if d.answer != nil && !d.found {
		return transfer.Receipt{}, false, errors.New("the bank does not say")
	}
	return transfer.Receipt{Number: "b1", Payee: j.Args.Payee, Amount: j.Args.Amount}, d.found, nil
}

func (d *desk) session(who guard.Principal) *resume.Session {
	s, err := d.ctl.Resume(d.t.Context(), "t1", who)
	require.NoError(d.t, err)
	return s
}

// asked is a transfer that was submitted by alice.
func (d *desk) asked(about transfer.Transfer) *resume.Session {
	s, err := d.ctl.Start(d.t.Context(), transfer.Machine.Task("t1", alice, about), alice)
	require.NoError(d.t, err)
	d.does(s, transfer.Submit.With(machine.None{}).As(guard.User))
	return s
}

// sending is a transfer that two have agreed to, with its payment on the way.
func (d *desk) sending() *resume.Session {
	d.asked(small)
	d.hears("tina", "yes")
	d.hears("tom", "yes")
	s := d.session(alice)
	d.does(s, transfer.ApproveIt.With(transfer.Approve(small)))
	return s
}

func (d *desk) does(s *resume.Session, p machine.Proposal, carried ...guard.Observation) machine.Outcome {
	d.t.Helper()
	out, err := s.Propose(d.t.Context(), p, carried...)
	require.NoError(d.t, err)
	require.NoError(d.t, out.Err())
	return out
}

func (d *desk) refuses(kind machine.Kind, s *resume.Session, p machine.Proposal) machine.Outcome {
	d.t.Helper()
	out, err := s.Propose(d.t.Context(), p)
	require.NoError(d.t, err)
	require.Equal(d.t, kind, out.Kind, out.String())
	return out
}

// hears is what a treasurer writes right after the question was shown to them.
func (d *desk) hears(who, text string) machine.Outcome {
	o := d.session(alice).Offers()[0]
	shown := &guard.Shown{Message: "q/" + who, At: d.clock()}
	return d.observes(guard.Reply{By: who, Roles: treasurer(who).Roles, Text: text, Shown: shown}, o.ID)
}

func (d *desk) observes(r guard.Reply, offer string) machine.Outcome {
	out, err := d.ctl.Observe(d.t.Context(), "t1", transfer.Reply.Observe(d.channel, guard.Observed[guard.Reply]{Value: r, Subject: offer, At: d.clock()}))
	require.NoError(d.t, err)
	return out
}

func (d *desk) work() { require.NoError(d.t, d.ctl.Work(d.t.Context())) }

func (d *desk) state() machine.State { return d.session(alice).State() }

func (d *desk) cancel() machine.Outcome {
	return d.does(d.session(alice), transfer.Cancel.With(transfer.Reason{Text: "not needed"}).As(guard.User))
}

// What each has said is kept in the offer, across sessions, controllers and restarts.
func TestAnswersSurviveRestarts(t *testing.T) {
	d := open(t)
	d.asked(small)
	d.hears("tina", "yes")
	d.restart()
	out := d.refuses(machine.Ask, d.session(treasurer("tom")), transfer.ApproveIt.With(transfer.Approve(small)))
	require.Equal(t, map[string]any{"agreed": 1, "need": 2}, out.Findings[0].Details)
	require.Contains(t, out.Question, "2 of 3 must agree")
	r, err := d.session(alice).Report(t.Context())
	require.NoError(t, err)
	require.Contains(t, r.String(), "answered: tina said yes\n")
	d.restart()
	d.hears("tom", "yes")
	d.restart()
	answers := d.session(alice).Offers()[0].Answers
	require.Len(t, answers, 2)
	require.Equal(t, []string{"tina", "tom"}, []string{answers[0].By, answers[1].By})
	d.does(d.session(alice), transfer.ApproveIt.With(transfer.Approve(small)))
	d.work()
	require.Equal(t, transfer.Done, d.state())
	require.Len(t, d.orders, 1)
	for e, err := range d.session(alice).History(t.Context()) {
		require.NoError(t, err)
		if e.Event == transfer.ApproveIt.Info().Name {
			require.Len(t, e.Voided[0].Answers, 2, "the history says who agreed")
		}
	}
}

// Two treasurers answer at once, at two controllers: both are heard.
func TestAnswersRaced(t *testing.T) {
	for range 20 {
		d := open(t)
		d.asked(small)
		o := d.session(alice).Offers()[0].ID
		var done sync.WaitGroup
		for i, ctl := range []*resume.Controller{d.ctl, d.another(d.st)} {
			who := []string{"tina", "tom"}[i]
			said := transfer.Reply.Observe(d.channel, guard.Observed[guard.Reply]{Subject: o, At: d.clock(),
				Value: guard.Reply{By: who, Roles: treasurer(who).Roles, Choice: guard.ChoiceYes}})
			done.Go(func() {
				if out, err := ctl.Observe(t.Context(), "t1", said); err != nil || out.Err() != nil {
					t.Error(err, out)
				}
			})
		}
		done.Wait()
		require.Len(t, d.session(alice).Offers()[0].Answers, 2)
	}
}

// One message of a treasurer, handed to two transfers by two controllers on one store: it counts for one of them, also after a restart.
func TestOneMessageTwoTransfers(t *testing.T) {
	d := open(t)
	said := map[string]guard.Observation{}
	for _, id := range []string{"t1", "t2"} {
		s, err := d.ctl.Start(t.Context(), transfer.Machine.Task(id, alice, small), alice)
		require.NoError(t, err)
		d.does(s, transfer.Submit.With(machine.None{}).As(guard.User))
		said[id] = transfer.Reply.Observe(d.channel, guard.Observed[guard.Reply]{Subject: s.Offers()[0].ID, At: d.clock(),
			Value: guard.Reply{By: "tina", Roles: alice.Roles, Text: "yes", Shown: &guard.Shown{Message: "m1", At: s.Offers()[0].OpenedAt}}}).Identified("m2")
	}
	heard := func() (n int) {
		for _, id := range []string{"t1", "t2"} {
			s, err := d.ctl.Resume(t.Context(), id, alice)
			require.NoError(t, err)
			n += len(s.Offers()[0].Answers)
		}
		return n
	}
	var done sync.WaitGroup
	for id, ctl := range map[string]*resume.Controller{"t1": d.ctl, "t2": d.another(d.st)} {
		done.Go(func() {
			if _, err := ctl.Observe(t.Context(), id, said[id]); err != nil {
				t.Error(err)
			}
		})
	}
	done.Wait()
	require.Equal(t, 1, heard())
	d.restart()
	for id := range said {
		_, err := d.ctl.Observe(t.Context(), id, said[id])
		require.NoError(t, err)
	}
	require.Equal(t, 1, heard())
}

// A no is recorded; one of three leaves two who may agree, and the one who said it cannot take it back in words.
func TestOneNo(t *testing.T) {
	d := open(t)
	d.asked(small)
	d.hears("tina", "no")
	d.hears("tina", "yes")
	d.hears("tom", "yes")
	d.refuses(machine.Ask, d.session(alice), transfer.ApproveIt.With(transfer.Approve(small)))
	d.hears("ted", "yes")
	d.does(d.session(alice), transfer.ApproveIt.With(transfer.Approve(small)))

	d = open(t)
	d.asked(small)
	d.hears("tina", "no")
	d.hears("tom", "do NOT send it")
	s := d.session(alice)
	require.Empty(t, s.Offers())
	for e, err := range s.History(t.Context()) {
		require.NoError(t, err)
		require.Equal(t, machine.VoidDeclined, e.Voided[0].Reason)
		require.Len(t, e.Voided[0].Answers, 2)
		break
	}
}

// Above the amount only the button counts, and the proposer's own counts for nothing.
func TestByButton(t *testing.T) {
	d := open(t)
	s := d.asked(large)
	o := s.Offers()[0]
	require.True(t, o.Structured)
	require.Contains(t, o.Question, "words do not count")
	d.hears("tina", "yes")
	d.hears("tom", "yes")
	d.refuses(machine.Ask, d.session(alice), transfer.ApproveIt.With(transfer.Approve(large)))
	out := d.observes(guard.Reply{By: "alice", Roles: alice.Roles, Choice: guard.ChoiceYes}, o.ID)
	require.Equal(t, machine.Refused, out.Kind)
	d.observes(guard.Reply{By: "tina", Roles: alice.Roles, Choice: guard.ChoiceYes}, o.ID)
	d.refuses(machine.Ask, d.session(alice), transfer.ApproveIt.With(transfer.Approve(large)))
	d.observes(guard.Reply{By: "tom", Roles: alice.Roles, Choice: guard.ChoiceYes}, o.ID)
	d.does(d.session(alice), transfer.ApproveIt.With(transfer.Approve(large)))
}

// Cancelled before it is sent: the intent is withdrawn in the same commit, and nothing is ever sent.
func TestCancelBeforeSend(t *testing.T) {
	d := open(t)
	d.sending()
	d.cancel()
	require.Equal(t, transfer.Stopped, d.state())
	require.Equal(t, machine.Withdrawn, d.session(alice).Snapshot().Intents[0].Status)
	left, _, err := d.st.Effects(t.Context(), "", 0)
	require.NoError(t, err)
	require.Empty(t, left, "its row went with it")
	d.work()
	require.Empty(t, d.orders)
	r, err := d.session(alice).Report(t.Context())
	require.NoError(t, err)
	require.Contains(t, r.NotHappened, "send_transfer")
}

// Cancelled after it may have been sent: the truth is waited for, and what was made is taken back by an effect of its own.
func TestCancelAfterSendThenConfirmed(t *testing.T) {
	d := open(t)
	d.answer = errors.New("connection reset while reading the answer")
	d.sending()
	d.work()
	require.Equal(t, transfer.Sending, d.state())
	d.cancel()
	require.Equal(t, transfer.Cancelling, d.state())
	d.found = true
	d.later(time.Hour)
	d.work()
	d.work()
	require.Equal(t, transfer.Undone, d.state())
	require.Equal(t, []string{"t1/send_transfer/1", "t1/take_back/1"}, d.orders)
}

// Cancelled after it may have been sent, and the bank never made it.
func TestCancelAfterSendThenFailed(t *testing.T) {
	d := open(t)
	d.sending()
	claimed, err := d.st.Claim(t.Context(), store.Slots{}, 1, "worker-1", time.Minute.Microseconds())
	require.NoError(t, err)
	require.Len(t, claimed, 1)
	d.cancel()
	require.Equal(t, transfer.Cancelling, d.state(), "a worker has it: it may be on its way")
	d.answer = machine.Declined(errors.New("account closed"))
	row := claimed[0]
	row.Status, row.Ready = store.Intent, d.clock().UnixMicro() // the worker gives it back: it sent nothing
	_, err = d.st.Update(t.Context(), row)
	require.NoError(t, err)
	d.work()
	require.Equal(t, transfer.Stopped, d.state())
	require.Equal(t, machine.Failed, d.session(alice).Snapshot().Intents[0].Status)
}

// A payee who turns out not to be clear stops a payment that was not sent, and none that may have been.
func TestEvidenceWithdraws(t *testing.T) {
	for name, sent := range map[string]bool{"unsent": false, "sent": true} {
		t.Run(name, func(t *testing.T) {
			d := open(t)
			d.sending()
			want := transfer.Stopped
			if sent {
				_, err := d.st.Claim(t.Context(), store.Slots{}, 1, "worker-1", time.Minute.Microseconds())
				require.NoError(t, err)
				want = transfer.Sending
			}
			d.payee = "listed"
			_, err := d.session(alice).Look(t.Context(), transfer.PayeeStatus)
			require.NoError(t, err)
			require.Equal(t, want, d.state())
		})
	}
}

// between is a store in which something happens between what a commit was judged on and the commit.
type between struct {
	*pebblestore.Store
	happens func()
}

func (b *between) Commit(ctx context.Context, c *store.Commit) (store.Tip, error) {
	if f := b.happens; f != nil {
		b.happens = nil
		f()
	}
	return b.Store.Commit(ctx, c)
}

// A worker claims the payment between the judgement that it was not sent and the commit of the cancel: the revision fences the
// commit, and the cancel is judged again.
func TestCancelRacesWithAClaim(t *testing.T) {
	d := open(t)
	d.sending()
	st := &between{Store: d.st}
	ctl := d.another(st)
	s, err := ctl.Resume(t.Context(), "t1", alice)
	require.NoError(t, err)
	st.happens = func() {
		claimed, err := d.st.Claim(t.Context(), store.Slots{}, 1, "worker-1", time.Minute.Microseconds())
		require.NoError(t, err)
		require.Len(t, claimed, 1)
	}
	d.does(s, transfer.Cancel.With(transfer.Reason{Text: "not needed"}).As(guard.User))
	require.Equal(t, transfer.Cancelling, d.state())
	left, _, err := d.st.Effects(t.Context(), "", 0)
	require.NoError(t, err)
	require.Len(t, left, 1, "the intent is the worker's")
}

// Cancels and workers raced in earnest: either nothing was ordered, or what was is waited for and taken back.
func TestCancelRacesWithWorkers(t *testing.T) {
	for range 20 {
		d := open(t)
		s := d.sending()
		var done sync.WaitGroup
		done.Go(func() {
			if _, err := s.Propose(t.Context(), transfer.Cancel.With(transfer.Reason{Text: "not needed"}).As(guard.User)); err != nil {
				t.Error(err)
			}
		})
		done.Go(func() {
			if err := d.another(d.st).Work(t.Context()); err != nil {
				t.Error(err)
			}
		})
		done.Wait()
		d.later(time.Hour)
		d.work()
		d.work()
		switch state := d.state(); state {
		case transfer.Stopped:
			require.Empty(t, d.orders)
		case transfer.Undone:
			require.Equal(t, []string{"t1/send_transfer/1", "t1/take_back/1"}, d.orders)
		default:
			require.Equal(t, transfer.Done, state, "the payment was made before the cancel came")
			require.Len(t, d.orders, 1)
		}
	}
}

func (d *desk) later(by time.Duration) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.now = d.now.Add(by)
}
