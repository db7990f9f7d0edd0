package resume_test

import (
	"testing"
	"time"

	"github.com/pawlgo/pawl/examples/refund/money"
	"github.com/pawlgo/pawl/examples/refund/refund"
	"github.com/pawlgo/pawl/guard"
	"github.com/pawlgo/pawl/machine"
	"github.com/pawlgo/pawl/resume"
	"github.com/stretchr/testify/require"
)

// The whole path on one store: asked on day one, confirmed on day two by another controller, paid, and closed for good.
func TestTwoDays(t *testing.T) {
	d := newDesk(t)
	d.asked()
	d.sleep(24 * time.Hour)
	d.ctl = d.open(nil)

	found, err := d.ctl.Waiting(d.ctx, alice)
	require.NoError(t, err)
	require.Len(t, found, 1)
	s, err := d.ctl.Resume(d.ctx, found[0].Task, alice)
	require.NoError(t, err)

	out := d.refuses(s, refund.ConfirmRefund.With(confirm), d.says(s, "continue with yesterday's one"))
	require.Equal(t, machine.Ask, out.Kind)
	require.Contains(t, out.Question, "43.00 EUR")
	d.commits(s, refund.AskAgain.With(refund.Question{Text: "Shall I send it?"}))
	d.commits(s, refund.ConfirmRefund.With(confirm), d.says(s, "yes, refund it"))
	d.work()
	s = d.resume()
	require.Equal(t, refund.Refunded, s.State())
	require.Len(t, d.world.ledger, 1)
	require.Equal(t, machine.CodeNoTransition, d.refuses(s, refund.CancelRefund.With(refund.Reason{Text: "too late"})).Code())
}

// The same proposal again is the same commit again, whoever lost the first answer.
func TestProposalIsReplayed(t *testing.T) {
	d := newDesk(t)
	s := d.start()
	p := refund.RequestRefund.With(machine.None{}).BasedOn(1)
	first := d.commits(s, p)
	again := d.commits(d.resume(), p)
	require.True(t, again.Replayed)
	require.Equal(t, first.Version, again.Version)
	require.Equal(t, first.Offers[0].ID, again.Offers[0].ID)
}

func TestProposalWithAKeyIsReplayedFromAnyVersion(t *testing.T) {
	d := newDesk(t)
	s := d.asked()
	note := func(text string) machine.Proposal {
		return refund.LeaveNote.With(refund.Note{Text: text}).As(guard.User).Keyed("click-1")
	}
	first := d.commits(s, note("a"))
	d.commits(s, refund.LeaveNote.With(refund.Note{Text: "between"}).As(guard.User))
	again := d.commits(s, note("a"))
	require.True(t, again.Replayed)
	require.Equal(t, first.Version, again.Version)
	require.Equal(t, "key_reused", d.refuses(s, note("b")).Code())
	data, ok := machine.As[refund.Refund](s.Snapshot())
	require.True(t, ok)
	require.Equal(t, []string{"a", "between"}, data.Data.Notes)
}

// Somebody else's proposal with the same bytes is not a replay.
func TestReplayIsOfOnePrincipal(t *testing.T) {
	d := newDesk(t)
	s := d.asked()
	p := refund.LeaveNote.With(refund.Note{Text: "a"}).As(guard.User).BasedOn(s.Version())
	d.commits(s, p)
	other, err := d.ctl.Resume(d.ctx, taskID, operator)
	require.NoError(t, err)
	out, err := other.Propose(d.ctx, p)
	require.NoError(t, err)
	require.Equal(t, machine.Conflict, out.Kind)
}

func TestStaleBaseIsAConflict(t *testing.T) {
	d := newDesk(t)
	s := d.asked()
	late := d.resume()
	d.commits(s, refund.LeaveNote.With(refund.Note{Text: "first"}).As(guard.User))
	out := d.refuses(late, refund.LeaveNote.With(refund.Note{Text: "second"}).As(guard.User))
	require.Equal(t, machine.Conflict, out.Kind)
	require.Equal(t, s.Version(), out.Version)
	require.ErrorIs(t, out.Err(), machine.ErrConflict)
	require.NotEmpty(t, out.Permits)
}

