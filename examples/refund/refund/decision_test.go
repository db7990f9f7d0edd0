package refund_test

import (
	"flag"
	"os"
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
	order123  = refund.Refund{OrderID: "123", Amount: money.Money{Minor: 4300, Currency: "EUR"}, Notes: []string{}}
	yes       = projection.Quote{Origin: "customer", Text: "continue with yesterday's one"}
)

// awaiting is order 123 at the moment when its question has been asked.
func awaiting(t testing.TB) machine.Snapshot[any] {
	t.Helper()
	task := refund.Machine.Task("refund_order_123", customer, order123)
	s, _, err := task.First(yesterday)
	require.NoError(t, err)
	m := machine.Erase(refund.Machine)
	for _, o := range []guard.Observation{
		observe(refund.OrderOwner, "order_service", "u_77", "order_service/123", yesterday),
		observe(refund.OrderStatus, "order_service", refund.OrderOpen, "order_service/123", yesterday),
		observe(refund.Eligible, "policy", refund.Eligibility{Eligible: true, Policy: "v7"}, "policy/v7", yesterday),
	} {
		s = step(t, m, s, machine.Input{Evidence: []guard.Evidence{verified(t, m, s, o, yesterday)}})
	}
	return step(t, m, s, machine.Input{Proposal: refund.RequestRefund.With(machine.None{}).BasedOn(s.Version)})
}

func observe[T any](f guard.Fact[T], authority string, v T, ref string, at time.Time) guard.Observation {
	return f.Observe(guard.NewAuthority(authority), guard.Observed[T]{Value: v, Subject: "123", Ref: ref, At: at})
}

func verified(t testing.TB, m *machine.Machine[any], s machine.Snapshot[any], o guard.Observation, now time.Time) guard.Evidence {
	t.Helper()
	e, err := guard.Verify(o, guard.Acceptance{
		Fact: m.FactNamed, Trusts: func(*guard.Authority) bool { return true }, Now: now, BasedOn: s.Version,
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

// TestViews holds the views of order 123 that a person has read: minutes after the question, and on the second day, in
// each language. The flag -update rewrites them.
func TestViews(t *testing.T) {
	s := awaiting(t)
	for _, language := range []string{"en", "zh-Hant", "zh-Hans"} {
		d, err := refund.InterpretReply.In(language)
		require.NoError(t, err)
		for day, now := range map[string]time.Time{"day1": yesterday.Add(3 * time.Minute), "day2": yesterday.Add(23 * time.Hour)} {
			v, err := d.View(s, customer, now, yes)
			require.NoError(t, err)
			file := "testdata/views/" + day + "." + language + ".md"
			if flag.Lookup("update").Value.String() == "true" {
				require.NoError(t, os.MkdirAll("testdata/views", 0o755))
				require.NoError(t, os.WriteFile(file, []byte(v.Markdown()), 0o644))
			}
			want, err := os.ReadFile(file)
			require.NoError(t, err)
			require.Equal(t, string(want), v.Markdown())
		}
	}
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

// TestViewIsSmall: what one model call reads is a small part of what the task is: at most a tenth of the snapshot and its
// history of 20 entries.
func TestViewIsSmall(t *testing.T) {
	m := machine.Erase(refund.Machine)
	task := refund.Machine.Task("refund_order_123", customer, order123)
	s, first, err := task.First(yesterday)
	require.NoError(t, err)
	raw, err := first.Append(nil)
	require.NoError(t, err)
	history, entries := len(raw), 1
	take := func(in machine.Input, now time.Time) {
		in.Principal, in.Now, in.Received = customer, now, now
		next, out := m.Step(s, in)
		require.NoError(t, out.Err())
		raw, err := out.Entry().Append(nil)
		require.NoError(t, err)
		s, history, entries = next, history+len(raw), entries+1
	}
	for i := range 18 {
		now := yesterday.Add(time.Duration(i) * time.Minute)
		take(machine.Input{Evidence: []guard.Evidence{
			verified(t, m, s, observe(refund.OrderOwner, "order_service", "u_77", "order_service/123", now), now),
			verified(t, m, s, observe(refund.OrderStatus, "order_service", refund.OrderOpen, "order_service/123", now), now),
			verified(t, m, s, observe(refund.Eligible, "policy", refund.Eligibility{Eligible: true, Policy: "v7"}, "policy/v7", now), now),
		}}, now)
	}
	now := yesterday.Add(18 * time.Minute)
	take(machine.Input{Proposal: refund.RequestRefund.With(machine.None{}).BasedOn(s.Version)}, now)
	require.Equal(t, 20, entries)
	snapshot, err := m.Encode(nil, s)
	require.NoError(t, err)
	v, err := refund.InterpretReply.View(s, customer, now, yes)
	require.NoError(t, err)
	whole, shown := len(snapshot)+history, len(v.Markdown())
	t.Logf("Markdown %d, JSON %d, envelope %d, tools %d; snapshot %d, history %d: %.1f %%", shown, len(v.JSON()), len(v.Schema()),
		len(v.OpenAITools()), len(snapshot), history, 100*float64(shown)/float64(whole))
	require.LessOrEqual(t, 10*shown, whole)
}
