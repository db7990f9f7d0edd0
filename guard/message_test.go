package guard_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlgo/pawl/guard"
)

// TestMessage: only words that say yes are used up in the store, under the source's own id, or by who wrote what and when.
func TestMessage(t *testing.T) {
	var (
		chat  = guard.NewAuthority("chat")
		reply = guard.NewReply("reply", guard.From("chat"))
		now   = time.Date(2026, 1, 5, 9, 0, 0, 0, time.UTC)
	)
	message := func(offer, id string, r guard.Reply, at time.Time) string {
		o := reply.Observe(chat, guard.Observed[guard.Reply]{Value: r, Subject: offer, At: at}).Identified(id)
		e, err := guard.Verify(o, guard.Acceptance{Fact: func(string) *guard.FactInfo { return reply.Info() },
			Trusts: func(*guard.Authority) bool { return true }, Now: now})
		require.NoError(t, err)
		return e.Message()
	}
	yes := guard.Reply{By: "alice", Text: "yes"}
	first := message("offer/1", "m1", yes, now)
	require.True(t, strings.HasPrefix(first, guard.MessageResource))
	require.Equal(t, first, message("offer/2", "m1", guard.Reply{By: "alice", Text: "yes, please"}, now.Add(-time.Hour)), "the id says which it is")
	require.NotEqual(t, first, message("offer/1", "m2", yes, now))

	unnamed := message("offer/1", "", yes, now)
	require.Equal(t, unnamed, message("offer/2", "", yes, now))
	require.NotEqual(t, unnamed, message("offer/1", "", guard.Reply{By: "bob", Text: "yes"}, now))
	require.NotEqual(t, unnamed, message("offer/1", "", yes, now.Add(-time.Second)))

	for _, r := range []guard.Reply{
		{By: "alice", Choice: guard.ChoiceYes}, {By: "alice", Text: "yes", Choice: guard.ChoiceYes}, {By: "alice", Text: "no"}, {By: "alice", Text: "perhaps"},
	} {
		require.Empty(t, message("offer/1", "m1", r, now), "%+v", r)
	}
}
