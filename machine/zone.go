package machine

import (
	"fmt"
	"time"
	_ "time/tzdata" // Build runs where package variables are made: zones must be there before any main can bring them
)

// Zone is a time zone in which calendar rules are computed. What it gives is an instant: only the way to it is local. The zero Zone
// is UTC. Safe for concurrent use.
type Zone struct{ loc *time.Location }

// LoadZone finds a zone by its IANA name, such as "Asia/Taipei", or "UTC". Its rules are the system's, or on a machine without any
// those that were built in. "Local" and "" are no names: they mean something else on each machine.
func LoadZone(name string) (Zone, error) {
	if name == "" || name == "Local" {
		return Zone{}, fmt.Errorf("zone %q is whatever a machine is set to", name)
	}
	loc, err := time.LoadLocation(name)
	if err != nil {
		return Zone{}, fmt.Errorf("zone %.100q: %w", name, err)
	}
	return Zone{loc}, nil
}

func (z Zone) location() *time.Location {
	if z.loc == nil {
		return time.UTC
	}
	return z.loc
}

// In is the instant as the zone's clocks show it.
func (z Zone) In(t time.Time) time.Time { return t.In(z.location()) }

// At is the instant at which the zone's clocks show a date and time. Where they show it twice it is the first, where they skip it the
// next instant that exists. Months, days, hours and minutes out of range count on, as with [time.Date].
func (z Zone) At(year int, month time.Month, day, hour, minute int) time.Time {
	const farthest = 26 * time.Hour // more than any zone is away from UTC
	wall := time.Date(year, month, day, hour, minute, 0, 0, time.UTC)
	for t := z.In(wall.Add(-farthest)); ; {
		start, end := t.ZoneBounds()
		_, offset := t.Zone()
		at := wall.Add(-time.Duration(offset) * time.Second)
		switch {
		case !start.IsZero() && at.Before(start):
			return z.In(start)
		case end.IsZero() || at.Before(end):
			return z.In(at)
		}
		t = end
	}
}

// EndOfDay is when the day is over that is so many calendar days after the zone's day of t: the first instant of the day after it.
func (z Zone) EndOfDay(t time.Time, days int) time.Time {
	y, m, d := z.In(t).Date()
	return z.At(y, m, d+days+1, 0, 0)
}

// Next is the first instant after t at which it is the time of day on the day of the week.
func (z Zone) Next(t time.Time, day time.Weekday, hour, minute int) time.Time {
	y, m, d := z.In(t).Date()
	for ahead := (int(day) - int(z.In(t).Weekday()) + 7) % 7; ; ahead += 7 {
		if at := z.At(y, m, d+ahead, hour, minute); at.After(t) {
			return at
		}
	}
}