// A narrowing event is judged on the newest version: an owner can always cancel what is not yet sent.
func TestNarrowingEventIsJudgedOnTheNewest(t *testing.T) {
	d := newDesk(t)
	s := d.asked()
	d.commits(s, refund.LeaveNote.With(refund.Note{Text: "x"}).As(guard.User))
	d.commits(s, refund.CancelRefund.With(refund.Reason{Text: "changed my mind"}).As(guard.User).BasedOn(1))
	require.Equal(t, refund.Cancelled, s.State())
}

func TestStrangerSeesNothing(t *testing.T) {
	d := newDesk(t)
	d.asked()
	_, forbidden := d.ctl.Resume(d.ctx, taskID, mallory)
	_, unknown := d.ctl.Resume(d.ctx, "no_such_task", mallory)
	require.ErrorIs(t, forbidden, resume.ErrNoTask)
	require.ErrorIs(t, unknown, resume.ErrNoTask)
	require.Equal(t, "task no_such_task: "+resume.ErrNoTask.Error(), unknown.Error())
	require.Equal(t, "task "+taskID+": "+resume.ErrNoTask.Error(), forbidden.Error())
	found, err := d.ctl.Waiting(d.ctx, mallory)
	require.NoError(t, err)
	require.Empty(t, found)

	attempts, err := d.resume().Attempts(d.ctx)
	require.NoError(t, err)
	require.Equal(t, machine.CodeForbidden, attempts[0].Findings[0].Code)
	require.Equal(t, "mallory", attempts[0].Principal)
}

func TestNobodyOutsideActsAsTheController(t *testing.T) {
	d := newDesk(t)
	s := d.dispatched()
	for _, a := range []guard.Actor{guard.Timer, guard.Worker, guard.Observer, ""} {
		out := d.refuses(s, refund.IssueRefund.Info().Confirm(d.key()).As(a))
		require.Equal(t, machine.CodeActor, out.Code(), "%q", a)
	}
	require.Equal(t, machine.CodeActor, d.refuses(s, refund.LeaveNote.With(refund.Note{Text: "x"}).As(guard.Operator)).Code())
}

func TestStartNeverResumes(t *testing.T) {
	d := newDesk(t)
	d.start()
	_, err := d.ctl.Start(d.ctx, refund.Machine.Task(taskID, alice, refund.Refund{OrderID: "123", Amount: euros}), alice)
	require.ErrorIs(t, err, resume.ErrExists)
	_, err = d.ctl.Start(d.ctx, refund.Machine.Task("other", alice, refund.Refund{OrderID: "123", Amount: euros}), mallory)
	require.ErrorIs(t, err, resume.ErrNoTask)
	_, err = d.ctl.Start(d.ctx, machine.Task{}, alice)
	require.ErrorIs(t, err, machine.ErrTask)
}

// With the transcript gone the task still says where it stands (essay 12 to 20, row l).
func TestReport(t *testing.T) {
	d := newDesk(t)
	d.asked()
	d.sleep(24*time.Hour + time.Minute)
	d.world.policy = nil
	r, err := d.resume().Report(d.ctx)
	require.NoError(t, err)
	require.Equal(t, refund.AwaitingUserConfirmation, r.State)
	require.Equal(t, machine.TaskOwner, r.Waiting.For)
	require.Equal(t, []string{"issue_refund"}, r.NotHappened)
	require.Len(t, r.Facts, 4)
	for _, f := range r.Facts[:3] {
		require.Equal(t, guard.Verified, f.Status, "observed again by resuming: %s", f.Key)
	}
	require.Equal(t, "user_confirmation", r.Facts[3].Key.Fact)
	require.Equal(t, guard.Unknown, r.Facts[3].Status, "not answered is not no")
	require.Contains(t, r.String(), "status: awaiting_user_confirmation\n")
	require.Contains(t, r.String(), "has not happened: issue_refund\n")
}

// What resuming confirms is held, so that two who look do not make each other conflict.
func TestResumingIsNoCommit(t *testing.T) {
	d := newDesk(t)
	v := d.asked().Version()
	d.sleep(24*time.Hour + time.Minute)
	a, b := d.resume(), d.resume()
	require.Equal(t, v, a.Version())
	require.Equal(t, v, b.Version())
	d.commits(a, refund.ConfirmRefund.With(confirm), d.says(a, "yes, refund it"))
}

