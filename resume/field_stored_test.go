package resume_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/pawlgo/pawl/examples/refund/refund"
	"github.com/pawlgo/pawl/guard"
	"github.com/pawlgo/pawl/machine"
	"github.com/pawlgo/pawl/resume"
	"github.com/pawlgo/pawl/store"
	"github.com/stretchr/testify/require"
)

// Field cases of class D that concern what a controller makes of what was stored: an allowance is spent while it is within a limit.
type (
	allowance struct {
		Account string `json:"account" about:"account"`
	}
	limitV1 struct {
		Minor    int64  `json:"minor"`
		Currency string `json:"currency"`
	}
	limitV2 struct {
		Cents int64 `json:"cents"`
	}
)

var (
	currency = guard.NewFact[string]("currency", guard.From("ledger"), guard.About("account"), guard.Lasting())
	spend    = machine.NewEvent[machine.None]("spend")
	remindMe = machine.NewEvent[machine.None]("remind_me")
)

// allowances is a version of the machine whose limit is a fact of this name and of the type T; judged hears every limit that its guard is given.
func allowances[T any](version int, name string, judged func(T), more ...guard.Guard) (*machine.Machine[allowance], guard.Fact[T]) {
	limit := guard.NewFact[T](name, guard.From("ledger"), guard.About("account"), guard.Lasting())
	b := machine.New[allowance]("allowance", "open")
	b.Version(version)
	b.Final("spent")
	machine.On(b, spend).From("open").To("spent").By(guard.User).
		Require(append(more, guard.Holds("within", "it is past the limit", limit, func(v T) bool { judged(v); return true }))...)
	machine.On(b, remindMe).From("open").Stay().By(guard.User)
	return b.MustBuild(), limit
}

// shelf is a store with allowances and a ledger that vouches for their facts.
type shelf struct {
	*desk
	ledger *guard.Authority
}

func newShelf(t *testing.T) *shelf { return &shelf{newDesk(t), guard.NewAuthority("ledger")} }

func (d *shelf) serve(steps []machine.Migration, machines ...machine.Definition) *resume.Controller {
	ctl, err := resume.Open(d.ctx, d.st, resume.Config{Machines: machines, Migrations: steps, Trust: []*guard.Authority{d.ledger}})
	require.NoError(d.t, err)
	return ctl
}

// bytes is all that the store holds of a task.
func (d *shelf) bytes(task string) store.Record {
	r, _, err := d.st.Load(d.ctx, task)
	require.NoError(d.t, err)
	return r
}

