package refund

import (
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlgo/pawl/guard"
	"github.com/pawlgo/pawl/machine"
)

// B003: a consumed answer does not satisfy a later question, and waking the task up with nothing in hand does nothing.
func TestB003ConsumedAnswer(t *testing.T) {
	d := asked(t)
	d.sleep(time.Minute)
	first := d.says(d.offer(), "alice", "yes, refund it")
	d.commits(machine.Proposal{}, alice, first)
	d.commits(AskAgain.With(Question{"Shall I?"}), alice) // the first question is closed, and its answer with it
	require.NotEqual(t, first.Key().Subject, d.offer())
	_, kept := d.at.Facts.Entry(first.Key())
	require.False(t, kept)

	d.refuses(machine.Ask, guard.CodeAsk, confirms(), alice, d.fresh()...)
	before := d.at.Version
	require.Equal(t, machine.CodeNoEvent, d.take(machine.Proposal{}, alice).Code())
	require.Equal(t, before, d.at.Version)
	require.Len(t, d.at.Offers, 1)
	require.False(t, d.at.Emitted(IssueRefund))

	d.commits(confirms(), alice, d.fresh(d.says(d.offer(), "alice", "yes, refund it"))...)
	for _, e := range d.at.Facts.All() {
		require.NotEqual(t, "user_confirmation", e.Key.Fact, "a reply goes with its offer")
	}
}

// B004: of two resumed sessions that both confirm at the same moment, exactly one commits; the other hears the version that won.
func TestB004ConcurrentResumes(t *testing.T) {
	for range 100 {
		k := openDesk(t)
		k.asks()
		k.world.now = k.world.now.Add(time.Hour)
		var sessions []func() (machine.Outcome, error)
		for _, as := range []guard.Actor{guard.Model, guard.User} {
			s := k.resume(k.another())
			yes := k.says(s, "yes, refund it")
			sessions = append(sessions, func() (machine.Outcome, error) { return s.Propose(t.Context(), confirms().As(as), yes) })
		}
		outs, errs := make([]machine.Outcome, 2), make([]error, 2)
		barrier := make(chan struct{})
		var both sync.WaitGroup
		for i, propose := range sessions {
			both.Go(func() { <-barrier; outs[i], errs[i] = propose() })
		}
		close(barrier)
		both.Wait()
		require.NoError(t, errors.Join(errs...))
		won, lost := outs[0], outs[1]
		if won.Kind != machine.Committed {
			won, lost = lost, won
		}
		require.Equal(t, machine.Committed, won.Kind)
		require.Equal(t, machine.Conflict, lost.Kind)
		require.Equal(t, won.Version, lost.Version)
		require.NoError(t, k.ctl.Work(t.Context()))
		require.Len(t, k.world.paid, 1)
	}
}

// B018: an approval of an older question is none of a newer one, whoever copies its digest; and one that stood on a value which has
// changed is void.
func TestB018OldApproval(t *testing.T) {
	d := asked(t)
	c1 := d.at.Offers[0]
	d.sleep(time.Minute)
	d.commits(AskAgain.With(Question{"Shall I?"}), alice)
	c2 := d.at.Offers[0]
	require.Len(t, d.at.Offers, 1, "the newer question closes the older one")
	require.Equal(t, c1.Digest, c2.Digest, "the very same payload")
	require.Equal(t, c1.Expires, c2.Expires, "asking again keeps the first deadline")

	old := d.says(c1.ID, "alice", "yes, refund it")
	d.refuses(machine.Refused, machine.CodeOtherSubject, machine.Proposal{}, alice, old)
	d.refuses(machine.Ask, guard.CodeAsk, confirms(), alice, d.fresh(old)...)

	yes := d.says(c2.ID, "alice", "yes, refund it")
	d.commits(machine.Proposal{}, alice, yes)
	d.commits(machine.Proposal{}, alice, d.policy(true, "v8")) // H2
	require.Empty(t, d.at.Offers)
	d.refuses(machine.Refused, machine.CodeNotOffered, confirms(), alice, d.owner("alice"), d.status(OrderOpen), d.policy(true, "v8"), yes)
}

