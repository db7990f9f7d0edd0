package machine_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlgo/pawl/machine"
)

func zone(t *testing.T, name string) machine.Zone {
	z, err := machine.LoadZone(name)
	require.NoError(t, err)
	return z
}

// TestZoneAt: what the zone's clocks show once, twice, and never.
func TestZoneAt(t *testing.T) {
	for _, c := range []struct {
		zone                         string
		year, month, day, hour, mins int
		want                         string
	}{
		{"Asia/Taipei", 2026, 12, 4, 17, 0, "2026-12-04T09:00:00Z"},
		{"UTC", 2026, 12, 4, 17, 0, "2026-12-04T17:00:00Z"},
		{"America/New_York", 2026, 3, 8, 1, 59, "2026-03-08T06:59:00Z"},
		{"America/New_York", 2026, 3, 8, 2, 0, "2026-03-08T07:00:00Z"},  // skipped
		{"America/New_York", 2026, 3, 8, 2, 59, "2026-03-08T07:00:00Z"}, // skipped: the next that exists
		{"America/New_York", 2026, 3, 8, 3, 0, "2026-03-08T07:00:00Z"},
		{"America/New_York", 2025, 11, 2, 0, 59, "2025-11-02T04:59:00Z"},
		{"America/New_York", 2025, 11, 2, 1, 0, "2025-11-02T05:00:00Z"}, // twice: the first
		{"America/New_York", 2025, 11, 2, 1, 59, "2025-11-02T05:59:00Z"},
		{"America/New_York", 2025, 11, 2, 2, 0, "2025-11-02T07:00:00Z"},
		{"Australia/Lord_Howe", 2026, 4, 5, 1, 45, "2026-04-04T14:45:00Z"},  // half an hour, twice
		{"Australia/Lord_Howe", 2026, 10, 4, 2, 15, "2026-10-03T15:30:00Z"}, // half an hour, skipped
		{"Pacific/Apia", 2011, 12, 30, 12, 0, "2011-12-30T10:00:00Z"},       // a day that never was
		{"America/New_York", 2026, 2, 31, 24, 60, "2026-03-04T06:00:00Z"},   // counts on
	} {
		got := zone(t, c.zone).At(c.year, time.Month(c.month), c.day, c.hour, c.mins)
		require.Equal(t, c.want, got.UTC().Format(time.RFC3339), "%v", c)
	}
	require.Equal(t, start.UTC(), machine.Zone{}.In(start), "the zero Zone is UTC")
}

// TestZoneRules: ends of days and days of the week across changes of clocks, wherever the machine is.
func TestZoneRules(t *testing.T) {
	newYork, taipei := zone(t, "America/New_York"), zone(t, "Asia/Taipei")
	noon := newYork.At(2025, 11, 1, 12, 0)
	require.Equal(t, newYork.At(2025, 11, 3, 0, 0), newYork.EndOfDay(noon, 1))
	require.Equal(t, 49*time.Hour-12*time.Hour, newYork.EndOfDay(noon, 1).Sub(noon), "a day of 25 hours")
	require.Equal(t, "2026-12-30T16:00:00Z", taipei.EndOfDay(time.Date(2026, 11, 30, 15, 59, 59, 0, time.UTC), 30).UTC().Format(time.RFC3339))
	require.Equal(t, "2026-12-31T16:00:00Z", taipei.EndOfDay(time.Date(2026, 11, 30, 16, 0, 0, 0, time.UTC), 30).UTC().Format(time.RFC3339), "it was the next day there")
	friday := taipei.At(2026, 12, 4, 17, 0)
	require.Equal(t, friday, taipei.Next(friday.Add(-time.Microsecond), time.Friday, 17, 0))
	require.Equal(t, taipei.At(2026, 12, 11, 17, 0), taipei.Next(friday, time.Friday, 17, 0))
	require.Equal(t, friday, taipei.Next(taipei.At(2026, 11, 28, 0, 0), time.Friday, 17, 0))
}

func TestUnknownZones(t *testing.T) {
	for _, name := range []string{"", "Local", "Asia/Taipeh", "../etc/passwd"} {
		_, err := machine.LoadZone(name)
		require.Error(t, err, name)
	}
}

func ExampleZone_At() {
	taipei, err := machine.LoadZone("Asia/Taipei")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(taipei.At(2026, time.December, 4, 17, 0).UTC())
	// Output: 2026-12-04 09:00:00 +0000 UTC
}
