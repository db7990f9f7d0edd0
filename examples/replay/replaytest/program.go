// Package replaytest runs the program of a replay on the recordings that come with it.
package replaytest

import (
	"bytes"
	"flag"
	"os"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlgo/pawl/examples/replay"
)

var update = flag.Bool("update", false, "write what came out as what is expected")

var (
	rate  = regexp.MustCompile(`("conversations_per_second":)[0-9.]+`)
	until = regexp.MustCompile(`until [0-9: -]+UTC`)
)

// Program compares all that the program prints on the recordings below testdata, but for speed and dates, with testdata/replay.txt and,
// of the conversation that explained names, with testdata/explain.txt; with -update it writes them.
func Program(t *testing.T, domain *replay.Domain, explained string) {
	t.Run("replay", func(t *testing.T) {
		got, status := run(t, domain, "-check")
		require.Zero(t, status)
		compare(t, "testdata/replay.txt", got)
	})
	t.Run("explain", func(t *testing.T) {
		got, status := run(t, domain, "-explain", explained)
		require.Zero(t, status)
		compare(t, "testdata/explain.txt", until.ReplaceAllString(got, "until LATER"))
	})
	for want, args := range map[int][][]string{2: {{"-nonsense"}}, 1: {{"-data", "no such directory"}, {"-check", "-rate", "1e9"}}} {
		for _, bad := range args {
			_, status := run(t, domain, bad...)
			require.Equal(t, want, status, "%q", bad)
		}
	}
}

func run(t *testing.T, domain *replay.Domain, args ...string) (string, int) {
	t.Helper()
	var out bytes.Buffer
	problems, err := os.Create(t.TempDir() + "/problems")
	require.NoError(t, err)
	defer problems.Close()
	status := replay.Main(t.Context(), domain, args, os.DirFS("testdata"), &out, problems)
	return rate.ReplaceAllString(out.String(), "${1}X"), status
}

func compare(t *testing.T, file, got string) {
	t.Helper()
	if *update {
		require.NoError(t, os.WriteFile(file, []byte(got), 0o644))
	}
	want, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Equal(t, string(want), got)
}