// B024: what says stop is no approval, and what is neither yes nor no asks once more. Nothing is intended by either.
func TestB024StopIsNoApproval(t *testing.T) {
	for text, want := range map[string]struct {
		kind machine.Kind
		code string
	}{
		"do NOT send it":               {machine.Refused, machine.CodeDeclined},
		"wait, do not run that":        {machine.Refused, machine.CodeDeclined},
		"no":                           {machine.Refused, machine.CodeDeclined},
		"wait":                         {machine.Ask, guard.CodeAsk},
		"yes, but only if it is today": {machine.Ask, guard.CodeAsk},
		"yesterday":                    {machine.Ask, guard.CodeAsk},
		"ok":                           {machine.Ask, guard.CodeAsk},
		"":                             {machine.Ask, guard.CodeAsk},
	} {
		d := asked(t)
		d.sleep(time.Hour)
		d.refuses(want.kind, want.code, confirms(), alice, d.fresh(d.says(d.offer(), "alice", text))...)
		require.False(t, d.at.Emitted(IssueRefund), text)
		require.Len(t, d.at.Offers, 1, text)
	}
}

// malformed wants a payload to be refused for its form, before any guard is asked.
func malformed(t *testing.T, event *machine.EventInfo, raw, code string) {
	t.Helper()
	_, err := event.Decode([]byte(raw))
	require.ErrorIs(t, err, guard.ErrForm, raw)
	var form *guard.FormError
	require.ErrorAs(t, err, &form, raw)
	require.Equal(t, code, form.Code, raw)
}

// B100: duplicate and case-variant keys, unknown fields and trailing bytes are refused, whichever value comes first.
func TestB100DuplicateKeys(t *testing.T) {
	confirm := ConfirmRefund.Info()
	malformed(t, confirm, `{"order_id":"123","amount":{"minor":1,"currency":"EUR"},"amount":{"minor":9000,"currency":"EUR"}}`, "duplicate_key")
	malformed(t, confirm, `{"order_id":"123","amount":{"minor":1,"minor":9000,"currency":"EUR"}}`, "duplicate_key")
	malformed(t, confirm, `{"order_id":"123","Amount":{"minor":9000,"currency":"EUR"},"amount":{"minor":1,"currency":"EUR"}}`, "case_variant_key")
	malformed(t, confirm, `{"order_id":"123","amount":{"minor":1,"currency":"EUR"},"user_confirmation":true}`, "unknown_field")
	malformed(t, confirm, `{"order_id":"123","amount":{"minor":1,"currency":"EUR"}} {}`, "trailing")
	_, err := confirm.Decode([]byte(`{"order_id":"123","amount":{"minor":4300,"currency":"EUR"}}`))
	require.NoError(t, err)
}

// B102: what is missing or null never becomes empty; an empty text is legal only where the type allows it.
func TestB102NullIsNotEmpty(t *testing.T) {
	reason := CancelRefund.Info()
	malformed(t, reason, `{}`, "missing_field")
	malformed(t, reason, `{"text":null}`, "null")
	malformed(t, reason, `null`, "null")
	malformed(t, reason, `"text"`, "wrong_type")
	malformed(t, reason, `[]`, "wrong_type")
	malformed(t, reason, `NaN`, "syntax")
	malformed(t, reason, `{"text":Infinity}`, "syntax")
	malformed(t, reason, `{"text":""}`, "invalid")

	type remark struct {
		Text string `json:"text"`
	}
	p, err := machine.NewEvent[remark]("remark").Info().Decode([]byte(`{"text":""}`))
	require.NoError(t, err)
	require.Equal(t, remark{}, p.Payload())
}