// Case B057: the type of a fact is another one after an upgrade. Without the old definition the task is not read, and stays as it is; both
// definitions at once do not start, since one name has one type. Under a name of its own the new fact is unknown, and the step says what it
// forgot. No guard is ever shown the zero value of the new type.
func TestB057AnotherTypeIsNotRead(t *testing.T) {
	d := newShelf(t)
	v1, limit1 := allowances(1, "limit", func(limitV1) {})
	old := d.serve(nil, v1)
	_, err := old.Start(d.ctx, v1.Task("t1", alice, allowance{"a1"}), alice)
	require.NoError(t, err)
	out, err := old.Observe(d.ctx, "t1", limit1.Observe(d.ledger, guard.Observed[limitV1]{Value: limitV1{5000, "EUR"}, Subject: "a1"}))
	require.NoError(t, err)
	require.NoError(t, out.Err())
	before := d.bytes("t1")

	var seen []limitV2
	judged := func(v limitV2) { seen = append(seen, v) }
	changed, _ := allowances(1, "limit", judged)
	retyped, limitR := allowances(2, "limit", judged)
	for advice, m := range map[string]machine.Definition{"version 1 has been changed": changed, "register version 1 beside version 2": retyped} {
		ctl := d.serve(nil, m)
		_, err = ctl.Resume(d.ctx, "t1", alice)
		require.ErrorIs(t, err, resume.ErrMachine)
		require.ErrorContains(t, err, advice)
		_, err = ctl.Observe(d.ctx, "t1", limitR.Observe(d.ledger, guard.Observed[limitV2]{Value: limitV2{1}, Subject: "a1"}))
		require.Error(t, err)
		require.NoError(t, ctl.Work(d.ctx))
		require.Equal(t, before, d.bytes("t1"))
	}
	_, err = resume.Open(d.ctx, d.st, resume.Config{Machines: []machine.Definition{v1, retyped}})
	require.ErrorIs(t, err, resume.ErrConfig)
	require.ErrorContains(t, err, "fact limit is a resume_test.limitV1")

	v2, limit2 := allowances(2, "limit_in_cents", judged)
	seen = nil // Build tries guards on samples
	ctl := d.serve([]machine.Migration{machine.MustMigrate(v1, v2, machine.SameData[allowance])}, v1, v2)
	s, err := ctl.Resume(d.ctx, "t1", alice)
	require.NoError(t, err)
	for e, err := range s.History(d.ctx) {
		require.NoError(t, err)
		require.Equal(t, []guard.Key{{Fact: "limit", Subject: "a1"}}, e.Migrated.Forgotten, "it is named")
		break
	}
	out = d.refuses(s, spend.With(machine.None{}).As(guard.User))
	require.Equal(t, machine.NeedsEvidence, out.Kind)
	require.Equal(t, "limit_in_cents", out.Findings[0].Missing[0].Fact)
	require.Empty(t, seen)
	d.commits(s, spend.With(machine.None{}).As(guard.User), limit2.Observe(d.ledger, guard.Observed[limitV2]{Value: limitV2{5000}, Subject: "a1"}))
	require.NotEmpty(t, seen)
	require.NotContains(t, seen, limitV2{}, "never the zero value")
}

// Case B061: a later version wants to know the currency of a thousand tasks that were stored without. All of them load, none of them has
// one, and what needs it waits until it is observed.
func TestB061RequiredLater(t *testing.T) {
	d := newShelf(t)
	v1, limit := allowances(1, "limit", func(limitV1) {})
	v2, _ := allowances(2, "limit", func(limitV1) {}, guard.Known(currency))
	old := d.serve(nil, v1)
	seen := limit.Observe(d.ledger, guard.Observed[limitV1]{Value: limitV1{5000, "EUR"}, Subject: "a1"})
	const many = 1000
	for n := range many {
		id := fmt.Sprint("t", n)
		s, err := old.Start(d.ctx, v1.Task(id, alice, allowance{"a1"}), alice)
		require.NoError(t, err)
		if n%2 == 0 { // of different histories
			d.commits(s, remindMe.With(machine.None{}).As(guard.User))
		}
	}
	ctl := d.serve([]machine.Migration{machine.MustMigrate(v1, v2, machine.SameData[allowance])}, v1, v2)
	for n := range many {
		s, err := ctl.Resume(d.ctx, fmt.Sprint("t", n), alice)
		require.NoError(t, err)
		require.Equal(t, v2.Stamp(), s.Snapshot().Stamp())
		require.Contains(t, s.Snapshot().Facts.Subjects()["account"], "a1")
		if n%100 != 0 {
			continue
		}
		r, err := s.Report(d.ctx)
		require.NoError(t, err)
		require.Contains(t, r.Facts, resume.ReportedFact{Key: guard.Key{Fact: "currency", Subject: "a1"}, Source: "ledger"}, "said to be unknown")
		out := d.refuses(s, spend.With(machine.None{}).As(guard.User), seen)
		require.Equal(t, machine.NeedsEvidence, out.Kind)
		require.Equal(t, "currency", out.Findings[0].Missing[0].Fact)
		d.commits(s, spend.With(machine.None{}).As(guard.User), seen,
			currency.Observe(d.ledger, guard.Observed[string]{Value: "EUR", Subject: "a1"}))
	}
}

