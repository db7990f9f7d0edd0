package machine_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlgo/pawl/guard"
	"github.com/pawlgo/pawl/machine"
)

var (
	again = machine.NewEvent[machine.None]("pay_again")
	halt  = machine.NewEvent[Text]("halt", machine.Narrowing())
)

const Halting machine.State = "halting"

// stoppable pays in one or more parts, and can be halted.
func stoppable(change func(*machine.Builder[Desk])) (*machine.Machine[Desk], error) {
	b := machine.New[Desk]("stoppable", Draft)
	b.Final(Paid)
	machine.On(b, again).From(Draft).To(Paying).By(guard.User).
		Then(machine.EmitEach(Send, func(c Case[machine.None]) []Transfer {
			var out []Transfer
			for i := range c.Data.Amount {
				out = append(out, Transfer{c.Data.OrderID, i + 1})
			}
			return out
		}), machine.Reserve(func(c Case[machine.None]) []machine.Hold {
			return []machine.Hold{{Resource: "cap", Amount: 1, Limit: 1}}
		}))
	machine.On(b, halt).From(Paying).To(Draft).By(guard.User).Withdraw(Send)
	machine.On(b, halt).From(Paying).To(Halting).By(guard.User).Require(Send.Sent())
	machine.On(b, Send.Confirmed()).From(Paying).To(Paid)
	machine.On(b, Send.Failed()).From(Paying, Halting).To(Draft)
	machine.On(b, Send.Confirmed()).From(Halting).To(Paid)
	if change != nil {
		change(b)
	}
	return b.Build()
}

// under is a task of which so many payments are under way.
func under(t require.TestingT, payments int64) (*machine.Machine[Desk], machine.Snapshot[Desk]) {
	m, err := stoppable(nil)
	require.NoError(t, err)
	s, _, err := m.Task("t1", alice, Desk{OrderID: "1", Amount: payments}).First(start)
	require.NoError(t, err)
	typed, _ := machine.As[Desk](s)
	next, out := m.Step(typed, machine.Input{Proposal: again.With(machine.None{}).BasedOn(1).As(guard.User), Principal: alice, Now: start})
	require.NoError(t, out.Err(), "%+v", out.Findings)
	return m, next
}

func stop(m *machine.Machine[Desk], s machine.Snapshot[Desk], unsent ...string) (machine.Snapshot[Desk], machine.Outcome) {
	return m.Step(s, machine.Input{Proposal: halt.With(Text{"no"}).BasedOn(s.Version).As(guard.User), Principal: alice, Now: start.Add(time.Minute), Unsent: unsent})
}

// TestWithdraw: what was surely not sent ends with the commit; what may have been, and what is not known, is waited for.
func TestWithdraw(t *testing.T) {
	m, s := under(t, 2)
	for name, row := range map[string]struct {
		unsent []string
		state  machine.State
	}{
		"both unsent":      {[]string{"t1/send/1", "t1/send/2"}, Draft},
		"one may be sent":  {[]string{"t1/send/1"}, Halting},
		"nothing is known": {nil, Halting},
		"another's key":    {[]string{"t2/send/1", "t1/send/9"}, Halting},
	} {
		next, out := stop(m, s, row.unsent...)
		require.NoError(t, out.Err(), name)
		require.Equal(t, row.state, next.State, name)
		raw, err := m.Encode(nil, next)
		require.NoError(t, err)
		back, err := m.Decode(raw)
		require.NoError(t, err)
		for _, i := range back.Intents {
			require.Equal(t, row.state == Draft, i.Status == machine.Withdrawn, name)
			require.Equal(t, row.state == Halting, i.Unsettled(), name)
		}
	}
}

