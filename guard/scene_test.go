package guard_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlgo/pawl/guard"
)

// TestAge: to the microsecond. Evidence of exactly the greatest age still counts, a microsecond more is stale.
func TestAge(t *testing.T) {
	const us = time.Microsecond
	for _, row := range []struct {
		name   string
		fact   guard.AnyFact
		look   func(guard.Looker) bool
		past   time.Duration // from the observation to now
		came   time.Duration // from the observation to when the proposal came in
		fresh  bool
		status guard.Status
	}{
		{"young", owner, looks(owner), 0, 0, false, guard.Verified},
		{"at its age", owner, looks(owner), time.Hour, 0, false, guard.Verified},
		{"past its age", owner, looks(owner), time.Hour + us, 0, false, guard.Stale},
		{"dated ahead", owner, looks(owner), -time.Minute, 0, false, guard.Verified},
		{"lasting", stock, looks(stock), 1000 * time.Hour, 0, false, guard.Verified},
		{"fresh when it came in", owner, looks(owner), us, 0, true, guard.Verified},
		{"seen before it came in", owner, looks(owner), us, us, true, guard.Stale},
		{"fresh and too old", owner, looks(owner), time.Hour + us, 0, true, guard.Stale},
		{"lasting and not fresh", stock, looks(stock), us, us, true, guard.Stale},
		{"volatile, of this request", price, looks(price), us, 0, false, guard.Verified},
		{"volatile, of another", price, looks(price), us, us, false, guard.Stale},
	} {
		spec := guard.SceneSpec{Now: noon.Add(row.past), Received: noon.Add(row.came), Subjects: guard.Subjects{"order": {"1"}, "item": {"a"}},
			Facts: known(saw(t, owner, "1", "alice"), saw(t, stock, "a", 3), saw(t, price, "a", 5))}
		if row.fresh {
			spec.Fresh = []guard.AnyFact{row.fact}
		}
		_, status := guard.NewScene(spec).Reading(row.fact)
		require.Equal(t, row.status, status, row.name)
		require.Equal(t, row.status == guard.Verified, row.look(guard.NewScene(spec)), row.name)
	}
}

func looks[T any](f guard.Fact[T]) func(guard.Looker) bool {
	return func(l guard.Looker) bool { _, ok := f.Get(l); return ok }
}

// TestSceneWithoutReceived: where nobody says when the proposal came in, Fresh and Volatile mean now.
func TestSceneWithoutReceived(t *testing.T) {
	for _, past := range []time.Duration{0, time.Microsecond} {
		s := guard.NewScene(guard.SceneSpec{Now: noon.Add(past), Facts: known(saw(t, price, "a", 5)), Subjects: guard.Subjects{"item": {"a"}}})
		_, status := s.Reading(price)
		require.Equal(t, past == 0, status == guard.Verified)
	}
}

func TestReading(t *testing.T) {
	s := scene(known(saw(t, owner, "1", "alice"), saw(t, paid, "1", true), saw(t, paid, "1", false)))
	e, status := s.Reading(owner)
	require.Equal(t, guard.Verified, status)
	require.Equal(t, guard.Entry{Key: guard.Key{Fact: "owner", Subject: "1"}, Value: "alice", Source: "shop", At: noon, Seen: noon, BasedOn: 7}, e)
	_, status = s.Reading(paid)
	require.Equal(t, guard.Unknown, status, "disputed")
	_, status = s.Reading(stock)
	require.Equal(t, guard.Unknown, status)
	_, status = s.Reading(guard.Fact[bool]{})
	require.Equal(t, guard.Unknown, status)
	_, status = guard.NewScene(guard.SceneSpec{Now: noon}).Reading(owner)
	require.Equal(t, guard.Unknown, status, "about nothing")
	require.Empty(t, s.Used(), "a reader is no ground")
}

func TestRecord(t *testing.T) {
	s := guard.NewScene(guard.SceneSpec{Now: noon.Add(1000 * time.Hour), Facts: known(saw(t, owner, "1", "alice"), saw(t, paid, "1", true), saw(t, paid, "1", false))})
	e, ok := s.Record(guard.Key{Fact: "owner", Subject: "1"})
	require.True(t, ok)
	require.Equal(t, []*guard.Entry{&e}, s.Used())
	_, ok = s.Record(guard.Key{Fact: "paid", Subject: "1"})
	require.False(t, ok, "disputed")
	_, ok = s.Record(guard.Key{Fact: "owner", Subject: "2"})
	require.False(t, ok)
	require.Equal(t, 3, guard.NewScene(guard.SceneSpec{Effects: effects{3, 1}}).Unsettled("x"))
	require.Equal(t, 1, guard.NewScene(guard.SceneSpec{Effects: effects{3, 1}}).MaySent("x"))
	require.Zero(t, s.Unsettled("x"))
	require.Zero(t, s.MaySent("x"))
	require.Equal(t, 2, s.Facts().Len())
}

// effects are so many unsettled, and of them so many that may have been sent.
type effects struct{ unsettled, maySent int }

func (e effects) Unsettled(string) int { return e.unsettled }
func (e effects) MaySent(string) int   { return e.maySent }
