package machine_test

import (
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlgo/pawl/guard"
	"github.com/pawlgo/pawl/machine"
)

// The second version of the desk asks in another state, under other names, and holds its amount in cents.
const Questioning machine.State = "questioning"

type Desk2 struct {
	OrderID string   `json:"order_id" about:"order" validate:"required"`
	Cents   int64    `json:"cents" validate:"max=9000"`
	Notes   []string `json:"notes"`
}

var (
	Fine    = guard.NewFact[bool]("fine", guard.From("policy"), guard.About("order"), guard.MaxAge(Age))
	Lapsed2 = machine.NewEvent[machine.None]("gave_up")
	Remind  = machine.NewEvent[machine.None]("remind")
)

// desk2 is how the second version is declared; each test may bend it.
type desk2 struct {
	version  int
	asking   machine.State
	good     guard.Fact[bool]
	settles  bool // in the state that pays
	finalEnd machine.State
	broken   error
	send     machine.Effect[Transfer, Slip]
}

func newDesk2() desk2 {
	return desk2{version: 2, asking: Questioning, good: Fine, settles: true, finalEnd: Closed, send: Send}
}

func (x desk2) build() *machine.Machine[Desk2] {
	b := machine.New[Desk2]("desk", Draft)
	b.Version(x.version)
	b.Final(Paid, Failed, x.finalEnd)
	b.Wait(x.asking, machine.TaskOwner, 3*Patience, Lapsed2)
	b.After(x.asking, Nudge, Remind)
	b.Facts(OwnerOf)
	pays := Paying
	if !x.settles {
		pays = "sending"
		machine.On(b, Note).From(Paying).To(x.finalEnd).By(guard.Operator)
	}
	machine.On(b, Ask).From(Draft).To(x.asking).By(guard.User).Require(guard.True(x.good))
	machine.On(b, Change).From(x.asking).To(pays).By(guard.User).
		Then(machine.Emit(x.send, func(c guard.Case[Desk2, Pay]) Transfer { return Transfer{c.Data.OrderID, c.Payload.Amount} }))
	if !x.settles {
		machine.On(b, Cancel).From(x.asking).To(Paying).By(guard.User)
	}
	machine.On(b, Lapsed2).From(x.asking).To(x.finalEnd)
	machine.On(b, Remind).From(x.asking).Stay()
	machine.On(b, x.send.Confirmed()).From(pays).To(Paid)
	machine.On(b, x.send.Failed()).From(pays).To(Failed)
	b.Invariant("never broken", func(machine.Snapshot[Desk2]) error { return x.broken })
	b.InvariantStep("the amount stands", func(old, next machine.Snapshot[Desk2]) error {
		if old.Data.Cents != next.Data.Cents {
			return errors.New("it moved")
		}
		return nil
	})
	return b.MustBuild()
}

func toCents(d Desk) (Desk2, error) {
	switch d.Amount {
	case 13:
		return Desk2{}, errors.New("nobody knows the currency")
	case 14:
		panic("boom")
	}
	if d.Tags != nil {
		d.Tags["moved"] = "here"
	}
	d.Notes = append(d.Notes, "moved")
	return Desk2{d.OrderID, d.Amount * 100, d.Notes}, nil
}

func renames() []machine.MigrationOption {
	return []machine.MigrationOption{machine.RenameState(Asking, Questioning), machine.RenameFact(Good, Fine), machine.RenameEvent(Lapsed, Lapsed2)}
}

func anyOf(s machine.Snapshot[Desk]) machine.Snapshot[any] {
	return machine.Snapshot[any]{Head: s.Head, Data: s.Data}
}

// migrates applies a step and checks what holds of each: the old snapshot is left alone, and what comes out can be stored.
func migrates(w *world, m machine.Migration) (machine.Snapshot[Desk2], *machine.Entry) {
	before := w.encode(w.s)
	next, entry, err := m.Apply(anyOf(w.s), guard.Operator, olga, w.now)
	require.NoError(w.t, err)
	require.Equal(w.t, before, w.encode(w.s))
	raw, err := m.To().Encode(nil, next)
	require.NoError(w.t, err)
	back, err := m.To().Decode(raw)
	require.NoError(w.t, err)
	again, err := m.To().Encode(nil, back)
	require.NoError(w.t, err)
	require.Equal(w.t, string(raw), string(again))
	line, err := entry.Append(nil)
	require.NoError(w.t, err)
	stored, err := machine.DecodeEntry(line)
	require.NoError(w.t, err)
	require.Equal(w.t, *entry.Migrated, *stored.Migrated)
	typed, ok := machine.As[Desk2](back)
	require.True(w.t, ok)
	return typed, entry
}

