package guard_test

import (
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/pawlgo/pawl/guard"
)

// What these tests are about: an order, what the shop says of it, and a task of its own.
var (
	noon = time.Date(2026, 3, 29, 12, 0, 0, 0, time.UTC)

	shop   = guard.NewAuthority("shop")
	owner  = guard.NewFact[string]("owner", guard.From("shop"), guard.About("order"), guard.MaxAge(time.Hour))
	paid   = guard.NewFact[bool]("paid", guard.From("shop"), guard.About("order"), guard.MaxAge(time.Hour))
	stock  = guard.NewFact[int64]("stock", guard.From("shop"), guard.About("item"), guard.Lasting())
	price  = guard.NewFact[int64]("price", guard.From("shop"), guard.About("item"), guard.Volatile())
	rate   = guard.NewFact[int64]("rate", guard.From("shop"), guard.About("order"), guard.Lasting())
	level  = guard.NewFact[string]("level", guard.From("shop"), guard.Lasting(), guard.Ordered(guard.BySequence))
	latest = guard.NewFact[string]("latest", guard.From("shop"), guard.Lasting(), guard.Ordered(guard.ByArrival))

	facts = map[string]*guard.FactInfo{
		"owner": owner.Info(), "paid": paid.Info(), "stock": stock.Info(), "price": price.Info(), "rate": rate.Info(), "level": level.Info(), "latest": latest.Info(),
	}
)

// accept verifies an observation as the shop's, at an instant.
func accept(t require.TestingT, o guard.Observation, now time.Time) guard.Evidence {
	ev, err := guard.Verify(o, guard.Acceptance{
		Fact: func(name string) *guard.FactInfo { return facts[name] }, Trusts: func(a *guard.Authority) bool { return a == shop }, Now: now, BasedOn: 7,
	})
	require.NoError(t, err)
	return ev
}

// saw is evidence that a value held at noon.
func saw[T any](t require.TestingT, f guard.Fact[T], subject string, v T) guard.Evidence {
	return accept(t, f.Observe(shop, guard.Observed[T]{Value: v, Subject: subject, At: noon}), noon)
}

// scene is order 1 with item a, at noon.
func scene(f guard.Facts) *guard.Scene {
	return guard.NewScene(guard.SceneSpec{
		Task: "t", Now: noon, Received: noon, Actor: guard.User, Principal: guard.Principal{ID: "alice"}, Facts: f,
		Subjects: guard.Subjects{"order": {"1"}, "item": {"a"}},
	})
}

// known holds evidence.
func known(evidence ...guard.Evidence) guard.Facts {
	f, _ := guard.Facts{}.With(evidence...)
	return f
}

// word names a verdict.
func word(v guard.Verdict) string {
	switch {
	case v.Allowed():
		return "allow"
	case v.Asks():
		return "ask"
	case v.Unknown():
		return "unknown"
	}
	return "deny"
}

func anyOf[T any](t *rapid.T, label string, from ...T) T {
	return rapid.SampledFrom(from).Draw(t, label)
}
