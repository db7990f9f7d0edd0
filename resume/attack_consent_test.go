package resume_test

import (
	"testing"
	"time"

	"github.com/pawlgo/pawl/examples/refund/refund"
	"github.com/pawlgo/pawl/guard"
	"github.com/pawlgo/pawl/machine"
	"github.com/stretchr/testify/require"
)

// A yes that comes in with the very proposal that opens the question, under the id that the offer is going to have.
func TestAttackYesBeforeTheOfferExists(t *testing.T) {
	d := newDesk(t)
	s := d.start()
	early := refund.Reply.Observe(d.chat, guard.Observed[guard.Reply]{Value: guard.Reply{By: "alice", Text: "yes", Shown: &guard.Shown{Message: "q", At: d.clock()}},
		Subject: taskID + "/2/confirm_refund/0", At: d.clock().Add(30 * time.Second)})
	d.commits(s, refund.RequestRefund.With(machine.None{}).As(guard.User), early)
	require.Equal(t, taskID+"/2/confirm_refund/0", s.Offers()[0].ID)
	out, err := s.Propose(d.ctx, refund.ConfirmRefund.With(confirm))
	require.NoError(t, err)
	require.Equal(t, machine.Ask, out.Kind)
	require.Empty(t, s.Snapshot().Intents)
}

// Another person's word about the offer rides in with a proposal that has nothing to do with it.
func TestAttackStrangersReplyRidesAlong(t *testing.T) {
	d := newDesk(t)
	s := d.asked()
	yes := d.says(s, "yes, refund it")
	bob := refund.Reply.Observe(d.chat, guard.Observed[guard.Reply]{Value: guard.Reply{By: "bob", Text: "no"}, Subject: s.Offers()[0].ID, At: d.clock()})
	d.commits(s, refund.LeaveNote.With(refund.Note{Text: "x"}).As(guard.User), bob)
	d.commits(s, refund.ConfirmRefund.With(confirm), yes) // said before bob's, and not kept out by it
}

// Evidence about another order rides in with a proposal (law 3).
func TestAttackOtherSubjectRidesAlong(t *testing.T) {
	d := newLab(t)
	s := d.begin("lab1", "pen")
	other := stock.Observe(d.warehouse, guard.Observed[map[string]int]{Value: map[string]int{"pen": 9}, Subject: "other_shop"})
	d.commits(s, put.With(setItems{Items: []string{"ink"}}).As(guard.User), other)
	require.Zero(t, s.Snapshot().Facts.Len())
	for e, err := range s.History(d.ctx) {
		require.NoError(t, err)
		require.Empty(t, e.Evidence)
		break
	}
}

// A yes to something else: the party's first message was unclear, nothing was asked again, and the next one says yes.
func TestAttackYesAfterAnUnclearMessage(t *testing.T) {
	d := newDesk(t)
	s := d.asked()
	d.refuses(s, refund.ConfirmRefund.With(confirm), d.says(s, "does it rain tomorrow"))
	for range 2 { // also when it has been kept from the first try
		require.Equal(t, machine.Ask, d.refuses(s, refund.ConfirmRefund.With(confirm), d.says(s, "yes")).Kind)
	}
	d.commits(s, refund.AskAgain.With(refund.Question{Text: "Well?"}))
	d.commits(s, refund.ConfirmRefund.With(confirm), d.says(s, "yes"))
}

// Unclear words and a yes, handed in together and in either order.
func TestAttackUnclearAndYesTogether(t *testing.T) {
	for _, turn := range []bool{false, true} {
		d := newDesk(t)
		s := d.asked()
		both := []guard.Observation{d.says(s, "does it rain tomorrow"), d.says(s, "yes")}
		if turn {
			both[0], both[1] = both[1], both[0]
		}
		require.Equal(t, machine.Ask, d.refuses(s, refund.ConfirmRefund.With(confirm), both...).Kind)
		require.Equal(t, machine.Ask, d.refuses(s, refund.ConfirmRefund.With(confirm)).Kind)
	}
}

// With two offers open a bare yes is about none.
func TestAttackBareYesWithTwoOffers(t *testing.T) {
	d := newLab(t)
	s := d.decide("lab1", "pen", "ink")
	o := s.Offers()
	out, err := s.Propose(d.ctx, yes.With(buy{"s1", []string{"pen"}}), d.reply(o[0].ID, "yes"))
	require.NoError(t, err)
	require.Equal(t, machine.Ask, out.Kind)
}

// A yes to one of two offers, used for the other.
func TestAttackYesToTheOtherOffer(t *testing.T) {
	d := newLab(t)
	s := d.decide("lab1", "pen", "ink")
	o := s.Offers()
	out := d.refuses(s, yes.With(buy{"s1", []string{"ink"}}), d.reply(o[0].ID, "yes"))
	require.Equal(t, machine.Ask, out.Kind)
}

// A button that says yes above words that say no.
func TestAttackButtonAgainstWords(t *testing.T) {
	d := newDesk(t)
	s := d.asked()
	both := refund.Reply.Observe(d.chat, guard.Observed[guard.Reply]{Subject: s.Offers()[0].ID, At: d.clock(),
		Value: guard.Reply{By: "alice", Text: "do NOT send it", Choice: guard.ChoiceYes}})
	out, err := s.Propose(d.ctx, refund.ConfirmRefund.With(confirm), both)
	require.NoError(t, err)
	require.NotEqual(t, machine.Committed, out.Kind)
}
