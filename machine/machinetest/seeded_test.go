package machinetest

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/pawlgo/pawl/guard"
	"github.com/pawlgo/pawl/machine"
)

var calls int // of functions that remember how often they were called

func flips(*guard.Scene) guard.Verdict {
	if calls++; calls%3 == 0 {
		return guard.Deny("moody", "not now")
	}
	return guard.Allow()
}

func adds(f func() string) func(*gate, guard.Case[gate, mark]) {
	return func(g *gate, _ guard.Case[gate, mark]) { g.Marks = append(g.Marks, f()) }
}

// seeded are machines with one bug each, and the rule that catches it: of the explorer by its kind and the beginning of its text, of the
// actions by the words of their report.
var seeded = []struct {
	name, by, rule string
	machine        func() machine.Definition
}{
	{"nothing keeps a fourth mark away but the invariant", "explorer", "invariant: three marks at most", gated(func(B) {})},
	{"what the sensor says breaks an invariant", "explorer", "invariant: safe while it moves", gated(func(b B) {
		b.Invariant("safe while it moves", func(s machine.Snapshot[gate]) error {
			if ok, known := safe.Get(s.Facts); s.State == moving && known && !ok {
				return os.ErrInvalid
			}
			return nil
		})
	})},
	{"marks are wiped off, which no step may", "explorer", "invariant: marks stay", gated(func(b B) {
		b.InvariantStep("marks stay", func(was, is machine.Snapshot[gate]) error {
			if len(is.Data.Marks) < len(was.Data.Marks) {
				return errors.New("one is gone")
			}
			return nil
		})
		machine.On(b, leave).From(asking).Stay().By(guard.User).Apply(func(g *gate, _ guard.Case[gate, mark]) { g.Marks = nil })
	})},
	{"an invariant that panics", "explorer", "invariant: counts: panicked", gated(func(b B) {
		b.Invariant("counts", func(s machine.Snapshot[gate]) error {
			if len(s.Data.Marks) == 2 {
				panic("cannot count so far")
			}
			return nil
		})
	})},
	{"two edges for one event", "explorer", "ambiguous: both are open", gated(func(b B) {
		machine.On(b, askOpen).From(shut).To(jammed).By(guard.User).Require(guard.Known(badge))
	})},
	{"two edges for one event, of which one is for operators too", "explorer", "ambiguous: both are open", gated(func(b B) {
		machine.On(b, leave).From(asking).To(jammed).By(guard.User, guard.Operator).Require(guard.Known(badge))
		machine.On(b, leave).From(asking).To(opened).By(guard.User).Require(guard.Known(safe))
	})},
	{"two edges that one fact drives", "explorer", "ambiguous: both are open", gated(func(b B) {
		machine.When(b, safe).From(asking).To(jammed).Require(guard.Holds("alarmed", "", safe, func(ok bool) bool { return !ok }))
	})},
	{"a check that panics", "explorer", "fault: second panicked", gated(func(b B) {
		machine.On(b, askOpen).From(asking).Stay().By(guard.User).Check("second", func(c guard.Case[gate, machine.None]) guard.Verdict {
			return guard.Deny(c.Data.Marks[1], "")
		})
	})},
	{"data that cannot be applied", "explorer", "fault: apply panicked", gated(func(b B) {
		machine.On(b, leave).From(asking).Stay().By(guard.User).Apply(func(g *gate, _ guard.Case[gate, mark]) { g.Marks[2] = "x" })
	})},
	{"an offer that panics", "explorer", "fault: open_gate an output panicked", gated(func(b B) {
		machine.On(b, leave).From(asking).Stay().By(guard.User).Then(machine.Offer(openGate, machine.TaskOwner, time.Hour,
			func(c guard.Case[gate, mark]) []wish { return []wish{{c.Data.Marks[2]}} }))
	})},
	{"a look that nobody declared", "explorer", "fault: looks looks at badge, which it does not declare", gated(func(b B) {
		machine.On(b, leave).From(asking).Stay().By(guard.User).Check("looks", func(c guard.Case[gate, mark]) guard.Verdict {
			if c.Payload.Text != "" && c.Payload.Text != "tried" { // so that Build does not notice
				badge.Get(c)
			}
			return guard.Allow()
		})
	})},
	{"a state that nobody gets out of", "explorer", "trapped: from stuck no final state can be reached", gated(func(b B) {
		machine.On(b, leave).From(asking).To(stuck).By(guard.User)
		machine.On(b, leave).From(stuck).Stay().By(guard.User)
	})},
	{"two states that nobody gets out of", "explorer", "trapped: from stuck no final state can be reached", gated(func(b B) {
		machine.On(b, leave).From(asking).To(stuck).By(guard.User)
		machine.On(b, leave).From(stuck).To("stuck_too").By(guard.User)
		machine.On(b, leave).From("stuck_too").To(stuck).By(guard.User)
	})},
	{"a way that a value would open that is never seen", "explorer", "unreached: edge leave_mark from asking to jammed", gated(func(b B) {
		machine.On(b, leave).From(asking).To(jammed).By(guard.User).Require(guard.Is(badge, "carol"))
	})},
	{"a state behind such a way", "explorer", "unreached: state stuck", gated(func(b B) {
		machine.On(b, leave).From(asking).To(stuck).By(guard.User).Require(guard.Is(badge, "carol"))
		machine.On(b, leave).From(stuck).To(jammed).By(guard.User)
	})},
	{"an edge for somebody who never comes", "explorer", "unreached: edge leave_mark from asking to jammed", gated(func(b B) {
		machine.On(b, leave).From(asking).To(jammed).By(guard.Operator)
	})},

	{"a count that data are made of", "actions", "Step is not pure", marked(adds(func() string { calls++; return fmt.Sprint(calls) }))},
	{"the time of day in data", "actions", "Step is not pure", marked(adds(func() string { return fmt.Sprint(time.Now().UnixNano()) }))},
	{"an order that a map has", "actions", "Step is not pure", marked(adds(func() string {
		for k := range map[string]int{"a": 1, "b": 2, "c": 3, "d": 4, "e": 5, "f": 6, "g": 7, "h": 8} {
			return k
		}
		return ""
	}))},
	{"a guard with moods", "actions", "Step is not pure", marked(adds(func() string { return "x" }), func(b B) {
		machine.On(b, wipe).From(shut).Stay().By(guard.User).Require(guard.New("moods", flips))
	})},
	{"an answer that is never the same", "actions", "Step is not pure", marked(adds(func() string { return "x" }), func(b B) {
		machine.On(b, wipe).From(shut).Stay().By(guard.User).
			Then(machine.Return(func(guard.Case[gate, machine.None]) int { calls++; return calls }))
	})},
	{"a copy that is none", "actions", "Step wrote into the snapshot", func() machine.Definition {
		return marker(func(s *shared, c guard.Case[shared, mark]) { s.Marks[c.Payload.Text]++ })
	}},
	{"a field that is not stored", "actions", "from the stored bytes of its situation the step differs", func() machine.Definition {
		return marker(func(h *hollow, _ guard.Case[hollow, mark]) { h.Kept, h.Lost = h.Kept+h.Lost, h.Lost+1 },
			func(b *machine.Builder[hollow]) { b.Accept(machine.LintLossy, machine.Everywhere, "it is the bug") })
	}},
	{"an invariant that takes what is unknown for true", "actions", "something unknown opens what is blocked", guesser},
}

