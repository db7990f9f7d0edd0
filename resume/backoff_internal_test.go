package resume

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// The wait doubles up to its bound, and spreads over half of itself: effects of one outage do not all come back at once.
func TestBackoff(t *testing.T) {
	for tries, full := range map[int]time.Duration{0: firstBackoff, 1: firstBackoff, 2: 2 * firstBackoff, 5: 16 * firstBackoff, 100: lastBackoff} {
		seen := map[time.Duration]bool{}
		for i := range 100 {
			d := backoff(fmt.Sprintf("t/pay/%d", i), tries)
			require.GreaterOrEqual(t, d, full/2)
			require.Less(t, d, full)
			seen[d] = true
		}
		require.Greater(t, len(seen), 90, "%d tries", tries)
	}
}