// Case B067: a later release stored a state that this one does not know. The task is in flight and left alone: listed, and neither resumed,
// nor proposed to, nor swept, nor worked on; the release that knows it goes on with it.
func TestB067OlderReleaseLeavesItAlone(t *testing.T) {
	p := newParcels(t)
	v1, v2 := parcel1(), parcel2(2, nil)
	newer := p.open(v1, v2)
	s, err := newer.Start(p.ctx, v2.Task("t1", alice, parcelV2{Order: "o1"}), alice)
	require.NoError(t, err)
	out, err := s.Propose(p.ctx, mailIt.With(machine.None{}).As(guard.User))
	require.NoError(t, err)
	require.NoError(t, out.Err())
	stored := func() (store.Record, []store.Effect) {
		r, effects, err := p.st.Load(p.ctx, "t1")
		require.NoError(t, err)
		return r, effects
	}
	older := p.open(v1)
	before, _ := stored()
	p.now = p.now.Add(72 * time.Hour) // past every deadline
	err = older.Work(p.ctx)
	require.ErrorIs(t, err, resume.ErrMachine, "an operator hears of it")
	_, err = older.Resume(p.ctx, "t1", alice)
	require.ErrorIs(t, err, resume.ErrMachine)
	require.ErrorContains(t, err, "version 2 is newer than all that are served here")
	_, err = older.Observe(p.ctx, "t1", deliveredOld.Observe(p.carrier, guard.Observed[bool]{Value: true, Subject: "o1"}))
	require.ErrorIs(t, err, resume.ErrMachine)
	found, err := older.Owned(p.ctx, alice)
	require.NoError(t, err)
	require.Len(t, found, 1)
	require.False(t, found[0].Final, "in flight")
	after, effects := stored()
	require.Equal(t, before, after)
	require.Len(t, effects, 1)
	require.Zero(t, p.mails)

	p.now = p.now.Add(time.Hour)
	require.NoError(t, newer.Work(p.ctx))
	require.Equal(t, 1, p.mails)
	require.Equal(t, waitCarrier, p.resume(newer, "t1").State())
}

// Case B066: a task is started and resumed under every spelling of its id. Each is either that very id or refused at the door; none of them
// reaches another task, and nothing is stored under it. Ids are compared byte by byte: two that differ in case, or in the dashes of a
// UUID, are two tasks, in every store.
func TestB066OneSpelling(t *testing.T) {
	for name, at := range map[string]*desk{"memory": newDesk(t), "pebble": newPebbleDesk(t).desk} {
		start := func(id string) error {
			_, err := at.ctl.Start(at.ctx, refund.Machine.Task(id, alice, refund.Refund{OrderID: "123", Amount: euros, Notes: []string{}}), alice)
			return err
		}
		require.NoError(t, start("A1"), name)
		require.ErrorIs(t, start("A1"), resume.ErrExists, name)
		for _, id := range []string{" A1", "A1 ", "A1\n", "A1\x00", "\uff21\uff11", "A\u200b1", "é", "e\u0301", "../A1", "A1/..", "", strings.Repeat("x", 300)} {
			require.ErrorIs(t, start(id), machine.ErrTask, "%s: %q", name, id)
			_, err := at.ctl.Resume(at.ctx, id, alice)
			require.ErrorIs(t, err, machine.ErrTask, "%s: %q", name, id)
			_, err = at.st.Tip(at.ctx, id)
			require.Error(t, err, "%s: %q", name, id)
			require.NotErrorIs(t, err, store.ErrNotFound, "%s: %q is refused, not looked for", name, id)
		}
		for _, other := range []string{"a1", "123e4567-e89b-12d3-a456-426614174000", "123e4567e89b12d3a456426614174000"} {
			_, err := at.ctl.Resume(at.ctx, other, alice)
			require.ErrorIs(t, err, resume.ErrNoTask, "%s: %q", name, other)
			require.NoError(t, start(other), "%s: %q", name, other)
		}
		owned, err := at.ctl.Owned(at.ctx, alice)
		require.NoError(t, err)
		require.Len(t, owned, 4)
	}
}