type B = *machine.Builder[gate]

var wipe = machine.NewEvent[machine.None]("wipe")

func gated(bug func(B)) func() machine.Definition {
	return func() machine.Definition { return newGate(bug) }
}

func marked(apply func(*gate, guard.Case[gate, mark]), more ...func(B)) func() machine.Definition {
	return func() machine.Definition { return marker(apply, more...) }
}

// TestSeededBugs sees each bug caught by the explorer or by the actions, and by the rule that should.
func TestSeededBugs(t *testing.T) {
	by := map[string]int{}
	for _, bug := range seeded {
		by[bug.by]++
		t.Run(bug.name, func(t *testing.T) {
			if bug.by == "explorer" {
				x, err := Explore(bug.machine(), "testdata/gate.txtar", Limits{})
				require.NoError(t, err)
				require.Contains(t, "\n"+x.String(), "\n"+bug.rule)
				return
			}
			require.Contains(t, walks(t, bug.machine(), markTable(bug.machine())), bug.rule)
		})
	}
	require.GreaterOrEqual(t, len(seeded), 20)
	require.Len(t, by, 2)
}

// markTable is a table of a machine that marker made.
func markTable(d machine.Definition) string {
	data := `{"id":"g1","marks":[]}`
	switch shape := d.Describe().DataShape; {
	case strings.Contains(shape, "kept"):
		data = `{"id":"g1","kept":0}`
	case strings.Contains(shape, "{string: "):
		data = `{"id":"g1","marks":{}}`
	}
	return "-- facts --\nunsafe = safe(g1) false\n-- payloads --\na = leave_mark {\"text\":\"a\"}\n-- situation s --\nstart t alice " + data + "\n-- table --\n" +
		strings.Join(columns, " | ") + "\ns | | | user/alice | leave_mark | | committed | = | |\n"
}

