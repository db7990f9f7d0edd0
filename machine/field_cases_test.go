package machine_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlgo/pawl/guard"
	"github.com/pawlgo/pawl/machine"
)

// TestB039: a decision that was sent before the question is refused to its sender, and never answers the question later.
func TestB039(t *testing.T) {
	w := newWorld(t)
	early := saw(w, Answer, "t1/2/pay/0", guard.Reply{By: "alice", Text: "yes", Shown: &guard.Shown{Message: "m1", At: start}})
	_, out := w.tryAs(guard.Principal{}, machine.Proposal{}, early)
	require.Equal(t, machine.CodeOtherSubject, out.Code(), "no such offer is open")
	w.after(time.Second)
	w.does(Ask.With(machine.None{}), append(w.fine(), early)...)
	require.Equal(t, "t1/2/pay/0", w.s.Offers[0].ID)
	_, kept := w.s.Facts.Entry(early.Entry().Key)
	require.False(t, kept)
	w.after(time.Second)
	w.refuses(machine.CodeBeforeQuestion, PayIt.With(Pay{"1", 50}), append(w.fine(), early)...)
}

// TestB042: what a person is asked is what will run. Characters that hide or reorder others are written out in the question, the
// digest is of the exact bytes, ids with such characters are refused at the door, and ordinary text of any language is left alone.
func TestB042(t *testing.T) {
	type memo struct {
		OrderID string `json:"order_id" about:"order"`
		Payee   string `json:"payee"`
		Account string `json:"account"`
		Memo    string `json:"memo"`
	}
	ask, agree := machine.NewEvent[memo]("ask_for_memo"), machine.NewEvent[memo]("agree_to_memo")
	b := machine.New[Desk]("memos", Draft)
	b.Final(Closed)
	machine.On(b, ask).From(Draft).To(Asking).By(guard.User).
		Then(machine.Offer(agree, machine.TaskOwner, time.Hour, func(c Case[memo]) []memo { return []memo{c.Payload} }))
	machine.On(b, agree).From(Asking).To(Closed).By(guard.User).Confirm(Answer)
	m := b.MustBuild()
	question := func(p memo) machine.OpenOffer {
		bench := newBench(t, m)
		bench.does(alice, ask.With(p).As(guard.User))
		return bench.s.Offers[0]
	}
	odd := question(memo{"1", "ACME\u200b", "\uff11\uff12", "pay \u202eevil\u2066\u2028"})
	require.Contains(t, odd.Question, `payee "ACME\u200b"`)
	require.Contains(t, odd.Question, `memo "pay \u202eevil\u2066\u2028"`)
	require.NotContains(t, odd.Question, "\u200b")
	require.NotEqual(t, odd.Digest, question(memo{"1", "ACME", "\uff11\uff12", "pay \u202eevil\u2066\u2028"}).Digest)
	require.NotEqual(t, odd.Digest, question(memo{"1", "ACME\u200b", "12", "pay \u202eevil\u2066\u2028"}).Digest)
	require.Contains(t, question(memo{"1", "王小明", "1", "مرحبا 🎉"}).Question, `payee "王小明", account "1", memo "مرحبا 🎉"`)

	for id, ok := range map[string]bool{"1": true, "訂單七": true, "1\u200b": false, "1\u202e": false, "1\n": false, "1\ue000": false, "1\u0378": false} {
		_, _, err := desk.Task("t1", alice, Desk{OrderID: id}).First(start)
		require.Equal(t, ok, err == nil, "%+q: %v", id, err)
		if !ok {
			require.ErrorIs(t, err, machine.ErrTask)
			_, out := newBench(t, m).try(alice, ask.With(memo{OrderID: id}).As(guard.User))
			require.Equal(t, machine.CodeForm, out.Code(), "%+q", id)
		}
	}
}

// TestB043: an invalid call uses nothing up. The same offer is agreed to afterwards.
func TestB043(t *testing.T) {
	w := asked(t).after(time.Minute)
	yes := w.says("alice", "yes")
	w.refuses(machine.CodeForm, PayIt.With(Pay{"1", 0}), append(w.fine(), yes)...)
	w.refuses(machine.CodeOtherSubject, PayIt.With(Pay{"2", 50}), append(w.fine(), yes)...)
	w.refuses("not_owner", PayIt.With(Pay{"1", 50}), saw(w, OwnerOf, "1", "bob"), saw(w, Good, "1", true), yes)
	require.Len(t, w.s.Offers, 1)
	w.does(PayIt.With(Pay{"1", 50}), append(w.fine(), yes)...)
}

