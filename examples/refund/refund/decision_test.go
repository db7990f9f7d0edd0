package refund_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	projection "github.com/pawlgo/pawl/context"
	"github.com/pawlgo/pawl/examples/refund/money"
	"github.com/pawlgo/pawl/examples/refund/refund"
	"github.com/pawlgo/pawl/guard"
	"github.com/pawlgo/pawl/machine"
)

var (
	yesterday = time.Date(2026, 3, 1, 10, 0, 0, 0, time.UTC)
	customer  = guard.Principal{ID: "u_77"}
	yes       = projection.Quote{Origin: "customer", Text: "continue with yesterday's one"}
)

// awaiting is order 123 at the moment when its question has been asked.
func awaiting(t testing.TB) machine.Snapshot[any] {
	t.Helper()
	task := refund.Machine.Task("refund_order_123", customer, refund.Refund{
		OrderID: "123", Amount: money.Money{Minor: 4300, Currency: "EUR"}, Notes: []string{},
	})
	s, _, err := task.First(yesterday)
	require.NoError(t, err)
	m := machine.Erase(refund.Machine)
	for _, o := range []guard.Observation{
		observe(refund.OrderOwner, "order_service", "u_77", "order_service/123"),
		observe(refund.OrderStatus, "order_service", refund.OrderOpen, "order_service/123"),
		observe(refund.Eligible, "policy", refund.Eligibility{Eligible: true, Policy: "v7"}, "policy/v7"),
	} {
		s = step(t, m, s, machine.Input{Evidence: []guard.Evidence{verified(t, m, s, o)}})
	}
	return step(t, m, s, machine.Input{Proposal: refund.RequestRefund.With(machine.None{}).BasedOn(s.Version)})
}

func observe[T any](f guard.Fact[T], authority string, v T, ref string) guard.Observation {
	return f.Observe(guard.NewAuthority(authority), guard.Observed[T]{Value: v, Subject: "123", Ref: ref, At: yesterday})
}

func verified(t testing.TB, m *machine.Machine[any], s machine.Snapshot[any], o guard.Observation) guard.Evidence {
	t.Helper()
	e, err := guard.Verify(o, guard.Acceptance{
		Fact: m.FactNamed, Trusts: func(*guard.Authority) bool { return true }, Now: yesterday, BasedOn: s.Version,
	})
	require.NoError(t, err)
	return e
}

func step(t testing.TB, m *machine.Machine[any], s machine.Snapshot[any], in machine.Input) machine.Snapshot[any] {
	t.Helper()
	in.Principal, in.Now, in.Received = customer, yesterday, yesterday
	next, out := m.Step(s, in)
	require.NoError(t, out.Err())
	return next
}

func look(t *testing.T, now time.Time, said ...projection.Quote) projection.View {
	t.Helper()
	v, err := refund.InterpretReply.View(awaiting(t), customer, now, said...)
	require.NoError(t, err)
	return v
}

func TestReadAnOffer(t *testing.T) {
	v := look(t, yesterday.Add(23*time.Hour))
	p, err := v.Read([]byte(`{"event":"confirm_refund","payload":{"order_id":"123","amount":{"minor":4300,"currency":"EUR"}}}`))
	require.NoError(t, err)
	require.Equal(t, "confirm_refund", p.Event())
	require.Equal(t, v.Version(), p.Base())
	require.Equal(t, v.Digest(), p.View())
	require.Equal(t, guard.Model, p.Actor())
	require.Equal(t, refund.Confirm{OrderID: "123", Amount: money.Money{Minor: 4300, Currency: "EUR"}}, p.Payload())
}

func TestRefuseWhatWasNotOffered(t *testing.T) {
	v := look(t, yesterday.Add(23*time.Hour))
	for raw, code := range map[string]string{
		`{"event":"confirm_refund","payload":{"order_id":"123","amount":{"minor":4301,"currency":"EUR"}}}`:                          "offer_differs",
		`{"event":"confirm_refund","payload":{"order_id":"123","amount":{"minor":4300,"currency":"EUR"},"user_confirmation":true}}`: "unknown_field",
		`{"event":"confirm_refund","payload":{"order_id":"123","amount":{"minor":4300,"currency":"EUR"}},"state_version":9}`:        "unknown_field",
		`{"event":"request_refund","payload":{}}`: "not_allowed",
	} {
		_, err := v.Read([]byte(raw))
		var refused *projection.RefusedError
		require.ErrorAs(t, err, &refused, raw)
		require.Equal(t, code, refused.Code, raw)
		require.Equal(t, []string{"confirm_refund", "ask_again", "cancel_refund"}, refused.Allowed)
		require.ErrorIs(t, err, guard.ErrForm)
	}
}