func cannotMigrate(w *world, m machine.Migration) *machine.UnmigratableError {
	s, entry, err := m.Apply(anyOf(w.s), guard.Operator, olga, w.now)
	require.ErrorIs(w.t, err, machine.ErrUnmigratable)
	require.Nil(w.t, entry)
	require.Equal(w.t, anyOf(w.s), s)
	var why *machine.UnmigratableError
	require.ErrorAs(w.t, err, &why)
	require.Equal(w.t, w.s.Task, why.Task)
	require.Equal(w.t, w.s.Version, why.Version)
	return why
}

func TestMigratingAWaitingTask(t *testing.T) {
	w := asked(t).after(time.Minute)
	w.sees(saw(w, Frozen, "t1", false))
	offer := w.s.Offers[0].ID
	to := newDesk2().build()
	next, entry := migrates(w, machine.MustMigrate(desk, to, toCents, renames()...))

	require.Equal(t, to.Stamp(), next.Stamp())
	require.Equal(t, w.s.Version+1, next.Version)
	require.Equal(t, w.s.Version, next.BasedOn)
	require.Equal(t, "operator/olga", next.UpdatedBy)
	require.Equal(t, Questioning, next.State)
	require.Equal(t, w.s.Entered, next.Entered, "it is the same stay")
	require.Equal(t, Desk2{"1", 5000, []string{"moved"}}, next.Data)
	require.Empty(t, next.Offers)
	require.Equal(t, []machine.Voided{{Offer: offer, Reason: "definition_changed"}}, entry.Voided)

	fine, known := Fine.Get(next.Facts)
	require.True(t, known && fine)
	_, known = next.Facts.Entry(guard.Key{Fact: "good", Subject: "1"})
	require.False(t, known)
	require.Equal(t, []guard.Key{{Fact: "frozen", Subject: "t1"}}, entry.Migrated.Forgotten)
	require.Empty(t, entry.Migrated.Doubted)

	require.Equal(t, []machine.ArmedTimer{{Event: "gave_up", Due: start.Add(Patience)}, {Event: "remind", Due: w.now.Add(Nudge)}}, next.Timers,
		"the first deadline is kept, and a timer that is new begins now")
	require.Equal(t, &machine.Waiting{For: machine.TaskOwner, Since: start, Until: start.Add(Patience)}, next.Waiting)
	require.Equal(t, []string{"nudged"}, entry.Migrated.Timers)

	require.Equal(t, machine.EntryMigrated, entry.Event)
	require.Equal(t, desk.Stamp(), entry.Migrated.From)
	require.Equal(t, []machine.State{Asking, Questioning}, []machine.State{entry.From, entry.To})
	require.Equal(t, to.Digest(), entry.Digest)
}

// An effect keeps its key and arguments across a migration, and is settled under the later definition.
func TestMigratingAnEffectUnderWay(t *testing.T) {
	w := paying(t)
	to := newDesk2().build()
	next, _ := migrates(w, machine.MustMigrate(desk, to, toCents, renames()...))
	require.Equal(t, w.s.Intents, next.Intents)
	require.Equal(t, w.s.Operations, next.Operations)
	slip, err := guard.Verify(SlipOf.Observe(handles["bank"], guard.Observed[Slip]{Value: Slip{50}, Subject: w.key(), At: w.now}),
		guard.Acceptance{Fact: to.FactNamed, Trusts: func(*guard.Authority) bool { return true }, Now: w.now, BasedOn: next.Version})
	require.NoError(t, err)
	done, out := to.Step(next, machine.Input{Proposal: Send.Info().Confirm(w.key()).BasedOn(next.Version), Evidence: []guard.Evidence{slip}, Now: w.now})
	require.NoError(t, out.Err())
	require.Equal(t, Paid, done.State)
}

// A timer that was put off stays put off, and the wait keeps the deadline that it had.
func TestMigratingATimerThatWasPutOff(t *testing.T) {
	w := asked(t).after(2 * Patience)
	put, _, ok := desk.Postpone(w.s, machine.Outcome{Event: "lapsed"}, w.now)
	require.True(t, ok)
	w.s = put
	next, _ := migrates(w, machine.MustMigrate(desk, newDesk2().build(), toCents, renames()...))
	require.Equal(t, start.Add(Patience), next.Timers[0].First)
	require.Equal(t, w.s.Wake(), start.Add(Nudge))
	require.Equal(t, start.Add(Patience), next.Waiting.Until)
}

