package machine

import (
	"fmt"
	"slices"
	"time"

	"github.com/pawlgo/pawl/internal/visible"
)

// MaxRule bounds the words of a calendar rule, in bytes.
const MaxRule = 100

// A deadline lies between these years; one outside of them is a mistake in the rule or in the data.
const (
	MinDeadlineYear = 1970
	MaxDeadlineYear = 9999
)

// deadline is an instant that is computed from data.
type deadline struct {
	zone, rule string
	due        func(data any) time.Time
}

// At arms a timer for an instant that a pure function computes from the task's data in a named zone, for calendar rules such as
// "30 days after delivery, end of day": a delay of [Builder.After] counts instants, and is no calendar day where clocks change. The
// rule's words, 1 to [MaxRule] bytes, stand in descriptions and in the digest; the function does not, so change the words or the version with it.
//
// The timer belongs to the stay, and its event may have no other timer in the state. An instant that has passed fires at once; the zero
// time arms nothing. When data changes within the stay, the instant is computed again in that commit: another one takes the place of
// the former and is armed even if that has fired; the same one changes nothing. A panic, or a year outside of [MinDeadlineYear] to
// [MaxDeadlineYear], refuses the commit (edge_fault), the start of the task ([ErrTask]), or its migration. An unknown zone is a fault of Build.
func (b *Builder[D]) At(s State, zone, rule string, due func(D, Zone) time.Time, ev Event[None]) {
	at := place(1)
	b.c.timers[s] = append(b.c.timers[s], timer{event: ev.info, place: at, at: b.deadline(at, "timed state "+string(s), zone, rule, due)})
	b.c.event(ev.info, at)
}

// WaitAt marks a state in which the task waits for a party until an instant that is computed from its data, as with [Builder.Wait] and
// [Builder.At]: "they may return it until the end of the 30th day". The wait and the offers that are open end with it, also when data
// within the stay puts it forward. A wait has an end: the zero time is refused as a year out of bounds is.
func (b *Builder[D]) WaitAt(s State, party Party, zone, rule string, due func(D, Zone) time.Time, lapsed Event[None]) {
	at := place(1)
	b.c.wait(s, &wait{party, timer{event: lapsed.info, place: at, at: b.deadline(at, "waiting state "+string(s), zone, rule, due)}})
}

func (b *Builder[D]) deadline(at, what, zone, rule string, due func(D, Zone) time.Time) *deadline {
	z, err := LoadZone(zone)
	if err != nil {
		b.c.fault("zone", at, err.Error(), `name one as "Asia/Taipei"`)
	}
	if rule == "" || len(rule) > MaxRule || visible.Text(rule) != rule {
		b.c.fault("rule", at, fmt.Sprintf("a rule has 1 to %d bytes that can be seen; %q", MaxRule, clip(rule, MaxRule)), "say when, in words")
	}
	if due == nil {
		b.c.fault("no_time", at, what+" has no time", "give it a function")
	}
	return &deadline{zone, rule, func(data any) time.Time { return due(data.(D), z) }}
}

// when says in words when a timer fires.
func (t timer) when(after func(time.Duration) string) string {
	if t.at == nil {
		return " after " + after(t.after)
	}
	return " at " + t.at.rule + " (" + t.at.zone + ")"
}

// arm computes the deadlines of a stay that has begun, from its data.
func (c *core) arm(s *Snapshot[any]) error {
	if w := c.waits[s.State]; w != nil && w.at != nil {
		due, err := w.end(s.Data)
		if err != nil {
			return err
		}
		s.Waiting.Until = due
		s.Timers = append(s.Timers, ArmedTimer{Event: w.event.Name, Due: due})
	}
	for _, t := range c.timers[s.State] {
		due, err := t.compute(s.Data)
		if err != nil {
			return err
		}
		if !due.IsZero() {
			s.Timers = append(s.Timers, ArmedTimer{Event: t.event.Name, Due: due})
		}
	}
	return nil
}

// rearm computes the deadlines of a stay again, when its data has changed.
func (c *core) rearm(old any, s *Snapshot[any]) error {
	if w := c.waits[s.State]; w != nil && w.at != nil {
		due, err := w.end(s.Data)
		if err != nil {
			return err
		}
		if was, _ := w.compute(old); !due.Equal(was) {
			s.Waiting = &Waiting{s.Waiting.For, s.Waiting.Since, due}
			w.replace(s, due)
		}
	}
	for _, t := range c.timers[s.State] {
		due, err := t.compute(s.Data)
		if err != nil {
			return err
		}
		if was, _ := t.compute(old); !due.Equal(was) {
			t.replace(s, due)
		}
	}
	return nil
}

// replace arms the timer anew, or not at all.
func (t timer) replace(s *Snapshot[any], due time.Time) {
	s.Timers = slices.DeleteFunc(s.Timers, func(armed ArmedTimer) bool { return armed.Event == t.event.Name })
	if !due.IsZero() {
		s.Timers = append(s.Timers, ArmedTimer{Event: t.event.Name, Due: due})
	}
}

// end is when a wait is over.
func (w *wait) end(data any) (time.Time, error) {
	due, err := w.compute(data)
	if err == nil && due.IsZero() {
		err = fmt.Errorf("the wait that %s ends has no end", w.event.Name)
	}
	return due, err
}

// compute is the instant of a deadline; the zero time for a timer with a delay, and where there is none.
func (t timer) compute(data any) (due time.Time, err error) {
	if t.at == nil {
		return due, nil
	}
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("the deadline of %s panicked: %.200v", t.event.Name, p)
		}
	}()
	if due = whole(t.at.due(data)); due.IsZero() {
		return due, nil
	}
	if y := due.Year(); y < MinDeadlineYear || y > MaxDeadlineYear {
		return time.Time{}, fmt.Errorf("the deadline of %s is in the year %d", t.event.Name, y)
	}
	return due, nil
}
