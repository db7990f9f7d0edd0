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
