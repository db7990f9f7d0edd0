package machine_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlgo/pawl/guard"
	"github.com/pawlgo/pawl/machine"
)

// full is a snapshot that has something of everything.
func full(t *testing.T) *world {
	w := paying(t)
	w.does(Send.Info().Confirm(w.key()), saw(w, SlipOf, w.key(), Slip{50}), saw(w, Open, "1", true), saw(w, Open, "1", false))
	w.s.Offers = asked(t).s.Offers
	w.s.Timers, w.s.Waiting = asked(t).s.Timers, asked(t).s.Waiting
	return w
}

// TestRoundTrip: what is stored is read back to the same snapshot and the same bytes, disputed facts included.
func TestRoundTrip(t *testing.T) {
	w := full(t)
	raw := w.encode(w.s)
	back, err := desk.Decode([]byte(raw))
	require.NoError(t, err)
	require.Equal(t, w.s, back)
	require.Equal(t, raw, w.encode(back))
	e, ok := back.Facts.Entry(guard.Key{Fact: "open", Subject: "1"})
	require.True(t, ok && e.Disputed && e.Value == nil)
	erased, err := machine.Erase(desk).Decode([]byte(raw))
	require.NoError(t, err)
	_, ok = machine.As[Desk](erased)
	require.True(t, ok)
	_, ok = machine.As[Pay](erased)
	require.False(t, ok)
	prefix, err := desk.Encode([]byte("before"), w.s)
	require.NoError(t, err)
	require.Equal(t, "before"+raw, string(prefix))
}

// TestGoldenSnapshot: the stored form of a snapshot does not change by accident.
func TestGoldenSnapshot(t *testing.T) {
	s := full(t).s
	s.Digest = "digest"
	b, err := desk.Encode(nil, s)
	require.NoError(t, err)
	var indented strings.Builder
	enc := json.NewEncoder(&indented)
	enc.SetIndent("", "  ")
	require.NoError(t, enc.Encode(json.RawMessage(b)))
	golden(t, "snapshot.json", indented.String())
}

// TestDecodeErrors has one row for each thing that stored bytes may not be.
func TestDecodeErrors(t *testing.T) {
	good := full(t).encode(full(t).s)
	for _, row := range []struct{ name, old, new, want string }{
		{"nothing", good, "", "syntax"},
		{"garbage", good, "garbage", "syntax"},
		{"cut off", good, good[:len(good)-1], "syntax"},
		{"trailing bytes", good, good + "{}", "trailing"},
		{"an empty object", good, "{}", "missing_field"},
		{"a key twice", `{"task_id":"t1"`, `{"task_id":"t1","task_id":"t2"`, "duplicate_key"},
		{"an unknown key", `"state_version":4`, `"state_version":4,"more":1`, "unknown_field"},
		{"another machine", `"machine":"desk"`, `"machine":"other"`, "is of machine other"},
		{"a newer definition", `"definition":1`, `"definition":2`, "version 2"},
		{"a newer definition of another shape", `"definition":1`, `"definition":2,"more":1`, "version 2"},
		{"another digest", desk.Digest(), "0123", "digest 0123"},
		{"an unknown state", `"status":"paid"`, `"status":"lost"`, `"lost"`},
		{"no version", `"state_version":4`, `"state_version":0`, "at version 0"},
		{"an impossible id", `"task_id":"t1"`, `"task_id":"a/b"`, `"a/b"`},
		{"an unknown fact", `"fact":"good"`, `"fact":"goof"`, "undeclared fact"},
		{"a fact twice", `"fact":"open"`, `"fact":"good"`, "out of order"},
		{"a fact of another type", `"fact":"good","subject":"1","value":true`, `"fact":"good","subject":"1","value":7`, "fact good"},
		{"an unknown timer", `"event":"nudged"`, `"event":"nagged"`, "undeclared event"},
		{"an unknown offer", `"event":"pay","payload"`, `"event":"pray","payload"`, "undeclared event"},
		{"an offer of another type", `"payload":{"order_id":"1","amount":50}`, `"payload":{}`, "missing_field"},
		{"an unknown effect", `"effect":"send","key"`, `"effect":"sent","key"`, "undeclared effect"},
		{"an unknown status", `"status":"confirmed"`, `"status":"perhaps"`, "unknown status"},
		{"other arguments", `"args":{"order_id":"1","amount":50}`, `"args":{"order_id":1}`, "wrong_type"},
		{"other data", `"data":{"order_id":"1"`, `"data":{"order_id":1`, "data"},
	} {
		raw := strings.Replace(good, row.old, row.new, 1)
		require.NotEqual(t, good, raw, row.name)
		_, err := desk.Decode([]byte(raw))
		require.ErrorIs(t, err, machine.ErrStored, row.name)
		require.ErrorContains(t, err, row.want, row.name)
	}
	_, err := desk.Decode([]byte(good))
	require.NoError(t, err)
}

