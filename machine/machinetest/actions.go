package machinetest

import (
	"fmt"
	"slices"
	"time"

	"pgregory.net/rapid"

	"github.com/pawlgo/pawl/guard"
	"github.com/pawlgo/pawl/machine"
)

// Actions are random walks through what a table names, for [rapid.T.Repeat]: the moves of its rows, observations of up to four
// facts, proposals of any event by anybody the table names, with any payload, facts and base version, timers and ends
// of effects, at any distance in time. Each step is held to what a row is held to, and after each step a task must keep what every task keeps: a
// version never falls, a final state is left by a declared reopening edge only, an effect's key never comes back, and what is settled stays settled.
//
//	rapid.Check(t, func(t *rapid.T) {
//		actions, err := machinetest.Actions(refund.Machine, "testdata/refund.txtar")
//		require.NoError(t, err)
//		t.Repeat(actions)
//	})
//
// Each call begins a walk of its own. Errors name file and line.
func Actions(d machine.Definition, path string) (map[string]func(*rapid.T), error) {
	_, actions, err := newWalk(d, path)
	return actions, err
}

func newWalk(d machine.Definition, path string) (*walk, map[string]func(*rapid.T), error) {
	tb, err := readTable(d, path)
	if err != nil {
		return nil, nil, err
	}
	if len(tb.starts) == 0 {
		return nil, nil, &fault{path, 1, "no situation starts a task"}
	}
	w := &walk{tb: tb, people: append(tb.people(), string(guard.Worker), string(guard.Timer)), times: append(tb.ages(), "", "", "0s", "1m")}
	for _, r := range tb.rows {
		trials, err := tb.try(r)
		if err != nil {
			return nil, nil, err
		}
		w.rows = append(w.rows, trials...)
	}
	return w, map[string]func(*rapid.T){"row": w.row, "observe": w.observe, "propose": w.propose, "due": w.due, "settle": w.settle,
		"again": w.again, "": w.keeps}, nil
}

// walk is a task on its way.
type walk struct {
	tb       *table
	people   []string
	times    []string
	rows     []*trial
	at, last machine.Snapshot[any]
	driver   Driver    // nil when the walk is at the pure core alone
	clock    time.Time // of the driver
	begun    int       // tasks at the driver
}

// cannot ends an action that has nothing to do here, so that another one is drawn.
func cannot(t *rapid.T, why string) {
	t.Skip(why) // reason: this is how a rapid action says that it does not apply
}

// begin draws the task that the walk starts with.
func (w *walk) begin(t *rapid.T) {
	if w.at.Version > 0 {
		return
	}
	s := w.tb.starts[rapid.IntRange(0, len(w.tb.starts)-1).Draw(t, "start")]
	w.at = s.at
	if w.driver != nil {
		w.at = w.started(t, s)
	}
	w.last = w.at
}

// again begins anew after a task has ended, so that walks do not stand still.
func (w *walk) again(t *rapid.T) {
	if w.at.Version == 0 || !w.tb.m.IsFinal(w.at.State) {
		cannot(t, "the task has not ended")
	}
	w.at.Version = 0
	w.begin(t)
}

// take takes a move and holds it to what every step must keep.
func (w *walk) take(t *rapid.T, mv move) {
	if w.driver != nil {
		mv = w.later(mv)
	}
	s := &situation{name: fmt.Sprintf("version %d, %s", w.at.Version, w.at.State), at: w.at}
	trial := &trial{given: s, move: mv}
	if err := w.tb.take(trial); err != nil {
		cannot(t, err.Error()) // a subject that is not there, or a fact that is known
	}
	if err := w.tb.check(trial); err != nil {
		t.Fatalf("%s: %s: %v", s.name, mv, err)
	}
	if w.driver != nil {
		w.drive(t, trial)
	}
	w.at = trial.next
}

func (w *walk) facts(t *rapid.T, least int) string {
	if len(w.tb.facts) == 0 {
		return ""
	}
	spec := rapid.Custom(func(t *rapid.T) string {
		f := w.tb.facts[rapid.IntRange(0, len(w.tb.facts)-1).Draw(t, "fact")]
		how := []string{"", "", "", "=asked", "=1m ago", "=asked 20m ago"}
		if f.info.MaxAge > 0 {
			how = append(how, "=stale")
		}
		return f.name + rapid.SampledFrom(how).Draw(t, "how")
	})
	specs := rapid.SliceOfN(spec, least, 4).Draw(t, "facts")
	specs = slices.DeleteFunc(specs, func(s string) bool { _, err := w.tb.key(w.at, s); return err != nil })
	out := ""
	for i, s := range specs {
		if i > 0 {
			out += ", "
		}
		out += s
	}
	return out
}

