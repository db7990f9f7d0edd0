package machine_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlgo/pawl/guard"
	"github.com/pawlgo/pawl/machine"
)

type Parcel struct {
	Delivered time.Time `json:"delivered"`
	Notes     int       `json:"notes"`
}

type Arrival struct {
	At time.Time `json:"at"`
}

var (
	Correct = machine.NewEvent[Arrival]("correct")
	Jot     = machine.NewEvent[machine.None]("jot")
	Chime   = machine.NewEvent[machine.None]("chime")
	Keep    = machine.NewEvent[machine.None]("keep")
)

const returnRule = "30 days after delivery, end of day"

// parcels may be returned until the end of the 30th day after delivery in New York; a note is written every Friday.
func parcels() *machine.Builder[Parcel] {
	b := machine.New[Parcel]("parcel", "delivered")
	b.Final("kept")
	b.At("delivered", "America/New_York", returnRule, func(p Parcel, z machine.Zone) time.Time {
		switch {
		case p.Delivered.IsZero():
			return time.Time{}
		case p.Delivered.Year() == 1999:
			panic("no such parcel")
		}
		return z.EndOfDay(p.Delivered, 30)
	}, Keep)
	b.After("delivered", time.Hour, Chime)
	machine.On(b, Correct).From("delivered").Stay().By(guard.User).Apply(func(p *Parcel, c guard.Case[Parcel, Arrival]) { p.Delivered = c.Payload.At })
	machine.On(b, Jot).From("delivered").Stay().By(guard.User).Apply(func(p *Parcel, _ guard.Case[Parcel, machine.None]) { p.Notes++ })
	machine.On(b, Chime).From("delivered").Stay()
	machine.On(b, Keep).From("delivered").To("kept")
	return b
}

// parcel is a task of parcels, taken step by step.
type parcel struct {
	t *testing.T
	m *machine.Machine[Parcel]
	s machine.Snapshot[Parcel]
}

func newParcel(t *testing.T, delivered time.Time) *parcel {
	m := parcels().MustBuild()
	s, _, err := m.Task("t1", alice, Parcel{Delivered: delivered}).First(start)
	require.NoError(t, err)
	typed, _ := machine.As[Parcel](s)
	return &parcel{t, m, typed}
}

func (p *parcel) try(at time.Time, proposal machine.Proposal) machine.Outcome {
	next, out := p.m.Step(p.s, machine.Input{Proposal: proposal.BasedOn(p.s.Version), Principal: alice, Now: at})
	p.s = next
	return out
}

func (p *parcel) corrects(at, delivered time.Time) machine.Outcome {
	return p.try(at, Correct.With(Arrival{delivered}).As(guard.User))
}

func (p *parcel) due(event string) (all []time.Time) {
	for _, t := range p.s.Timers {
		if t.Event == event {
			all = append(all, t.Due)
		}
	}
	return all
}

// TestDeadline: the timer is armed from data, fires at its instant and not before, and is the same for all settings of the machine.
func TestDeadline(t *testing.T) {
	local := time.Local
	defer func() { time.Local = local }()
	for _, tz := range []string{"UTC", "Asia/Taipei", "America/New_York", "Australia/Lord_Howe"} {
		loc, err := time.LoadLocation(tz)
		require.NoError(t, err)
		time.Local = loc
		p := newParcel(t, start)
		want := zone(t, "America/New_York").EndOfDay(start, 30)
		require.Equal(t, []time.Time{want.UTC()}, p.due("keep"), tz)
		keep := Keep.With(machine.None{}).AsController(guard.Timer)
		require.Equal(t, machine.CodeNotDue, p.try(want.Add(-time.Microsecond), keep).Code())
		require.NoError(t, p.try(want, keep).Err())
		require.Equal(t, machine.State("kept"), p.s.State)
		require.Empty(t, p.s.Timers)
	}
}

// TestDeadlineFollowsData: computed again with each change in the stay; the other timers stay as they are.
func TestDeadlineFollowsData(t *testing.T) {
	p := newParcel(t, time.Time{})
	require.Empty(t, p.due("keep"), "nothing was delivered")
	hour := p.due("chime")
	end := func(at time.Time) []time.Time { return []time.Time{zone(t, "America/New_York").EndOfDay(at, 30).UTC()} }
	require.NoError(t, p.corrects(start, start).Err())
	require.Equal(t, end(start), p.due("keep"))
	later := start.AddDate(0, 0, 7)
	require.NoError(t, p.corrects(start, later).Err())
	require.Equal(t, end(later), p.due("keep"), "another one takes its place")
	require.NoError(t, p.try(start, Jot.With(machine.None{}).As(guard.User)).Err())
	require.Equal(t, end(later), p.due("keep"))
	require.Equal(t, hour, p.due("chime"))

	require.NoError(t, p.corrects(start, start.AddDate(-1, 0, 0)).Err())
	due := p.m.Due(p.s, start)
	require.Len(t, due, 1, "it has passed: it fires at once")
	require.Equal(t, "keep", due[0].Event())
	require.NoError(t, p.corrects(start, time.Time{}).Err())
	require.Empty(t, p.due("keep"))
}