// TestB055: what comes late pulls no end back. Once there is a receipt the effect has not failed, and once it has ended neither another receipt
// nor a failure ends it again.
func TestB055(t *testing.T) {
	w := paying(t)
	receipt := saw(w, SlipOf, w.key(), Slip{50})
	w.refuses(machine.CodeHappened, Send.Info().Fail(w.key(), "timeout"), receipt)
	w.does(Send.Info().Confirm(w.key()), receipt)
	require.Equal(t, Paid, w.s.State)

	// The same where the task goes on, and the edges for both ends are still there.
	b := machine.New[Desk]("goes_on", Draft)
	b.Final(Closed)
	machine.On(b, Change).From(Draft).To(Paying).By(guard.User).
		Then(machine.Emit(Send, func(c Case[Pay]) Transfer { return Transfer{c.Data.OrderID, c.Payload.Amount} }))
	machine.On(b, Send.Confirmed()).From(Paying).Stay()
	machine.On(b, Send.Failed()).From(Paying).Stay()
	machine.On(b, Note).From(Paying).To(Closed).By(guard.User).Require(Send.Idle())
	bench := newBench(t, b.MustBuild())
	bench.does(alice, Change.With(Pay{"1", 50}).As(guard.User))
	key := bench.s.Intents[0].Key
	bench.does(guard.Principal{}, Send.Info().Confirm(key), SlipOf.Observe(handles["bank"], guard.Observed[Slip]{Value: Slip{50}, Subject: key}))
	for _, late := range []machine.Proposal{Send.Info().Fail(key, "error"), Send.Info().Confirm(key)} {
		_, out := bench.try(guard.Principal{}, late)
		require.Equal(t, machine.CodeNoIntent, out.Code())
	}
	require.Equal(t, machine.Confirmed, bench.s.Intents[0].Status)
}

// TestB066: one spelling names a task; every other is refused at the door.
func TestB066(t *testing.T) {
	for id, ok := range map[string]bool{
		"A1": true, "a1": true, "123e4567-e89b-12d3-a456-426614174000": true,
		" A1": false, "A1\n": false, "\u00e9": false, "e\u0301": false, "../A1": false, "A1/..": false, "": false,
		strings.Repeat("x", 300): false, "A1\x00": false, "\uff21\uff11": false, "A\u200b1": false,
	} {
		require.Equal(t, ok, machine.CheckTaskID(id) == nil, "%q", id)
	}
}

// TestB112: "complete" in words completes nothing: the end of an effect needs its receipt, and the message is a note.
func TestB112(t *testing.T) {
	w := paying(t)
	w.does(Note.With(Text{"complete: it has been paid"}))
	require.Equal(t, Paying, w.s.State)
	w.refuses(guard.CodeUnknown, Send.Info().Confirm(w.key()))
	w.refuses(machine.CodeActor, Send.Confirmed().With(machine.Settled{Key: w.key(), Reason: "complete"}).As(guard.Model))
}

// TestB087: a missing or malformed status is no answer, whichever way it is asked for.
func TestB087(t *testing.T) {
	for _, raw := range []string{`null`, `"false"`, `0`, ``, `{}`, `"true"`, `1`} {
		_, err := Good.Info().Observe(handles["policy"], []byte(raw), "1", "", start)
		require.ErrorIs(t, err, guard.ErrForm, raw)
	}
	w := newWorld(t)
	_, out := w.try(Ask.With(machine.None{}), saw(w, OwnerOf, "1", "alice"))
	require.Equal(t, machine.NeedsEvidence, out.Kind, "not known to be good")
	_, out = w.tryAs(guard.Principal{}, machine.Proposal{}, saw(w, OwnerOf, "1", "alice"))
	require.Equal(t, Draft, w.s.State, "nor known to be bad: nothing is driven")
	require.NoError(t, out.Err())
}
