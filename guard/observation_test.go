package guard_test

import (
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlgo/pawl/guard"
)

type parcel struct {
	ID    string            `json:"id" validate:"required"`
	Items map[string]string `json:"items"`
	Tags  []string          `json:"tags"`
	Share float64           `json:"share"`
}

var parcels = guard.NewFact[parcel]("parcel", guard.From("shop"), guard.About("order"), guard.Lasting())

var closed = guard.NewFact[string]("closed", guard.From("shop"), guard.About("order"), guard.Lasting(), guard.Dated())

// Case B076: what was deleted is not revived by an older event, nor by one that does not say when it was so.
func TestB076RedeliveryAfterDelete(t *testing.T) {
	accept := guard.Acceptance{Fact: func(string) *guard.FactInfo { return closed.Info() }, Trusts: func(*guard.Authority) bool { return true }, Now: noon}
	at := func(value string, t time.Time) guard.Observation {
		return closed.Observe(shop, guard.Observed[string]{Value: value, Subject: "1", At: t})
	}
	deleted, err := guard.Verify(at("deleted", noon.Add(-5*time.Minute)), accept)
	require.NoError(t, err)
	active, err := guard.Verify(at("active", noon.Add(-6*time.Minute)), accept)
	require.NoError(t, err)
	facts, merged := guard.Facts{}.With(deleted, active)
	require.Equal(t, []guard.Merged{guard.News, guard.Late}, merged)
	_, err = guard.Verify(at("active", time.Time{}), accept)
	require.ErrorContains(t, err, "undated")
	value, known := closed.Of("1").Get(facts)
	require.True(t, known)
	require.Equal(t, "deleted", value)
}

// TestVerify refuses each thing that is no evidence, with its code.
func TestVerify(t *testing.T) {
	stranger := guard.NewAuthority("shop")
	other := guard.NewAuthority("bank")
	twin := guard.NewFact[int]("owner", guard.From("shop"), guard.Lasting())
	nobody := guard.NewFact[string]("nobody", guard.From("shop"), guard.Lasting())
	seen := func(o guard.Observed[string]) guard.Observed[string] {
		if o.Subject == "" {
			o.Subject = "1"
		}
		return o
	}
	long := strings.Repeat("x", guard.MaxSubject+1)
	for _, row := range []struct {
		name string
		o    guard.Observation
		code string
	}{
		{"the zero observation", guard.Observation{}, "unknown_fact"},
		{"of the zero fact", guard.Fact[string]{}.Observe(shop, guard.Observed[string]{Subject: "1"}), "unknown_fact"},
		{"an undeclared fact", nobody.Observe(shop, seen(guard.Observed[string]{})), "unknown_fact"},
		{"no handle", owner.Observe(nil, seen(guard.Observed[string]{})), "untrusted_authority"},
		{"another handle of the same name", owner.Observe(stranger, seen(guard.Observed[string]{})), "untrusted_authority"},
		{"another authority", owner.Observe(other, seen(guard.Observed[string]{})), "wrong_authority"},
		{"no subject", owner.Observe(shop, guard.Observed[string]{Value: "alice"}), "no_subject"},
		{"a long subject", owner.Observe(shop, guard.Observed[string]{Subject: long}), "too_long"},
		{"a long reference", owner.Observe(shop, seen(guard.Observed[string]{Ref: long})), "too_long"},
		{"a subject that is no text", owner.Observe(shop, guard.Observed[string]{Subject: "\xff"}), "form"},
		{"a reference that is no text", owner.Observe(shop, seen(guard.Observed[string]{Ref: "\xff"})), "form"},
		{"a value that is no text", owner.Observe(shop, seen(guard.Observed[string]{Value: "\xff"})), "form"},
		{"a value of another type", twin.Observe(shop, guard.Observed[int]{Value: 1, Subject: "1"}), "wrong_type"},
		{"a value that is not valid", parcels.Observe(shop, guard.Observed[parcel]{Subject: "1"}), "form"},
		{"not a number", parcels.Observe(shop, guard.Observed[parcel]{Value: parcel{ID: "p", Share: math.NaN()}, Subject: "1"}), "form"},
		{"undated", closed.Observe(shop, seen(guard.Observed[string]{})), "undated"},
		{"from the future", owner.Observe(shop, seen(guard.Observed[string]{At: noon.Add(guard.FutureTolerance + 1)})), "from_the_future"},
	} {
		ev, err := guard.Verify(row.o, guard.Acceptance{
			Fact: func(name string) *guard.FactInfo {
				return map[string]*guard.FactInfo{"owner": owner.Info(), "parcel": parcels.Info(), "closed": closed.Info()}[name]
			},
			Trusts: func(a *guard.Authority) bool { return a == shop || a == other }, Now: noon,
		})
		var e *guard.EvidenceError
		require.ErrorAs(t, err, &e, row.name)
		require.Equal(t, row.code, e.Code, row.name)
		require.ErrorIs(t, err, guard.ErrEvidence)
		require.ErrorContains(t, err, row.code)
		require.Zero(t, ev, row.name)
	}
	_, err := guard.Verify(owner.Observe(shop, seen(guard.Observed[string]{})), guard.Acceptance{})
	require.ErrorIs(t, err, guard.ErrEvidence, "the zero Acceptance accepts nothing")
}

