package machine_test

import (
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
	"github.com/pawlgo/pawl/machine/machinetest"
)

type Goods struct {
	Order     string    `json:"order" about:"order"`
	Delivered time.Time `json:"delivered"`
}

type SendBack struct {
	Order string `json:"order" about:"order"`
}

var (
	Deliver    = machine.NewEvent[Arrival]("deliver")
	Return     = machine.NewEvent[SendBack]("return_goods")
	WindowOver = machine.NewEvent[machine.None]("window_over")
	Prod       = machine.NewEvent[machine.None]("prod")
	WantBack   = guard.NewReply("want_back", guard.From("chat"))
)

const (
	OnTheWay  machine.State = "on_the_way"
	MayReturn machine.State = "may_return"
	Returned  machine.State = "returned"
	Kept      machine.State = "kept"
)

// returnsAfter lets goods be returned until the end of some day after delivery in Taipei; the customer is asked as long as that.
func returnsAfter(version, days int) *machine.Machine[Goods] {
	b := machine.New[Goods]("returns", OnTheWay)
	b.Version(version)
	b.Final(Returned, Kept)
	b.WaitAt(MayReturn, machine.TaskOwner, "Asia/Taipei", fmt.Sprintf("%d days after delivery, end of day", days), func(g Goods, z machine.Zone) time.Time {
		if g.Delivered.IsZero() {
			return time.Time{}
		}
		return z.EndOfDay(g.Delivered, days)
	}, WindowOver)
	b.At(MayReturn, "Asia/Taipei", "the day after delivery, end of day", func(g Goods, z machine.Zone) time.Time { return z.EndOfDay(g.Delivered, 1) }, Prod)
	machine.On(b, Deliver).From(OnTheWay).To(MayReturn).By(guard.User).
		Apply(func(g *Goods, c guard.Case[Goods, Arrival]) { g.Delivered = c.Payload.At }).
		Then(machine.Offer(Return, machine.TaskOwner, 400*24*time.Hour, func(c guard.Case[Goods, Arrival]) []SendBack { return []SendBack{{c.Data.Order}} }))
	machine.On(b, Correct).From(MayReturn).Stay().By(guard.User).
		Apply(func(g *Goods, c guard.Case[Goods, Arrival]) { g.Delivered = c.Payload.At })
	machine.On(b, Jot).From(MayReturn).Stay().By(guard.User)
	machine.On(b, Prod).From(MayReturn).Stay()
	machine.On(b, Return).From(MayReturn).To(Returned).By(guard.User).Confirm(WantBack)
	machine.On(b, WindowOver).From(MayReturn).To(Kept)
	return b.MustBuild()
}

// goods is a task of returns, taken step by step.
type goods struct {
	t *testing.T
	m *machine.Machine[Goods]
	s machine.Snapshot[Goods]
}

// newGoods were delivered then, and the customer has been asked.
func newGoods(t *testing.T, delivered time.Time) *goods {
	g := &goods{t: t, m: returnsAfter(1, 30)}
	s, _, err := g.m.Task("t1", alice, Goods{Order: "1"}).First(start)
	require.NoError(t, err)
	g.s, _ = machine.As[Goods](s)
	require.NoError(t, g.try(start, Deliver.With(Arrival{delivered}).As(guard.User)).Err())
	return g
}

func (g *goods) try(at time.Time, p machine.Proposal, evidence ...guard.Evidence) machine.Outcome {
	next, out := g.m.Step(g.s, machine.Input{Proposal: p.BasedOn(g.s.Version), Principal: alice, Now: at, Evidence: evidence})
	g.s = next
	return out
}

func (g *goods) corrects(at, delivered time.Time) machine.Outcome {
	return g.try(at, Correct.With(Arrival{delivered}).As(guard.User))
}

// returns is the owner's yes to the one open offer.
func (g *goods) returns(at time.Time) machine.Outcome {
	require.Len(g.t, g.s.Offers, 1)
	o := WantBack.Observe(handles["chat"], guard.Observed[guard.Reply]{Value: guard.Reply{By: "alice", Choice: guard.ChoiceYes}, Subject: g.s.Offers[0].ID, At: at})
	ev, err := guard.Verify(o, guard.Acceptance{Fact: g.m.FactNamed, Trusts: func(*guard.Authority) bool { return true }, Now: at})
	require.NoError(g.t, err)
	return g.try(at, Return.With(SendBack{"1"}).As(guard.User), ev)
}

