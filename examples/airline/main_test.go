package main

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

var rate = regexp.MustCompile(`("conversations_per_second":)[0-9.]+`)

// run is what the program prints on its own recordings, but for the speed.
func run(t *testing.T, args ...string) (string, int) {
	t.Helper()
	var out bytes.Buffer
	problems, err := os.Create(t.TempDir() + "/problems")
	require.NoError(t, err)
	defer problems.Close()
	status := replay.Main(t.Context(), domain, args, os.DirFS("testdata"), &out, problems)
	return rate.ReplaceAllString(out.String(), "${1}X"), status
}

func TestReplayOfTheSmallRecordings(t *testing.T) {
	got, status := run(t, "-check")
	require.Zero(t, status)
	compare(t, "testdata/replay.txt", got)
}

func TestExplain(t *testing.T) {
	got, status := run(t, "-explain", "s2")
	require.Zero(t, status)
	got = regexp.MustCompile(`until [0-9: -]+UTC`).ReplaceAllString(got, "until LATER")
	compare(t, "testdata/explain.txt", got)
}

func TestBadArguments(t *testing.T) {
	_, status := run(t, "-nonsense")
	require.Equal(t, 2, status)
	_, status = run(t, "-data", "no such directory")
	require.Equal(t, 1, status)
	_, status = run(t, "-check", "-rate", "1e9")
	require.Equal(t, 1, status)
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