// TestVerifyLimits accepts what is just within.
func TestVerifyLimits(t *testing.T) {
	most := strings.Repeat("x", guard.MaxSubject)
	ev := accept(t, owner.Observe(shop, guard.Observed[string]{Subject: most, Ref: most[:guard.MaxRef], At: noon.Add(guard.FutureTolerance)}), noon)
	require.Equal(t, noon.Add(time.Minute), ev.Entry().At)
	full := strings.Repeat("v", guard.MaxValue-2) // and two quotes
	require.Len(t, accept(t, owner.Observe(shop, guard.Observed[string]{Subject: "1", Value: full}), noon).Raw(), guard.MaxValue)
	_, err := guard.Verify(owner.Observe(shop, guard.Observed[string]{Subject: "1", Value: full + "v"}), guard.Acceptance{
		Fact: func(string) *guard.FactInfo { return owner.Info() }, Trusts: func(*guard.Authority) bool { return true }, Now: noon})
	require.ErrorContains(t, err, "too_long")
}

// TestEvidence is what was observed: in whole microseconds, by the source's time or else ours, and not in the observer's
// own memory.
func TestEvidence(t *testing.T) {
	now := noon.Add(1500 * time.Nanosecond)
	ev := accept(t, owner.Of("1").Observe(shop, guard.Observed[string]{Value: "alice", Ref: "r", Seq: 3}).Identified("e1"), now)
	require.Equal(t, guard.Entry{Key: guard.Key{Fact: "owner", Subject: "1"}, Value: "alice", Source: "shop", Ref: "r", Seq: 3, BasedOn: 7,
		At: noon.Add(time.Microsecond), Seen: noon.Add(time.Microsecond)}, ev.Entry())
	require.Equal(t, `"alice"`, string(ev.Raw()))
	require.False(t, ev.WasPulled())
	require.True(t, ev.Pulled().WasPulled())
	require.Equal(t, owner.Info(), ev.Fact())

	p := parcel{ID: "p", Items: map[string]string{"a": "b"}, Tags: []string{"x"}}
	o := parcels.Observe(shop, guard.Observed[parcel]{Value: p, Subject: "1"})
	facts["parcel"] = parcels.Info()
	defer delete(facts, "parcel")
	ev = accept(t, o, noon)
	p.Items["a"], p.Tags[0] = "changed", "changed"
	require.Equal(t, parcel{ID: "p", Items: map[string]string{"a": "b"}, Tags: []string{"x"}}, ev.Entry().Value)
	require.Equal(t, "owner(1)", owner.Of("1").Observe(shop, guard.Observed[string]{}).Key().String())
	require.Equal(t, "e1", owner.Observe(shop, guard.Observed[string]{}).Identified("e1").ID())
}

// TestObserveRaw decodes strictly.
func TestObserveRaw(t *testing.T) {
	o, err := parcels.Info().Observe(shop, []byte(`{"id":"p","items":{},"tags":[],"share":0}`), "1", "r", noon)
	require.NoError(t, err)
	require.Equal(t, "parcel(1)", o.Key().String())
	for _, raw := range []string{`{"id":"p"}`, `{"id":"","items":{},"tags":[],"share":0}`, `{"id":"p","items":{},"tags":[],"share":0,"more":1}`, `null`, ``} {
		_, err := parcels.Info().Observe(shop, []byte(raw), "1", "r", noon)
		require.True(t, errors.Is(err, guard.ErrForm), raw)
	}
}
