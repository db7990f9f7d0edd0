package resume

import (
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlgo/pawl/store"
)

// As many hints are kept as there is room for; one more and none is, but that there were some.
func TestMaxHinted(t *testing.T) {
	h := &hinted{rows: map[string]store.Meta{}}
	fill := func(n int) {
		for i := range n {
			h.add(store.Row{Task: strconv.Itoa(i), Meta: store.Meta{Owner: "a"}})
			h.add(store.Row{Task: strconv.Itoa(i), Meta: store.Meta{Owner: "b"}})
		}
	}
	fill(maxHinted)
	rows, lost := h.take()
	require.False(t, lost)
	require.Len(t, rows, maxHinted)
	require.Equal(t, "b", rows["7"].Owner, "the newest of each")
	fill(maxHinted + 1)
	require.Empty(t, h.rows)
	h.add(store.Row{Task: "late"})
	rows, lost = h.take()
	require.True(t, lost)
	require.Empty(t, rows)
	fill(1)
	rows, lost = h.take()
	require.False(t, lost)
	require.Len(t, rows, 1)
}
