package resume

import (
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlgo/pawl/machine"
)

// Each that is noted stands for those since the one before it; every pair is counted for itself, and a long name by what is kept of it.
func TestKnocking(t *testing.T) {
	k := newKnocking()
	sum, noted := 0, 0
	for range 1000 {
		if n := k.again("task", "mallory"); n > 0 {
			sum, noted = sum+n, noted+1
		}
	}
	require.Equal(t, 512, sum)
	require.Equal(t, 10, noted)
	require.Equal(t, 1, k.again("task", "oscar"))
	require.Equal(t, 1, k.again("other", "mallory"))
	long := strings.Repeat("m", machine.MaxPrincipal)
	require.Equal(t, 1, k.again("task", long))
	require.Equal(t, 1, k.again("task", long+"a"), "the second")
	require.Zero(t, k.again("task", long+"b"), "the third")
}

func TestMaxKnocking(t *testing.T) {
	k := newKnocking()
	for i := range maxKnocking {
		k.again(strconv.Itoa(i), "mallory")
	}
	require.Len(t, k.n, maxKnocking)
	k.again("0", "mallory")
	require.Zero(t, k.again("0", "mallory"), "it is counted still")
	require.Len(t, k.n, maxKnocking)
	require.Equal(t, 1, k.again("one more", "mallory"))
	require.Len(t, k.n, 1)
}
