package mcp

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlgo/pawl/guard"
	"github.com/pawlgo/pawl/resume"
)

// TestWorstStatus tells of a fact about several subjects the worst status, and none of the subjects.
func TestWorstStatus(t *testing.T) {
	about := func(subject string, s guard.Status) resume.ReportedFact {
		return resume.ReportedFact{Key: guard.Key{Fact: "price", Subject: subject}, Status: s}
	}
	for _, c := range []struct {
		facts []resume.ReportedFact
		want  string
	}{
		{[]resume.ReportedFact{about("a", guard.Verified)}, "verified"},
		{[]resume.ReportedFact{about("a", guard.Verified), about("b", guard.Stale)}, "needs_reverification"},
		{[]resume.ReportedFact{about("a", guard.Stale), about("b", guard.Verified)}, "needs_reverification"},
		{[]resume.ReportedFact{about("a", guard.Stale), about("b", guard.Unknown), about("c", guard.Verified)}, "not_known"},
	} {
		r := reportOf(resume.Report{Facts: c.facts}, guard.Principal{ID: "a"})
		require.Equal(t, []factStatus{{"price", c.want}}, r.Facts)
	}
}

// TestParty names no other person.
func TestParty(t *testing.T) {
	who := guard.Principal{ID: "trader", Roles: []string{"desk"}}
	for waitsFor, want := range map[string]string{"": "", "user/trader": "you", "role/desk": "you", "role/risk": "role/risk", "user/alice": "somebody else"} {
		require.Equal(t, want, party(who, waitsFor), waitsFor)
	}
	require.Equal(t, "you", waitedFor(who, "trader", "owner"))
	require.Equal(t, "owner", waitedFor(who, "alice", "owner"))
}