// Evidence that would count for longer than it did is unknown until observed again, and its order mark stays (law 6).
func TestMigratedFactsKeepTheStricterAge(t *testing.T) {
	for _, row := range []struct {
		name    string
		age     guard.FactOption
		doubted bool
	}{
		{"equal", guard.MaxAge(Age), false}, {"stricter", guard.MaxAge(Age - 1), false},
		{"laxer", guard.MaxAge(Age + 1), true}, {"lasting", guard.Lasting(), true},
	} {
		t.Run(row.name, func(t *testing.T) {
			x := newDesk2()
			x.good = guard.NewFact[bool]("good", guard.From("policy"), guard.About("order"), row.age)
			w := asked(t)
			old, _ := w.s.Facts.Entry(guard.Key{Fact: "good", Subject: "1"})
			next, entry := migrates(w, machine.MustMigrate(desk, x.build(), toCents, machine.RenameState(Asking, Questioning)))
			e, there := next.Facts.Entry(old.Key)
			require.True(t, there)
			require.Equal(t, old.At, e.At)
			require.Equal(t, row.doubted, e.Disputed)
			_, known := x.good.Get(next.Facts)
			require.Equal(t, !row.doubted, known)
			require.Equal(t, row.doubted, len(entry.Migrated.Doubted) == 1)
		})
	}
}

// A fact of the same name from elsewhere, of another type or about something else is another fact.
func TestMigratedFactsOfAnotherKindAreForgotten(t *testing.T) {
	for name, good := range map[string]guard.Fact[bool]{
		"authority": guard.NewFact[bool]("good", guard.From("shop"), guard.About("order"), guard.MaxAge(Age)),
		"subject":   guard.NewFact[bool]("good", guard.From("policy"), guard.MaxAge(Age)),
		"order":     guard.NewFact[bool]("good", guard.From("policy"), guard.About("order"), guard.MaxAge(Age), guard.Ordered(guard.ByArrival)),
		"volatile":  guard.NewFact[bool]("good", guard.From("policy"), guard.About("order"), guard.Volatile()),
	} {
		x := newDesk2()
		x.good = good
		next, entry := migrates(asked(t), machine.MustMigrate(desk, x.build(), toCents, machine.RenameState(Asking, Questioning)))
		_, there := next.Facts.Entry(guard.Key{Fact: "good", Subject: "1"})
		require.False(t, there, name)
		require.Contains(t, entry.Migrated.Forgotten, guard.Key{Fact: "good", Subject: "1"}, name)
	}
}

func TestTasksThatCannotMigrate(t *testing.T) {
	whole := machine.MustMigrate(desk, newDesk2().build(), toCents, renames()...)
	breaks, unsettled := newDesk2(), newDesk2()
	breaks.broken, unsettled.settles = errors.New("it is"), false
	for _, row := range []struct {
		name string
		w    *world
		m    machine.Migration
		code string
		text string
	}{
		{"state", asked(t), machine.MustMigrate(desk, newDesk2().build(), toCents), machine.CodeLosesState, "no state asking: rename it"},
		{"data function", worldWith(t, 13), whole, machine.CodeMigratedData, "nobody knows the currency"},
		{"panic", worldWith(t, 14), whole, machine.CodeMigratedData, "boom"},
		{"invalid", worldWith(t, 91), whole, machine.CodeMigratedData, "cents"},
		{"invariant", asked(t), machine.MustMigrate(desk, breaks.build(), toCents, renames()...), machine.CodeBreaks, "never broken: it is"},
		{"effect", paying(t), machine.MustMigrate(desk, unsettled.build(), toCents, renames()...), machine.CodeStuck, "t1/send/1 has no outcome yet"},
	} {
		t.Run(row.name, func(t *testing.T) {
			why := cannotMigrate(row.w, row.m)
			require.Equal(t, row.code, why.Code)
			require.Contains(t, why.Text, row.text)
			require.Contains(t, why.Error(), "task t1")
		})
	}
	w := worldWith(t, 90)
	_, _ = migrates(w, whole)
	w.s.Digest = "another"
	_, _, err := whole.Apply(anyOf(w.s), guard.Operator, olga, w.now)
	require.ErrorContains(t, err, machine.CodeOtherMigration)
}

