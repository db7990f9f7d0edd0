package guard_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlgo/pawl/guard"
)

// Case B105: an instant is written with its zone; seconds, milliseconds, a number in quotes and a time without zone are not guessed at.
func TestB105SecondsAndMilliseconds(t *testing.T) {
	type deadline struct {
		ExpiresAt time.Time `json:"expires_at" validate:"required"`
	}
	for _, text := range []string{`1781740800`, `1781740800000`, `"1781740800"`, `"2026-06-18T00:00:00"`, `"2026-06-18"`, `"2026-06-18 00:00:00Z"`, `null`, `""`} {
		_, err := guard.Decode[deadline]([]byte(`{"expires_at":` + text + `}`))
		require.ErrorIs(t, err, guard.ErrForm, text)
	}
	for _, text := range []string{`"2026-06-18T00:00:00Z"`, `"2026-06-18T08:00:00+08:00"`} {
		d, err := guard.Decode[deadline]([]byte(`{"expires_at":` + text + `}`))
		require.NoError(t, err)
		require.True(t, d.ExpiresAt.Equal(time.Unix(1781740800, 0)), text)
	}
}

// Case B078: a provider reports all that was refunded so far, not what was refunded last: the largest figure stands, whatever comes
// late or twice, and nothing is added up.
func TestB078CumulativeFigures(t *testing.T) {
	refunded := guard.NewFact[int64]("refunded", guard.From("shop"), guard.About("order"), guard.Lasting(), guard.Ordered(guard.BySequence))
	accept := guard.Acceptance{Fact: func(string) *guard.FactInfo { return refunded.Info() }, Trusts: func(*guard.Authority) bool { return true }, Now: noon}
	total := func(figure int64) guard.Evidence {
		ev, err := guard.Verify(refunded.Observe(shop, guard.Observed[int64]{Value: figure, Subject: "1", Seq: uint64(figure)}), accept)
		require.NoError(t, err)
		return ev
	}
	for _, deliveries := range [][]int64{{2000, 5000}, {5000, 2000, 5000}, {5000, 5000, 2000, 2000}, {2000, 2000, 5000}} {
		var facts guard.Facts
		for _, figure := range deliveries {
			facts, _ = facts.With(total(figure))
		}
		stands, known := refunded.Of("1").Get(facts)
		require.True(t, known)
		require.Equal(t, int64(5000), stands, "%v", deliveries)
	}
}
