package machinetest

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// altered is the gate's table with one place changed.
func altered(t *testing.T, from, to string) string {
	t.Helper()
	raw, err := os.ReadFile("testdata/gate.txtar")
	require.NoError(t, err)
	require.Contains(t, string(raw), from)
	path := filepath.Join(t.TempDir(), "gate.txtar")
	require.NoError(t, os.WriteFile(path, []byte(strings.Replace(string(raw), from, to, 1)), 0o644))
	return path
}

// Case B123: a row is judged by what it says must hold, and not against one remembered run: an observation more on the way to a
// situation passes, and a row whose end is another one fails.
func TestB123VariationPassesMutationFails(t *testing.T) {
	require.NoError(t, Check(newGate(), altered(t, "user/alice ask_open with", "user/alice leave_mark\nuser/alice ask_open with")))
	require.Error(t, Check(newGate(), altered(t, "| asking |", "| open |")))
}

// Case B124: a table that names what its machine or its own sections do not have fails when it is read, with the place.
func TestB124UnknownNamesFailAtLoad(t *testing.T) {
	for from, to := range map[string]string{"safe(g1)": "sound(g1)", "ask_open": "ask_close"} {
		err := Check(newGate(), altered(t, from, to))
		require.ErrorContains(t, err, "gate.txtar:", from)
		require.ErrorContains(t, err, strings.SplitN(to, "(", 2)[0], from)
	}
}