// The policy moved in the night: what was pending is void, with a record (essay 97, row h).
func TestPolicyMoves(t *testing.T) {
	d := newDesk(t)
	d.asked()
	d.sleep(24 * time.Hour)
	d.world.policy = observed(refund.Eligibility{Eligible: true, Policy: "v8"})
	s := d.resume()
	require.Equal(t, refund.AwaitingUserConfirmation, s.State())
	require.Empty(t, s.Offers())
	require.Equal(t, machine.CodeNotOffered, d.refuses(s, refund.ConfirmRefund.With(confirm)).Code())
	for e, err := range s.History(d.ctx) {
		require.NoError(t, err)
		require.Equal(t, "value_changed", e.Voided[0].Reason)
		require.Equal(t, "refund_eligibility(123)", e.Voided[0].Fact.String())
		break
	}
	r, err := s.Report(d.ctx)
	require.NoError(t, err)
	require.Len(t, r.Changed, 1)

	d.commits(s, refund.AskAgain.With(refund.Question{Text: "The policy has changed. Shall I still?"}))
	d.commits(s, refund.ConfirmRefund.With(confirm), d.says(s, "yes, refund it"))
}

// The order was handled through another channel: the task moves by the evidence alone (essay 97, row i).
func TestHandledElsewhere(t *testing.T) {
	d := newDesk(t)
	d.asked()
	d.sleep(24 * time.Hour)
	d.world.status = observed("refunded_by_phone")
	s := d.resume()
	require.Equal(t, refund.HandledElsewhere, s.State())
	require.Empty(t, s.Offers())
}

// A refusal commits what it brought to light, once, and the edge that it drives.
func TestRefusalCommitsWhatItBroughtToLight(t *testing.T) {
	d := newDesk(t)
	s := d.asked()
	d.world.policy = observed(refund.Eligibility{Eligible: false, Policy: "v7"})
	out, err := s.Propose(d.ctx, refund.ConfirmRefund.With(confirm), d.says(s, "yes, refund it"))
	require.NoError(t, err)
	require.Equal(t, machine.Refused, out.Kind)
	require.Equal(t, refund.Declined, s.State())
	require.Equal(t, refund.Declined, out.State)
	require.Empty(t, d.world.sent)
}

func TestWordForWord(t *testing.T) {
	d := newDesk(t)
	s := d.asked()
	for code, c := range map[string]refund.Confirm{
		machine.CodeOfferDiffers: {OrderID: "123", Amount: money.Money{Minor: 9900, Currency: "EUR"}},
		machine.CodeOtherSubject: {OrderID: "124", Amount: euros},
		machine.CodeForm:         {},
	} {
		require.Equal(t, code, d.refuses(s, refund.ConfirmRefund.With(c), d.says(s, "yes, refund it")).Code())
	}
}

// Memory that says "she always confirms" is nothing: only the party's channel counts (essay 126, row k).
func TestOnlyTheChannelCounts(t *testing.T) {
	d := newDesk(t)
	s := d.asked()
	forged := refund.Reply.Observe(guard.NewAuthority("customer_channel"), guard.Observed[guard.Reply]{
		Value: guard.Reply{By: "alice", Text: "yes", Shown: shown(s.Offers()[0])}, Subject: s.Offers()[0].ID, At: d.clock()})
	require.Equal(t, machine.CodeNotEvidence, d.refuses(s, refund.ConfirmRefund.With(confirm), forged).Code())
	bobs := refund.Reply.Observe(d.chat, guard.Observed[guard.Reply]{Value: guard.Reply{By: "bob", Text: "yes", Shown: shown(s.Offers()[0])}, Subject: s.Offers()[0].ID, At: d.clock()})
	require.Equal(t, machine.CodeNotApprover, d.refuses(s, refund.ConfirmRefund.With(confirm), bobs).Code())
	early := refund.Reply.Observe(d.chat, guard.Observed[guard.Reply]{Value: guard.Reply{By: "alice", Text: "yes", Shown: shown(s.Offers()[0])}, Subject: s.Offers()[0].ID, At: d.clock().Add(-time.Hour)})
	require.Equal(t, machine.CodeBeforeQuestion, d.refuses(s, refund.ConfirmRefund.With(confirm), early).Code())
	require.Equal(t, machine.Ask, d.refuses(s, refund.ConfirmRefund.With(confirm)).Kind)
	require.Equal(t, machine.CodeDeclined, d.refuses(s, refund.ConfirmRefund.With(confirm), d.says(s, "do NOT send it")).Code())
}
