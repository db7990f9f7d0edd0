package main

import (
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/stretchr/testify/require"
)

// Whatever is synced on a slow disk takes its time, and is there.
func TestSlowDisk(t *testing.T) {
	const sync = 2 * time.Millisecond
	disk := slowDisk{vfs.NewMem(), sync}
	write := func(f vfs.File, err error) {
		require.NoError(t, err)
		_, err = f.Write([]byte("x"))
		require.NoError(t, err)
		for _, synced := range []func() error{f.Sync, f.SyncData} {
			begun := time.Now()
			require.NoError(t, synced())
			require.GreaterOrEqual(t, time.Since(begun), sync)
		}
		full, err := f.SyncTo(1)
		require.NoError(t, err)
		require.False(t, full, "in memory it only begins")
		require.NoError(t, f.Close())
	}
	write(disk.Create("a", vfs.WriteCategoryUnspecified))
	write(disk.ReuseForWrite("a", "b", vfs.WriteCategoryUnspecified))
	write(disk.OpenReadWrite("b", vfs.WriteCategoryUnspecified))
	_, err := disk.OpenReadWrite("missing/file", vfs.WriteCategoryUnspecified)
	require.Error(t, err)
}