func (g *goods) due(event machine.AnyEvent) (all []time.Time) {
	for _, t := range g.s.Timers {
		if t.Event == event.Info().Name {
			all = append(all, t.Due)
		}
	}
	return all
}

func end(t *testing.T, delivered time.Time, days int) time.Time {
	return zone(t, "Asia/Taipei").EndOfDay(delivered, days).UTC()
}

// TestWaitAt: the wait, its timer and the offers in it end at the instant that data computes, and not a moment before.
func TestWaitAt(t *testing.T) {
	g := newGoods(t, start)
	until := end(t, start, 30)
	require.Equal(t, &machine.Waiting{For: machine.TaskOwner, Since: start, Until: until}, g.s.Waiting)
	require.Equal(t, []time.Time{until}, g.due(WindowOver))
	require.Equal(t, until, g.s.Offers[0].Expires)
	late := WindowOver.With(machine.None{}).AsController(guard.Timer)
	require.Equal(t, machine.CodeNotDue, g.try(until.Add(-time.Microsecond), late).Code())
	other := *g
	require.NoError(t, other.returns(until.Add(-time.Microsecond)).Err())
	require.Equal(t, Returned, other.s.State)
	require.Equal(t, machine.CodeOfferExpired, g.returns(until).Code())
	require.NoError(t, g.try(until, late).Err())
	require.Equal(t, Kept, g.s.State)
	require.Nil(t, g.s.Waiting)
	require.Empty(t, g.s.Timers)
}

// TestWaitAtFollowsData: both ways; whoever was asked keeps no longer than the wait, and no longer than they were told.
func TestWaitAtFollowsData(t *testing.T) {
	g := newGoods(t, start)
	first, before := end(t, start, 30), g.s.Waiting
	require.NoError(t, g.try(start, Jot.With(machine.None{}).As(guard.User)).Err())
	require.Equal(t, first, g.s.Waiting.Until)
	require.NoError(t, g.corrects(start, start.AddDate(0, 0, 3)).Err())
	require.Equal(t, end(t, start, 33), g.s.Waiting.Until)
	require.Equal(t, []time.Time{end(t, start, 33)}, g.due(WindowOver))
	require.Equal(t, first, g.s.Offers[0].Expires, "the first deadline of a question stands")
	require.NoError(t, g.corrects(start, start.AddDate(0, 0, -3)).Err())
	require.Equal(t, end(t, start, 27), g.s.Waiting.Until)
	require.Equal(t, end(t, start, 27), g.s.Offers[0].Expires)
	require.Equal(t, start, g.s.Waiting.Since)
	require.Equal(t, first, before.Until, "an earlier snapshot stays as it was")

	require.NoError(t, g.corrects(start, start.AddDate(0, 0, -40)).Err())
	require.Len(t, g.m.Due(g.s, start), 2, "it has passed: it fires at once")
	require.Equal(t, machine.CodeOfferExpired, g.returns(start).Code())
}

// TestWaitAtHasAnEnd: no data lets a task wait for ever.
func TestWaitAtHasAnEnd(t *testing.T) {
	g := newGoods(t, start)
	before := g.s
	out := g.corrects(start, time.Time{})
	require.Equal(t, machine.CodeEdgeFault, out.Code())
	require.Contains(t, out.Findings[0].Text, "the wait that window_over ends has no end")
	require.Equal(t, before, g.s)
	m := returnsAfter(1, 30)
	s, _, err := m.Task("t1", alice, Goods{Order: "1"}).First(start)
	require.NoError(t, err)
	_, out = machine.Erase(m).Step(s, machine.Input{Proposal: Deliver.With(Arrival{}).As(guard.User).BasedOn(1), Principal: alice, Now: start})
	require.Equal(t, machine.CodeEdgeFault, out.Code())

	b := machine.New[Goods]("waits", MayReturn)
	b.Final(Kept)
	b.WaitAt(MayReturn, machine.TaskOwner, "UTC", "never", func(Goods, machine.Zone) time.Time { return time.Time{} }, WindowOver)
	machine.On(b, WindowOver).From(MayReturn).To(Kept)
	_, _, err = b.MustBuild().Task("t1", alice, Goods{Order: "1"}).First(start)
	require.ErrorIs(t, err, machine.ErrTask)
}

