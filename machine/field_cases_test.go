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