// TestWithdrawnIsOver: the effect is idle, its operations go on counting, it may be intended again without a confirmation of its own,
// and nothing settles it any more.
func TestWithdrawnIsOver(t *testing.T) {
	m, s := under(t, 1)
	s, out := stop(m, s, "t1/send/1")
	require.NoError(t, out.Err())
	require.True(t, s.Settled(Send))
	_, out = m.Step(s, machine.Input{Proposal: Send.Info().Confirm("t1/send/1").BasedOn(s.Version), Now: start.Add(time.Hour)})
	require.Equal(t, machine.Refused, out.Kind)
	s, out = m.Step(s, machine.Input{Proposal: again.With(machine.None{}).BasedOn(s.Version).As(guard.User), Principal: alice, Now: start.Add(time.Hour)})
	require.NoError(t, out.Err(), "%+v", out.Findings)
	require.Equal(t, "t1/send/2", out.Intents[0].Key)
	s, out = stop(m, s, "t1/send/2")
	require.NoError(t, out.Err())
	require.Len(t, s.Intents, 1, "of the settled ones the last is kept")
}

// TestSentIsToldApart: where nothing was sent, the edge for what may have been is closed, and the other way round; permits do not guess.
func TestSentIsToldApart(t *testing.T) {
	m, s := under(t, 1)
	open := func(unsent []string) []machine.Permit {
		return m.Permits(s, machine.Input{Principal: alice, Now: start, Unsent: unsent})
	}
	for _, unsent := range [][]string{nil, {}, {"t1/send/1"}} {
		permits := open(unsent)
		require.Len(t, permits, 1)
		require.True(t, permits[0].Open)
	}
	only, err := stoppable(nil)
	require.NoError(t, err)
	require.True(t, only.Withdraws())
	require.False(t, desk.Withdraws())
}

// TestWithdrawFaults: what no definition may withdraw.
func TestWithdrawFaults(t *testing.T) {
	overridden := machine.NewEvent[machine.Overridden]("force")
	for text, change := range map[string]func(*machine.Builder[Desk]){
		"which cannot be under way there": func(b *machine.Builder[Desk]) {
			machine.On(b, Note).From(Draft).To(Paid).By(guard.User).Withdraw(Send)
		},
		"overrides, and withdraws": func(b *machine.Builder[Desk]) {
			machine.Override(b, overridden).From(Paying).To(Paid).Withdraw(Send)
		},
		"zero Effect": func(b *machine.Builder[Desk]) {
			machine.On(b, Note).From(Paying).Stay().By(guard.User).Withdraw(machine.Effect[Transfer, Slip]{})
		},
	} {
		_, err := stoppable(change)
		require.ErrorContains(t, err, text)
	}
}

// TestEndWithdrawsTheOthers: where one part ends and the parts that were not sent are withdrawn with it, the snapshot keeps all of their ends.
func TestEndWithdrawsTheOthers(t *testing.T) {
	b := machine.New[Desk]("parts", Draft)
	b.Final(Closed)
	machine.On(b, again).From(Draft).To(Paying).By(guard.User).
		Then(machine.EmitEach(Send, func(Case[machine.None]) []Transfer { return []Transfer{{"1", 1}, {"1", 2}} }))
	machine.On(b, Send.Confirmed()).From(Paying).Stay()
	machine.On(b, Send.Failed()).From(Paying).To(Closed).Withdraw(Send)
	m := b.MustBuild()
	first, _, err := m.Task("t1", alice, Desk{OrderID: "1"}).First(start)
	require.NoError(t, err)
	s, _ := machine.As[Desk](first)
	s, out := m.Step(s, machine.Input{Proposal: again.With(machine.None{}).BasedOn(1).As(guard.User), Principal: alice, Now: start})
	require.NoError(t, out.Err(), "%+v", out.Findings)

	ends := machine.Input{Proposal: Send.Info().Fail("t1/send/1", "refused").BasedOn(2), Now: start.Add(time.Minute)}
	_, out = m.Step(s, ends)
	require.Equal(t, machine.CodeMaybeSent, out.Code(), "the other one may have been sent")
	ends.Unsent = []string{"t1/send/2"}
	s, out = m.Step(s, ends)
	require.NoError(t, out.Err(), "%+v", out.Findings)
	require.Equal(t, Closed, s.State)
	require.Len(t, s.Intents, 2)
	require.Equal(t, []machine.IntentStatus{machine.Failed, machine.Withdrawn}, []machine.IntentStatus{s.Intents[0].Status, s.Intents[1].Status})
}