// TestWaitAtDeclarations: what is a fault of At is one of WaitAt, and what is one of Wait.
func TestWaitAtDeclarations(t *testing.T) {
	due := func(g Goods, z machine.Zone) time.Time { return z.EndOfDay(g.Delivered, 30) }
	for want, declare := range map[string]func(*machine.Builder[Goods]){
		`zone "Local"`:     func(b *machine.Builder[Goods]) { b.WaitAt(MayReturn, machine.TaskOwner, "Local", "x", due, WindowOver) },
		"a rule has 1 to":  func(b *machine.Builder[Goods]) { b.WaitAt(MayReturn, machine.TaskOwner, "UTC", "", due, WindowOver) },
		"has no time":      func(b *machine.Builder[Goods]) { b.WaitAt(MayReturn, machine.TaskOwner, "UTC", "x", nil, WindowOver) },
		"waits_for_nobody": func(b *machine.Builder[Goods]) { b.WaitAt(MayReturn, "", "UTC", "x", due, WindowOver) },
		"no_lapse":         func(b *machine.Builder[Goods]) { b.WaitAt(MayReturn, machine.TaskOwner, "UTC", "x", due, Prod) },
		"waits_twice": func(b *machine.Builder[Goods]) {
			b.Wait(MayReturn, machine.TaskOwner, time.Hour, WindowOver)
			b.WaitAt(MayReturn, machine.TaskOwner, "UTC", "x", due, WindowOver)
		},
		"two timers of window_over": func(b *machine.Builder[Goods]) {
			b.WaitAt(MayReturn, machine.TaskOwner, "UTC", "x", due, WindowOver)
			b.After(MayReturn, time.Hour, WindowOver)
		},
	} {
		b := machine.New[Goods]("waits", MayReturn)
		b.Final(Kept)
		machine.On(b, WindowOver).From(MayReturn).To(Kept)
		declare(b)
		_, err := b.Build()
		require.ErrorIs(t, err, machine.ErrDefinition, want)
		require.ErrorContains(t, err, want)
		require.ErrorContains(t, err, "wait_at_test.go:", "where it is declared")
	}
}

// TestWaitAtDescribed: rule and zone stand in the description, the drawings, the page, the difference and the digest.
func TestWaitAtDescribed(t *testing.T) {
	m := returnsAfter(1, 30)
	const until, words = "30 days after delivery, end of day (Asia/Taipei)", "waits for owner, until 30 days after delivery, end of day (Asia/Taipei)"
	for _, s := range m.Describe().States {
		if s.Name == MayReturn {
			require.Equal(t, machine.TaskOwner, s.WaitsFor)
			require.Equal(t, []string{"window_over at " + until, "prod at the day after delivery, end of day (Asia/Taipei)"}, s.Timers)
		}
	}
	require.Contains(t, m.Mermaid(""), words)
	require.Contains(t, m.DOT(""), words)
	page := m.Markdown()
	require.Contains(t, page, words)
	require.Contains(t, page, "| `may_return` | owner | window_over at "+until+", prod at the day after delivery, end of day (Asia/Taipei) |")
	other := returnsAfter(1, 60)
	require.NotEqual(t, m.Digest(), other.Digest())
	require.Contains(t, fmt.Sprint(machine.Diff(m.Describe(), other.Describe())), "60 days after delivery")
}

// TestMigratingComputedDeadlines: what was promised stands, however the new definition would compute it; what has fired in the stay does
// not fire again; what data makes another instant of does.
func TestMigratingComputedDeadlines(t *testing.T) {
	g := newGoods(t, start)
	to := returnsAfter(2, 60)
	cross := func(data func(Goods) (Goods, error)) machine.Snapshot[Goods] {
		next, _, err := machine.MustMigrate(g.m, to, data).Apply(machine.Snapshot[any]{Head: g.s.Head, Data: g.s.Data}, guard.Operator, olga, start.AddDate(0, 0, 5))
		require.NoError(t, err)
		typed, _ := machine.As[Goods](next)
		return typed
	}
	next := cross(machine.SameData[Goods])
	require.Equal(t, &machine.Waiting{For: machine.TaskOwner, Since: start, Until: end(t, start, 30)}, next.Waiting)
	require.ElementsMatch(t, g.s.Timers, next.Timers)

	prod := end(t, start, 1)
	require.NoError(t, g.try(prod, Prod.With(machine.None{}).AsController(guard.Timer)).Err())
	require.Empty(t, g.due(Prod))
	next = cross(machine.SameData[Goods])
	require.Equal(t, []machine.ArmedTimer{{Event: "window_over", Due: end(t, start, 30)}}, next.Timers, "once in a stay")
	next = cross(func(d Goods) (Goods, error) { d.Delivered = d.Delivered.AddDate(0, 0, 20); return d, nil })
	require.ElementsMatch(t, []machine.ArmedTimer{{Event: "window_over", Due: end(t, start, 30)}, {Event: "prod", Due: end(t, start, 21)}}, next.Timers)

	_, _, err := machine.MustMigrate(g.m, to, func(d Goods) (Goods, error) { d.Delivered = time.Time{}; return d, nil }).
		Apply(machine.Snapshot[any]{Head: g.s.Head, Data: g.s.Data}, guard.Operator, olga, start)
	require.ErrorIs(t, err, machine.ErrUnmigratable)
	require.ErrorContains(t, err, "has no end")
}