func TestFaultsOfAMigration(t *testing.T) {
	to := newDesk2().build()
	older, otherSend := newDesk2(), newDesk2()
	older.version, otherSend.send = 1, machine.NewEffect[Transfer]("send", SlipOf)
	foreign := guard.NewFact[bool]("fine", guard.From("policy"), guard.About("order"), guard.MaxAge(Age))
	lookalike := newDesk2()
	lookalike.good = guard.NewFact[bool]("fine", guard.From("shop"), guard.About("order"), guard.MaxAge(Age))
	two := machine.RenameState(Asking, Questioning)
	for name, row := range map[string]struct {
		to   *machine.Machine[Desk2]
		opts []machine.MigrationOption
		text string
	}{
		"version":        {older.build(), nil, "version: it leads from version 1 to version 1"},
		"unknown state":  {to, []machine.MigrationOption{machine.RenameState(Asking, "nowhere")}, "unknown_state"},
		"unknown old":    {to, []machine.MigrationOption{machine.RenameState("nowhere", Questioning)}, "unknown_state"},
		"state twice":    {to, []machine.MigrationOption{two, two}, "renamed_twice"},
		"ends":           {to, []machine.MigrationOption{machine.RenameState(Asking, Closed)}, "final: state asking"},
		"reopens":        {to, []machine.MigrationOption{machine.RenameState(Closed, Draft)}, "final: state closed"},
		"unknown fact":   {to, []machine.MigrationOption{machine.RenameFact(Good, foreign)}, "unknown_fact"},
		"zero fact":      {to, []machine.MigrationOption{machine.RenameFact(Good, guard.Fact[bool]{})}, "zero_fact"},
		"another fact":   {lookalike.build(), []machine.MigrationOption{machine.RenameFact(Good, lookalike.good)}, "other_fact"},
		"effect":         {otherSend.build(), nil, "effect_twice"},
		"receipt":        {to, []machine.MigrationOption{machine.RenameFact(SlipOf, Fine)}, "own_fact"},
		"two become one": {to, []machine.MigrationOption{machine.RenameFact(Good, Fine), machine.RenameFact(Open, Fine)}, "fact_twice"},
		"fact twice":     {to, []machine.MigrationOption{machine.RenameFact(Good, Fine), machine.RenameFact(Good, Fine)}, "renamed_twice"},
		"unknown event":  {to, []machine.MigrationOption{machine.RenameEvent(Lapsed, Lapsed)}, "unknown_event"},
		"zero event":     {to, []machine.MigrationOption{machine.RenameEvent(Lapsed, machine.Event[machine.None]{})}, "zero_event"},
	} {
		_, err := machine.Migrate(desk, row.to, toCents, row.opts...)
		require.ErrorIs(t, err, machine.ErrDefinition, name)
		require.ErrorContains(t, err, row.text, name)
		require.ErrorContains(t, err, "migrate_test.go:", name)
	}
	_, err := machine.Migrate(desk, to, toCents, machine.RenameState(Asking, "nowhere"), machine.RenameFact(Good, foreign))
	require.ErrorContains(t, err, "has 2 faults", "all at once")
	_, err = machine.Migrate[Desk, Desk2](desk, nil, toCents)
	require.ErrorIs(t, err, machine.ErrDefinition)
	_, err = machine.Migrate[Desk, Desk2](desk, to, nil)
	require.ErrorIs(t, err, machine.ErrDefinition)
	require.Panics(t, func() { machine.MustMigrate(to, to, machine.SameData[Desk2]) })
	require.Nil(t, machine.Migration{}.From())
	require.Nil(t, machine.Migration{}.To())
}

// A data function may write into what it is given: it is a private copy.
func TestMigratingLeavesTheOldDataAlone(t *testing.T) {
	w := asked(t)
	w.does(Note.With(Text{"hello"}))
	next, _ := migrates(w, machine.MustMigrate(desk, newDesk2().build(), toCents, renames()...))
	require.Equal(t, []string{"hello", "moved"}, next.Data.Notes)
	require.Equal(t, map[string]string{"hello": "seen"}, w.s.Data.Tags)
}

// An effect that the later definition does not have keeps a task back until it has an outcome; then its number is kept.
func TestMigratingAnEffectThatIsGone(t *testing.T) {
	x := newDesk2()
	x.send = machine.NewEffect[Transfer]("wire", SlipOf)
	m := machine.MustMigrate(desk, x.build(), toCents, renames()...)
	w := paying(t)
	why := cannotMigrate(w, m)
	require.Equal(t, machine.CodeStuck, why.Code)
	require.Contains(t, why.Text, "has no effect send")
	key := w.key()
	w.does(Send.Info().Confirm(key), saw(w, SlipOf, key, Slip{50}))
	next, entry := migrates(w, m)
	require.Empty(t, next.Intents)
	require.Equal(t, []string{key}, entry.Migrated.Effects)
	require.Equal(t, uint64(1), next.Operation("send"))
}