// TestSizes: both sides of what may be stored.
func TestSizes(t *testing.T) {
	w := newWorld(t)
	w.s.Data.Notes = []string{""}
	empty := len(w.encode(w.s))
	w.s.Data.Notes[0] = strings.Repeat("x", machine.MaxSnapshot-empty)
	require.Len(t, w.encode(w.s), machine.MaxSnapshot)
	w.s.Data.Notes[0] += "x"
	_, err := desk.Encode(nil, w.s)
	require.ErrorIs(t, err, machine.ErrTooLarge)
	require.ErrorContains(t, err, "task t1, version 1")

	_, entry, err := desk.Task("t1", alice, Desk{OrderID: "1"}).First(start)
	require.NoError(t, err)
	entry.Key = ""
	b, err := entry.Append(nil)
	require.NoError(t, err)
	entry.Key = strings.Repeat("x", machine.MaxEntry-len(b)-len(`,"key":""`))
	b, err = entry.Append(nil)
	require.NoError(t, err)
	require.Len(t, b, machine.MaxEntry)
	_, err = machine.DecodeEntry(b)
	require.NoError(t, err)
	entry.Key += "x"
	_, err = entry.Append(nil)
	require.ErrorIs(t, err, machine.ErrTooLarge)
}

// TestDeepValues: what is accepted at the greatest depth can be stored and read, inside snapshot and entry.
func TestDeepValues(t *testing.T) {
	type nest struct {
		Deep any `json:"deep"`
	}
	deep := func(n int) any {
		var v any = "x"
		for range n {
			v = []any{v}
		}
		return v
	}
	set := machine.NewEvent[nest]("set")
	seen := guard.NewFact[nest]("seen", guard.From("shop"), guard.Lasting())
	b := machine.New[nest]("nest", Draft)
	b.Final(Closed)
	b.Facts(seen)
	machine.On(b, set).From(Draft).Stay().By(guard.User).Apply(func(d *nest, c guard.Case[nest, nest]) { d.Deep = c.Payload.Deep })
	machine.On(b, Cancel).From(Draft).To(Closed).By(guard.User)
	for _, subject := range []string{"data", "payload of set", "fact seen"} {
		b.Accept(machine.LintLossy, subject+" machine_test.nest", "these tests nest on purpose")
	}
	m, err := b.Build()
	require.NoError(t, err)
	s0, _, err := m.Task("t1", alice, nest{}).First(start)
	require.NoError(t, err)
	s, _ := machine.As[nest](s0)
	for n, code := range map[int]string{31: "", 32: machine.CodeForm} {
		next, out := m.Step(s, machine.Input{Proposal: set.With(nest{deep(n)}).As(guard.User).BasedOn(1), Principal: alice, Now: start})
		require.Equal(t, code, out.Code(), "%d", n)
		if code != "" {
			continue
		}
		ev, err := guard.Verify(seen.Observe(handles["shop"], guard.Observed[nest]{Value: nest{deep(n)}, Subject: "t1"}),
			guard.Acceptance{Fact: m.FactNamed, Trusts: func(*guard.Authority) bool { return true }, Now: start})
		require.NoError(t, err)
		next, out = m.Step(next, machine.Input{Evidence: []guard.Evidence{ev}, Now: start})
		require.NoError(t, out.Err())
		raw, err := m.Encode(nil, next)
		require.NoError(t, err)
		_, err = m.Decode(raw)
		require.NoError(t, err)
		entry, err := out.Entry().Append(nil)
		require.NoError(t, err)
		_, err = machine.DecodeEntry(entry)
		require.NoError(t, err)
	}
}

func TestHead(t *testing.T) {
	w := paying(t)
	require.True(t, w.s.Emitted(Send))
	require.False(t, w.s.Settled(Send))
	require.False(t, w.s.Emitted(Book))
	require.False(t, w.s.Emitted(machine.Effect[Transfer, Slip]{}))
	_, ok := w.s.Intent("nothing")
	require.False(t, ok)
	_, ok = w.s.Offer("nothing")
	require.False(t, ok)
	scene := desk.Look(w.s, alice, w.now.Add(Age+time.Microsecond))
	_, status := scene.Reading(Good)
	require.Equal(t, guard.Stale, status)
	require.Equal(t, 1, scene.Unsettled("send"))
	require.Nil(t, desk.EventNamed("good.changed"))
	require.Nil(t, desk.EventNamed("foreign"))
	require.Equal(t, "pay", desk.EventNamed("pay").Name)
	require.Equal(t, []string{"send"}, desk.Effects())
	require.Equal(t, Send.Info(), desk.EffectNamed("send"))
	require.Equal(t, Good.Info(), desk.FactNamed("good"))
	require.True(t, desk.Relevant(w.s, saw(w, Good, "1", true).Entry()))
	require.False(t, desk.Relevant(w.s, saw(w, Good, "2", true).Entry()))
}