// TestDeadlinePutOff: a note does not bring back the instant of a timer that was put off; a new deadline takes its place.
func TestDeadlinePutOff(t *testing.T) {
	p := newParcel(t, start)
	due := p.due("keep")[0]
	var put bool
	p.s, _, put = p.m.Postpone(p.s, machine.Outcome{Event: "keep"}, due)
	require.True(t, put)
	off := p.due("keep")
	require.Equal(t, []time.Time{due.Add(machine.MinTimerRetry)}, off)
	require.NoError(t, p.try(due, Jot.With(machine.None{}).As(guard.User)).Err())
	require.Equal(t, off, p.due("keep"))
	require.NoError(t, p.corrects(due, due).Err())
	require.NotEqual(t, off, p.due("keep"))
}

// TestDeadlineFiresOnce: one that fired in a stay that goes on is not armed again by data that leaves it where it was, nor by a clock
// that steps back; moved, it is.
func TestDeadlineFiresOnce(t *testing.T) {
	b := machine.New[Parcel]("parcel", "delivered")
	b.Final("kept")
	b.At("delivered", "Asia/Taipei", "the day of delivery", func(p Parcel, z machine.Zone) time.Time { return z.EndOfDay(p.Delivered, 0) }, Chime)
	machine.On(b, Chime).From("delivered").Stay().Apply(func(p *Parcel, _ guard.Case[Parcel, machine.None]) { p.Notes++ })
	machine.On(b, Correct).From("delivered").Stay().By(guard.User).Apply(func(p *Parcel, c guard.Case[Parcel, Arrival]) { p.Delivered = c.Payload.At })
	machine.On(b, Keep).From("delivered").To("kept").By(guard.User)
	p := newParcel(t, start)
	p.m = b.MustBuild()
	s, _, err := p.m.Task("t1", alice, Parcel{Delivered: start}).First(start)
	require.NoError(t, err)
	p.s, _ = machine.As[Parcel](s)
	due := p.due("chime")[0]
	remind := Chime.With(machine.None{}).AsController(guard.Timer)
	require.NoError(t, p.try(due, remind).Err())
	require.Empty(t, p.s.Timers)
	require.Equal(t, machine.CodeNotDue, p.try(due.Add(-time.Hour), remind).Code())
	require.NoError(t, p.corrects(due.Add(-time.Hour), start.Add(time.Second)).Err())
	require.Empty(t, p.s.Timers, "the same day")
	require.NoError(t, p.corrects(due, due).Err())
	require.Equal(t, []time.Time{due.Add(24 * time.Hour)}, p.due("chime"))
}

// TestDeadlineFaults: a rule that fails changes nothing; both sides of its years.
func TestDeadlineFaults(t *testing.T) {
	m := parcels().MustBuild()
	for _, at := range []time.Time{time.Date(1999, 5, 1, 0, 0, 0, 0, time.UTC), time.Date(1969, 1, 1, 0, 0, 0, 0, time.UTC), time.Date(9999, 12, 20, 0, 0, 0, 0, time.UTC)} {
		_, _, err := m.Task("t1", alice, Parcel{Delivered: at}).First(start)
		require.ErrorIs(t, err, machine.ErrTask)
		p := newParcel(t, start)
		before := p.s
		require.Equal(t, machine.CodeEdgeFault, p.corrects(start, at).Code())
		require.Equal(t, before, p.s)
	}
	for _, at := range []time.Time{time.Date(1970, 1, 1, 0, 0, 0, 0, time.UTC), time.Date(9999, 11, 20, 0, 0, 0, 0, time.UTC)} {
		require.NoError(t, newParcel(t, start).corrects(start, at).Err())
	}
}

