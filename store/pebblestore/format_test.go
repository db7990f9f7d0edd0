package pebblestore

import (
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/cockroachdb/pebble/v2"
	"github.com/stretchr/testify/require"

	"github.com/pawlgo/pawl/store"
)

var update = flag.Bool("update", false, "write the stores of testdata anew; only for a format that was never released")

// TestOldStoresOpen opens the stores that earlier versions wrote, one that was closed and one that was killed, each a copy,
// and finds in them what was there. They must open forever. (Field case B061.)
func TestOldStoresOpen(t *testing.T) {
	if *update {
		writeOld(t, filepath.Join("testdata", "stores", "v1"))
	}
	for _, version := range []string{"v1"} {
		dir := filepath.Join("testdata", "stores", version)
		want, err := os.ReadFile(filepath.Join(dir, "dump.txt"))
		require.NoError(t, err)
		for _, how := range []string{"closed", "killed"} {
			here := filepath.Join(t.TempDir(), how)
			require.NoError(t, os.CopyFS(here, os.DirFS(filepath.Join(dir, how))))
			c := &clock{}
			c.at.Store(epoch)
			s, err := Open(here, Options{Now: c.now})
			require.NoError(t, err, how)
			sound(t, s, how)
			got, err := dump(s)
			require.NoError(t, err)
			require.Equal(t, string(want), got, how)
			as, err := s.Attempts(ctx, "task-0")
			require.NoError(t, err)
			require.Equal(t, []store.Attempt{{At: 7, Count: 2, Body: []byte("refused")}}, as)
			require.NoError(t, s.Close())
		}
	}
}

// writeOld writes the stores of this version: part in a table, part in the log.
func writeOld(t *testing.T, dir string) {
	require.NoError(t, os.RemoveAll(dir))
	live := filepath.Join(t.TempDir(), "live")
	c := &clock{}
	c.at.Store(epoch)
	s, err := Open(live, Options{Now: c.now})
	require.NoError(t, err)
	for i, op := range generate(8, 40, 200) {
		c.at.Store(epoch + int64(i)*1e6)
		require.NoError(t, op(s))
		if i == 25 {
			require.NoError(t, s.Note(ctx, "task-0", store.Attempt{At: 7, Count: 2, Body: []byte("refused")}))
			require.NoError(t, s.db.Flush())
		}
	}
	want, err := dump(s)
	require.NoError(t, err)
	require.NoError(t, s.db.LogData(nil, pebble.Sync))
	require.NoError(t, os.CopyFS(filepath.Join(dir, "killed"), os.DirFS(live)))
	require.NoError(t, s.Close())
	require.NoError(t, os.CopyFS(filepath.Join(dir, "closed"), os.DirFS(live)))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "dump.txt"), []byte(want), 0o644))
}