// row takes the move of a row of the table that starts in the same state.
func (w *walk) row(t *rapid.T) {
	w.begin(t)
	var moves []move
	for _, r := range w.rows {
		if r.given.at.State == w.at.State {
			moves = append(moves, r.move)
		}
	}
	if len(moves) == 0 {
		cannot(t, "the table has no row for "+string(w.at.State))
	}
	w.take(t, rapid.SampledFrom(moves).Draw(t, "row"))
}

func (w *walk) observe(t *rapid.T) {
	w.begin(t)
	w.take(t, move{after: rapid.SampledFrom(w.times).Draw(t, "after"), facts: w.facts(t, 1), by: string(guard.Observer)})
}

func (w *walk) propose(t *rapid.T) {
	w.begin(t)
	events := slices.DeleteFunc(w.tb.events(), func(e string) bool { return drivenBy(e) != nil })
	event := rapid.SampledFrom(events).Draw(t, "event")
	payloads := []string{"", "", ""}
	for _, p := range w.tb.payloads {
		payloads = append(payloads, p.raw)
	}
	mv := move{
		after: rapid.SampledFrom(w.times).Draw(t, "after"), facts: w.facts(t, 0), by: rapid.SampledFrom(w.people).Draw(t, "by"),
		event: event, payload: rapid.SampledFrom(payloads).Draw(t, "payload"),
	}
	if rapid.IntRange(0, 9).Draw(t, "old") == 0 {
		mv.event += fmt.Sprintf(" based on %d", rapid.Uint64Range(0, w.at.Version+1).Draw(t, "base"))
	}
	w.take(t, mv)
}

// due lets a timer fire at its time.
func (w *walk) due(t *rapid.T) {
	w.begin(t)
	if len(w.at.Timers) == 0 {
		cannot(t, "no timer is armed")
	}
	event := rapid.SampledFrom(w.at.Timers).Draw(t, "timer").Event
	w.take(t, move{after: untilDue(w.at, event)[0], by: string(guard.Timer), event: event})
}

// settle ends an effect, with or without its receipt.
func (w *walk) settle(t *rapid.T) {
	w.begin(t)
	for _, i := range w.at.Intents {
		if i.Unsettled() {
			end := rapid.SampledFrom([]string{".confirmed", ".failed"}).Draw(t, "end")
			w.take(t, move{facts: w.facts(t, 0), by: string(guard.Worker), event: i.Effect + end, payload: fmt.Sprintf(`{"key":%q}`, i.Key)})
			return
		}
	}
	cannot(t, "no effect is under way")
}

// reopens tells whether an edge may leave a final state.
func (tb *table) reopens(s machine.State) bool {
	return slices.ContainsFunc(tb.about.Edges, func(e machine.EdgeDescription) bool { return e.Reopens && slices.Contains(e.From, s) })
}

func (w *walk) keeps(t *rapid.T) {
	w.begin(t)
	if text := w.broken(); text != "" {
		t.Fatal(text)
	}
	w.last = w.at
}

// broken says what the last step broke of what every task keeps from version to version.
func (w *walk) broken() string {
	was, is := w.last, w.at
	switch {
	case is.Version < was.Version:
		return fmt.Sprintf("version %d came after %d", is.Version, was.Version)
	case w.tb.m.IsFinal(was.State) && is.State != was.State && !w.tb.reopens(was.State):
		return fmt.Sprintf("the final state %s was left for %s", was.State, is.State)
	}
	for _, i := range is.Intents {
		before, kept := was.Intent(i.Key)
		switch {
		case kept && !before.Unsettled() && before.Status != i.Status:
			return fmt.Sprintf("%s was %s and is %s", i.Key, before.Status, i.Status)
		case !kept && i.Since <= was.Version:
			return i.Key + " came back"
		}
	}
	for _, i := range was.Intents {
		if _, kept := is.Intent(i.Key); !kept && i.Unsettled() {
			return i.Key + " vanished without an outcome"
		}
	}
	return ""
}