// tampered is a desk whose newest record of the task was written by a hand that knows the format and not the rules.
func tampered(t *testing.T, from func(*desk) *resume.Session, change func(map[string]any), emit ...store.Effect) *desk {
	t.Helper()
	d := newDesk(t)
	from(d)
	r, rows, err := d.st.Load(d.ctx, taskID)
	require.NoError(t, err)
	var snap map[string]any
	require.NoError(t, json.Unmarshal(r.Snapshot, &snap))
	snap["state_version"] = r.Tip.Version + 1
	change(snap)
	bytes, err := json.Marshal(snap)
	require.NoError(t, err)
	c := &store.Commit{Record: store.Record{Task: taskID, Meta: r.Meta, Snapshot: bytes, Entry: r.Entry, Nonce: 7}, Base: r.Tip, Emit: emit}
	for _, row := range rows {
		c.Settle = append(c.Settle, store.Settle{Effect: row.ID, Rev: row.Rev})
	}
	_, err = d.st.Commit(d.ctx, c)
	require.NoError(t, err)
	return d
}

// Case B060: what no commit could have written is no living task: a state that is empty or unknown, a wait for nobody in a state that waits
// and a wait in one that does not, an end with an effect under way, an effect that the store does not hold. Each is told as what it is.
func TestB060NoQuietLiveTask(t *testing.T) {
	for name, at := range map[string]struct {
		from   func(*desk) *resume.Session
		change func(map[string]any)
		err    error
	}{
		"no state":                {(*desk).asked, func(s map[string]any) { s["status"] = "" }, machine.ErrStored},
		"an unknown state":        {(*desk).asked, func(s map[string]any) { s["status"] = "refund_unknown" }, machine.ErrStored},
		"unknown, no wait":        {(*desk).dispatched, func(s map[string]any) { s["status"] = "paying" }, machine.ErrStored},
		"waits for nobody":        {(*desk).asked, func(s map[string]any) { delete(s, "waiting") }, machine.ErrStored},
		"waits where it does not": {(*desk).asked, func(s map[string]any) { s["status"] = string(refund.CheckingEligibility) }, machine.ErrStored},
		"ended, and under way":    {(*desk).dispatched, func(s map[string]any) { s["status"] = string(refund.Refunded) }, machine.ErrStored},
		"an effect without a row": {(*desk).dispatched, func(map[string]any) {}, store.ErrCorrupt},
	} {
		t.Run(name, func(t *testing.T) {
			d := tampered(t, at.from, at.change)
			s, err := d.ctl.Resume(d.ctx, taskID, alice)
			if err == nil {
				_, err = s.Report(d.ctx)
			}
			require.ErrorIs(t, err, at.err)
			require.ErrorContains(t, err, taskID)
			d.work()
			require.Empty(t, d.world.sent)
		})
	}
}

// Case B060, and where a law differs: a state that waits without an open question is legal, since a question is void when what it stood on
// changes. It is not quiet: nothing can be confirmed, what may be proposed is said, and the deadline of the wait ends it.
func TestB060WaitingWithoutAQuestionEnds(t *testing.T) {
	d := tampered(t, (*desk).asked, func(s map[string]any) { delete(s, "offers") })
	s := d.resume()
	r, err := s.Report(d.ctx)
	require.NoError(t, err)
	require.Empty(t, r.Offers)
	require.NotEmpty(t, r.Permits)
	require.Equal(t, machine.CodeNotOffered, d.refuses(s, refund.ConfirmRefund.With(confirm)).Code())
	d.sleep(refund.Patience)
	d.work()
	require.Equal(t, refund.Cancelled, d.resume().State())
}