// TestMigratingATimerThatFired: neither does one with a delay, also under its new name; and the wait stays as long as it was.
func TestMigratingATimerThatFired(t *testing.T) {
	w := asked(t).after(Nudge)
	w.does(Nudged.With(machine.None{}).AsController(guard.Timer))
	w.after(time.Minute)
	next, _ := migrates(w, machine.MustMigrate(desk, newDesk2().build(), toCents, append(renames(), machine.RenameEvent(Nudged, Remind))...))
	require.Equal(t, []machine.ArmedTimer{{Event: "gave_up", Due: start.Add(Patience)}}, next.Timers)
	require.Equal(t, start.Add(Patience), next.Waiting.Until)
}

// TestMigratingAWaitThatIsOver: a wait whose end does not move the task has ended all the same.
func TestMigratingAWaitThatIsOver(t *testing.T) {
	bell := func(version int) *machine.Machine[Parcel] {
		b := machine.New[Parcel]("bell", "delivered")
		b.Version(version)
		b.Final("kept")
		b.Wait("delivered", machine.TaskOwner, time.Hour, Chime)
		machine.On(b, Chime).From("delivered").Stay()
		machine.On(b, Keep).From("delivered").To("kept").By(guard.User)
		return b.MustBuild()
	}
	m := bell(1)
	s, _, err := m.Task("t1", alice, Parcel{}).First(start)
	require.NoError(t, err)
	due := start.Add(time.Hour)
	s, out := machine.Erase(m).Step(s, machine.Input{Proposal: Chime.With(machine.None{}).AsController(guard.Timer).BasedOn(1), Now: due})
	require.NoError(t, out.Err())
	next, _, err := machine.MustMigrate(m, bell(2), machine.SameData[Parcel]).Apply(s, guard.Operator, olga, due.Add(time.Minute))
	require.NoError(t, err)
	require.Empty(t, next.Timers)
	require.Equal(t, due, next.Waiting.Until)
}

// TestReturnsTables: computed deadlines in a table that people read.
func TestReturnsTables(t *testing.T) {
	machinetest.RunTables(t, returnsAfter(1, 30), "testdata/returns.txtar")
}

// TestReturnsExplored: the explorer gets through every state and timer, and finds the wait that nothing ends.
func TestReturnsExplored(t *testing.T) {
	x, err := machinetest.Explore(returnsAfter(1, 30), "testdata/returns.txtar", machinetest.Limits{})
	require.NoError(t, err)
	require.Empty(t, x.Flaws, x.String())
	require.Empty(t, x.Cut)
	require.Greater(t, x.Depth, 3)

	raw, err := os.ReadFile("testdata/returns.txtar")
	require.NoError(t, err)
	path := filepath.Join(t.TempDir(), "never.txtar")
	never := strings.Replace(string(raw), "-- payloads --", "-- payloads --\nnever = deliver {\"at\":\"0001-01-01T00:00:00Z\"}", 1)
	require.NoError(t, os.WriteFile(path, []byte(never), 0o644))
	x, err = machinetest.Explore(returnsAfter(1, 30), path, machinetest.Limits{})
	require.NoError(t, err)
	require.Len(t, x.Flaws, 1)
	require.Equal(t, "fault", x.Flaws[0].Kind)
	require.Contains(t, x.Flaws[0].Text, "has no end")
}

func TestReturnsWalks(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		actions, err := machinetest.Actions(returnsAfter(1, 30), "testdata/returns.txtar")
		require.NoError(t, err)
		t.Repeat(actions)
	})
}