// pureDriver keeps tasks in memory, and takes steps at the pure core. What it does wrong is in its functions.
type pureDriver struct {
	m       *machine.Machine[any]
	trusts  map[*guard.Authority]bool
	tasks   map[string][]machine.Snapshot[any]
	restart func(*pureDriver) error
	outcome func(machine.Outcome) machine.Outcome
	stored  func(machine.Snapshot[any]) machine.Snapshot[any]
}

func (d *pureDriver) Start(t machine.Task, at time.Time) error {
	s, _, err := t.First(at)
	d.tasks[t.ID] = append(d.tasks[t.ID], s)
	return err
}

func (d *pureDriver) Take(task string, s Step) (machine.Outcome, error) {
	at, _ := d.Newest(task)
	in := machine.Input{Proposal: s.Proposal, Principal: s.Principal, Received: s.At, Now: s.At}
	for _, o := range s.Observations {
		e, err := guard.Verify(o, guard.Acceptance{Fact: d.m.FactNamed, Trusts: func(a *guard.Authority) bool { return d.trusts[a] }, Now: s.At, BasedOn: at.Version})
		if err != nil {
			return machine.Outcome{}, err
		}
		in.Evidence = append(in.Evidence, e)
	}
	next, out := d.m.Step(at, in)
	if out.Kind == machine.Committed {
		d.tasks[task] = append(d.tasks[task], d.stored(next))
	}
	return d.outcome(out), nil
}

func (d *pureDriver) Newest(task string) (machine.Snapshot[any], error) {
	versions := d.tasks[task]
	if len(versions) == 0 {
		return machine.Snapshot[any]{}, errors.New("no such task")
	}
	return versions[len(versions)-1], nil
}

func (d *pureDriver) Restart() error { return d.restart(d) }

// driven goes through walks at a driver, and gives what they report.
func driven(t *testing.T, change func(*pureDriver)) string {
	path, err := filepath.Abs("testdata/gate.txtar")
	require.NoError(t, err)
	t.Chdir(t.TempDir()) // where the failing case is kept
	require.NoError(t, flag.Set("rapid.shrinktime", "0s"))
	defer func() { require.NoError(t, flag.Set("rapid.shrinktime", "30s")) }()
	m := newGate()
	f := &failing{TB: t}
	done := make(chan struct{})
	go func() {
		defer close(done)
		rapid.Check(f, func(t *rapid.T) {
			actions, err := Drive(m, path, func(hands []*guard.Authority) (Driver, error) {
				d := &pureDriver{m: machine.Erase(m), trusts: map[*guard.Authority]bool{}, tasks: map[string][]machine.Snapshot[any]{},
					restart: func(*pureDriver) error { return nil },
					outcome: func(o machine.Outcome) machine.Outcome { return o },
					stored:  func(s machine.Snapshot[any]) machine.Snapshot[any] { return s }}
				for _, h := range hands {
					d.trusts[h] = true
				}
				change(d)
				return d, nil
			})
			if err != nil {
				t.Fatal(err)
			}
			t.Repeat(actions)
		})
	}()
	<-done
	return f.said.String()
}

// TestDrive walks at a driver that does what the core does, and at some that do not.
func TestDrive(t *testing.T) {
	t.Run("nothing is wrong", func(t *testing.T) { require.NotContains(t, driven(t, func(*pureDriver) {}), "failed after") })
	for name, bug := range map[string]struct {
		rule   string
		change func(*pureDriver)
	}{
		"the last commit is gone after a restart": {"after a restart", func(d *pureDriver) {
			d.restart = func(d *pureDriver) error {
				for id, versions := range d.tasks {
					d.tasks[id] = versions[:max(1, len(versions)-1)]
				}
				return nil
			}
		}},
		"it does not come back": {"restart: it is broken", func(d *pureDriver) {
			d.restart = func(*pureDriver) error { return errors.New("it is broken") }
		}},
		"a refusal is told as a commit": {"the driver says committed", func(d *pureDriver) {
			d.outcome = func(o machine.Outcome) machine.Outcome {
				if o.Kind == machine.Refused {
					return machine.Outcome{Kind: machine.Committed}
				}
				return o
			}
		}},
		"what it stores lacks the timers": {"the core has", func(d *pureDriver) {
			d.stored = func(s machine.Snapshot[any]) machine.Snapshot[any] { s.Timers = nil; return s }
		}},
	} {
		t.Run(name, func(t *testing.T) { require.Contains(t, driven(t, bug.change), bug.rule) })
	}
	_, err := Drive(newGate(), "testdata/gate.txtar", func([]*guard.Authority) (Driver, error) { return nil, os.ErrClosed })
	require.ErrorIs(t, err, os.ErrClosed)
	_, err = Drive(newGate(), "testdata/nothing.txtar", nil)
	require.ErrorIs(t, err, os.ErrNotExist)
}