func TestDeadlineDeclarations(t *testing.T) {
	never := func(Parcel, machine.Zone) time.Time { return time.Time{} }
	for want, declare := range map[string]func(*machine.Builder[Parcel]){
		`zone "Asia/Taipeh"`: func(b *machine.Builder[Parcel]) { b.At("delivered", "Asia/Taipeh", "x", never, Jot) },
		`zone "Local"`:       func(b *machine.Builder[Parcel]) { b.At("delivered", "Local", "x", never, Jot) },
		"a rule has 1 to":    func(b *machine.Builder[Parcel]) { b.At("delivered", "UTC", "", never, Jot) },
		"101": func(b *machine.Builder[Parcel]) {
			b.At("delivered", "UTC", strings.Repeat("x", machine.MaxRule+1), never, Jot)
		},
		"can be seen":        func(b *machine.Builder[Parcel]) { b.At("delivered", "UTC", "a\nb", never, Jot) },
		"has no time":        func(b *machine.Builder[Parcel]) { b.At("delivered", "UTC", "x", nil, Jot) },
		"two timers of keep": func(b *machine.Builder[Parcel]) { b.After("delivered", time.Hour, Keep) },
		"is the zero Event":  func(b *machine.Builder[Parcel]) { b.At("delivered", "UTC", "x", never, machine.Event[machine.None]{}) },
	} {
		b := parcels()
		declare(b)
		_, err := b.Build()
		require.ErrorIs(t, err, machine.ErrDefinition, want)
		if want != "101" {
			require.ErrorContains(t, err, want)
		}
	}
	b := parcels()
	b.At("delivered", "UTC", strings.Repeat("x", machine.MaxRule), never, Jot)
	b.MustBuild()
}

// TestDeadlineDescribed: the rule and its zone stand wherever a delay does, and in the digest.
func TestDeadlineDescribed(t *testing.T) {
	m := parcels().MustBuild()
	const words = "keep at " + returnRule + " (America/New_York)"
	require.Contains(t, m.Describe().States[0].Timers, words)
	require.Contains(t, m.Mermaid(""), words)
	require.Contains(t, m.DOT(""), words)
	b := machine.New[Parcel]("parcel", "delivered")
	require.NotNil(t, b)
	other := parcelsIn("Europe/Paris").MustBuild()
	same := parcelsIn("America/New_York").MustBuild()
	require.NotEqual(t, same.Digest(), other.Digest())
	require.Contains(t, fmt.Sprint(machine.Diff(same.Describe(), other.Describe())), "Europe/Paris")
}

func parcelsIn(zone string) *machine.Builder[Parcel] {
	b := machine.New[Parcel]("parcel", "delivered")
	b.Final("kept")
	b.At("delivered", zone, returnRule, func(p Parcel, z machine.Zone) time.Time { return z.EndOfDay(p.Delivered, 30) }, Keep)
	machine.On(b, Keep).From("delivered").To("kept")
	return b
}

// Case B103: a delay counts instants, across both changes of clocks and whatever zone the machine is set to.
func TestB103DelaysCountInstants(t *testing.T) {
	local := time.Local
	defer func() { time.Local = local }()
	newYork := zone(t, "America/New_York")
	b := machine.New[Parcel]("parcel", "delivered")
	b.Final("kept")
	b.After("delivered", 24*time.Hour, Keep)
	machine.On(b, Keep).From("delivered").To("kept")
	m := b.MustBuild()
	for _, tz := range []string{"UTC", "America/New_York", "Asia/Taipei", "Pacific/Apia"} {
		loc, err := time.LoadLocation(tz)
		require.NoError(t, err)
		time.Local = loc
		for set, want := range map[time.Time]string{
			newYork.At(2025, 11, 1, 12, 0):                      "2025-11-02 11:00:00",
			newYork.At(2026, 3, 8, 1, 59).Add(59 * time.Second): "2026-03-09 02:59:59",
			newYork.At(2026, 3, 7, 12, 0):                       "2026-03-08 13:00:00",
		} {
			s, _, err := m.Task("t1", alice, Parcel{}).First(set.In(time.Local))
			require.NoError(t, err)
			require.Equal(t, want, newYork.In(s.Timers[0].Due).Format(time.DateTime), tz)
			typed, _ := machine.As[Parcel](s)
			require.Empty(t, m.Due(typed, set.Add(time.Second)), "the jump lets nothing expire")
		}
	}
}

func ExampleBuilder_At() {
	type order struct {
		Delivered time.Time `json:"delivered"`
	}
	lapse := machine.NewEvent[machine.None]("lapse")
	b := machine.New[order]("return", "open")
	b.Final("over")
	b.At("open", "Asia/Taipei", "30 days after delivery, end of day", func(o order, taipei machine.Zone) time.Time {
		return taipei.EndOfDay(o.Delivered, 30)
	}, lapse)
	machine.On(b, lapse).From("open").To("over")
	m := b.MustBuild()

	delivered := time.Date(2026, 11, 30, 9, 0, 0, 0, time.UTC)
	s, _, err := m.Task("r1", guard.Principal{ID: "alice"}, order{delivered}).First(delivered)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(s.Timers[0].Event, s.Timers[0].Due)
	// Output: lapse 2026-12-30 16:00:00 +0000 UTC
}
