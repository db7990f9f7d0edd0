package refund

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlgo/pawl/examples/refund/money"
	"github.com/pawlgo/pawl/guard"
	"github.com/pawlgo/pawl/machine"
)

var (
	alice  = guard.Principal{ID: "alice"}
	bob    = guard.Principal{ID: "bob"}
	euros  = money.Money{Minor: 4300, Currency: "EUR"}
	agreed = Confirm{OrderID: "123", Amount: euros}
	order  = Refund{OrderID: "123", Amount: euros, Notes: []string{}}
	dayOne = time.Date(2026, 1, 5, 9, 0, 0, 0, time.UTC)
)

// day is order 123 at the pure machine, with a clock, and the handles of the sources that it believes.
type day struct {
	t     *testing.T
	m     *machine.Machine[Refund]
	at    machine.Snapshot[Refund]
	now   time.Time
	hands map[string]*guard.Authority
}

func begin(t *testing.T, m *machine.Machine[Refund]) *day {
	first, _, err := m.Task("refund_order_123", alice, order).First(dayOne)
	require.NoError(t, err)
	at, ok := machine.As[Refund](first)
	require.True(t, ok)
	d := &day{t: t, m: m, at: at, now: dayOne, hands: map[string]*guard.Authority{}}
	for _, name := range []string{"order_service", "policy", "customer_channel", "payments"} {
		d.hands[name] = guard.NewAuthority(name)
	}
	return d
}

// asked is the evening of the first day as essay.md 5.1 tells it: version 4, the owner and the eligibility verified, the
// question put, nothing sent.
func asked(t *testing.T) *day {
	d := begin(t, Machine)
	d.commits(machine.Proposal{}, alice, d.owner("alice"))
	d.commits(machine.Proposal{}, alice, d.status(OrderOpen), d.policy(true, "v7"))
	d.commits(RequestRefund.With(machine.None{}).As(guard.User), alice)
	require.Equal(t, uint64(4), d.at.Version)
	require.Equal(t, AwaitingUserConfirmation, d.at.State)
	return d
}

func (d *day) sleep(by time.Duration) { d.now = d.now.Add(by) }

func (d *day) owner(id string) guard.Observation {
	return OrderOwner.Observe(d.hands["order_service"], guard.Observed[string]{Value: id, Subject: "123", Ref: "order_service/123", At: d.now})
}

func (d *day) status(s string) guard.Observation {
	return OrderStatus.Observe(d.hands["order_service"], guard.Observed[string]{Value: s, Subject: "123", Ref: "order_service/123", At: d.now})
}

func (d *day) policy(eligible bool, version string) guard.Observation {
	return Eligible.Observe(d.hands["policy"], guard.Observed[Eligibility]{
		Value: Eligibility{eligible, version}, Subject: "123", Ref: "policy/" + version, At: d.now,
	})
}

// says is what somebody typed in the channel, about an offer.
func (d *day) says(offer, by, text string) guard.Observation {
	return Reply.Observe(d.hands["customer_channel"], guard.Observed[guard.Reply]{
		Value: guard.Reply{By: by, Text: text, Shown: d.shown(offer)}, Subject: offer, Ref: "message/7", At: d.now,
	})
}

// shown is the channel's word that the question of an offer was shown as soon as it was put.
func (d *day) shown(offer string) *guard.Shown {
	o, open := d.at.Offer(offer)
	if !open {
		return nil
	}
	return &guard.Shown{Message: "message/6", At: o.OpenedAt}
}

// offer is the id of the one open offer.
func (d *day) offer() string {
	require.Len(d.t, d.at.Offers, 1)
	return d.at.Offers[0].ID
}

// fresh is everything that a confirmation needs beside the reply, observed now.
func (d *day) fresh(more ...guard.Observation) []guard.Observation {
	return append([]guard.Observation{d.owner("alice"), d.status(OrderOpen), d.policy(true, "v7")}, more...)
}

// verify accepts an observation as a controller does.
func (d *day) verify(o guard.Observation) (guard.Evidence, error) {
	return guard.Verify(o, guard.Acceptance{Fact: d.m.FactNamed, Now: d.now, BasedOn: d.at.Version,
		Trusts: func(a *guard.Authority) bool { return d.hands[a.Name()] == a }})
}

// take steps, a second later. Without a base, a proposal is based on the newest version. The zero proposal only observes.
func (d *day) take(p machine.Proposal, who guard.Principal, observations ...guard.Observation) machine.Outcome {
	d.sleep(time.Second)
	in := machine.Input{Proposal: p, Principal: who, Now: d.now, Received: d.now.Add(-time.Second)}
	if p.Event() != "" && p.Base() == 0 {
		in.Proposal = p.BasedOn(d.at.Version)
	}
	for _, o := range observations {
		e, err := d.verify(o)
		require.NoError(d.t, err)
		in.Evidence = append(in.Evidence, e)
	}
	next, out := d.m.Step(d.at, in)
	if out.Kind != machine.Committed {
		require.Equal(d.t, d.bytes(d.at), d.bytes(next), "a refusal changes nothing")
	}
	d.at = next
	return out
}

func (d *day) bytes(s machine.Snapshot[Refund]) string {
	b, err := d.m.Encode(nil, s)
	require.NoError(d.t, err)
	return string(b)
}

func (d *day) commits(p machine.Proposal, who guard.Principal, observations ...guard.Observation) {
	d.t.Helper()
	require.NoError(d.t, d.take(p, who, observations...).Err())
}

// refuses wants this kind of outcome, with this first reason, and no new version.
func (d *day) refuses(kind machine.Kind, code string, p machine.Proposal, who guard.Principal, observations ...guard.Observation) machine.Outcome {
	d.t.Helper()
	before := d.at.Version
	out := d.take(p, who, observations...)
	require.Equal(d.t, kind, out.Kind, out.Findings)
	require.Equal(d.t, code, out.Code(), out.Findings)
	require.Equal(d.t, before, d.at.Version)
	return out
}
