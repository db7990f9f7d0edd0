package workingstate_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlgo/pawl/guard"
	"github.com/pawlgo/pawl/machine"
	ws "github.com/pawlgo/pawl/machine/workingstate"
	"github.com/pawlgo/pawl/resume"
)

// A guard on the version sees what one on the value cannot: that it went away and came back (section 4, row 15).
func TestExpectedVersion(t *testing.T) {
	d := open(t, ws.Machine, ws.Table{})
	one(d)
	d.set(stop, "254")
	d.set(stop, "262")
	d.set("other", "1")
	d.refusesSet(ws.CodeConflict, stop, "257", "expected_value", "262", "expected_version", "!1")
	d.refusesSet(ws.CodeConflict, stop, "257", "expected_value", "254", "expected_version", "!3")
	f := d.refusesSet(ws.CodeConflict, stop, "257", "expected_record_version", "!3")
	require.Equal(t, map[string]any{"current": "262", "current_version": uint64(3), "record_version": uint64(4)}, f.Details)
	d.set(stop, "257", "expected_version", "!3", "expected_record_version", "!4", "expected_value", "262")
	d.malformed("wrong_type", "/expected_version", setTool, args("key", stop, "value", "1", "reason", "r", "expected_version", "5"))
	d.malformed("lossy_number", "/expected_version", setTool, args("key", stop, "value", "1", "reason", "r", "expected_version", "!-1"))
}

// Nothing may hold: so a key can be created, and not overwritten.
func TestExpectAbsent(t *testing.T) {
	d := open(t, ws.Machine, ws.Table{})
	d.set("k", "1", "expect_absent", "!true", "ttl_hours", "!1")
	require.Equal(t, "1", d.refusesSet(ws.CodeConflict, "k", "2", "expect_absent", "!true").Details["current"])
	d.set("k", "2", "expect_absent", "!false", "ttl_hours", "!1")
	d.sleep(time.Hour)
	d.set("k", "3", "expect_absent", "!true")
	d.malformed("wrong_type", "/expect_absent", setTool, args("key", "k", "value", "1", "reason", "r", "expect_absent", "yes"))
}

// A key is retired only if it is still what was read; one that has expired is cleared without a guard, and conflicts with one.
func TestClearWithAGuard(t *testing.T) {
	d := open(t, ws.Machine, ws.Table{})
	one(d)
	d.refuses(ws.CodeConflict, clearTool, args("key", stop, "reason", "r", "expected_value", "254"))
	d.refuses(ws.CodeConflict, clearTool, args("key", stop, "reason", "r", "expected_version", "!2"))
	d.refuses(ws.CodeConflict, clearTool, args("key", stop, "reason", "r", "expected_record_version", "!0"))
	does[ws.ClearReply](d, clearTool, args("key", stop, "reason", "r", "expected_value", " 262", "expected_version", "!1", "expected_record_version", "!1"))
	expired(d)
	d.refuses(ws.CodeConflict, clearTool, args("key", "k", "reason", "r", "expected_value", "262"))
	d.refuses(ws.CodeKeyNotFound, clearTool, args("key", "none", "reason", "r", "expected_value", "262"))
	require.True(t, does[ws.ClearReply](d, clearTool, args("key", "k", "reason", strings.Repeat("r", ws.MaxReason+1))).Truncated)
}

// A handoff ends with its time, and can be cleared.
func TestHandoffEnds(t *testing.T) {
	d := open(t, ws.Machine, ws.Table{})
	r := does[ws.HandoffReply](d, handoffTool, args("note", "n", "ttl_hours", "!1"))
	require.Equal(t, t0.Add(time.Hour), r.ExpiresAt)
	require.Contains(t, d.block(), `Handoff, left 08-13 01:04, until 08-13 02:04: "n"`)
	d.sleep(time.Hour)
	require.Empty(t, d.block())
	require.True(t, d.get(20).Handoff.Expired)
	d.refuses(ws.CodeReason, retireTool, args("reason", " "))
	d.refuses(ws.CodeConflict, retireTool, args("reason", "r", "expected_record_version", "!7"))
	c := does[ws.ClearHandoffReply](d, retireTool, args("reason", "taken over", "expected_record_version", "!1"))
	require.Equal(t, ws.ClearHandoffReply{OK: true, Version: 2, Retired: "n"}, c)
	d.refuses(ws.CodeNoHandoff, retireTool, args("reason", "taken over"))
	require.Nil(t, d.get(20).Handoff)
	require.Equal(t, ws.OpClearHandoff, d.get(20).History[1].Op)
	d.refuses(ws.CodeTTL, handoffTool, args("note", "n", "ttl_hours", "!0"))
	d.refuses(ws.CodeConflict, handoffTool, args("note", "n", "expected_record_version", "!1"))
	does[ws.HandoffReply](d, handoffTool, args("note", "n", "expected_record_version", "!2"))
}

// The same key with the same arguments gives the first answer again; with others it is refused.
func TestKeyedCalls(t *testing.T) {
	d := open(t, ws.Machine, ws.Table{})
	k := d.Keyed("call-1")
	var first string
	for _, replayed := range []bool{false, true, true} {
		out, err := k.Call(t.Context(), setTool, []byte(args("key", stop, "value", "262", "reason", "r")))
		require.NoError(t, err)
		require.Equal(t, machine.Committed, out.Kind)
		require.Equal(t, replayed, out.Replayed)
		if first == "" {
			first = string(out.Returned)
		}
		require.Equal(t, first, string(out.Returned))
	}
	out, err := k.Set(t.Context(), ws.Set{Key: stop, Value: "254", Reason: "r"})
	require.NoError(t, err)
	require.Equal(t, "key_reused", out.Code())
	require.EqualValues(t, 1, d.table().Version)
}

// The history says which wake-up and which model wrote, as the connection had it; arguments cannot say.
func TestWhichWakeUpWrote(t *testing.T) {
	d := open(t, ws.Machine, ws.Table{})
	a, err := d.During("cron-2026-08-13T09:04", "m-4 p12")
	require.NoError(t, err)
	_, err = a.Set(t.Context(), ws.Set{Key: stop, Value: "262", Reason: "r"})
	require.NoError(t, err)
	again, err := a.During("heartbeat-3", "")
	require.NoError(t, err)
	_, err = again.Handoff(t.Context(), ws.Handoff{Note: "n"})
	require.NoError(t, err)
	_, err = d.As(operator, guard.Operator).Clear(t.Context(), ws.Clear{Key: stop, Reason: "r"})
	require.NoError(t, err)
	h := d.get(20).History
	require.Equal(t, []string{"trader", "cron-2026-08-13T09:04", "m-4 p12"}, []string{h[0].By, h[0].Run, h[0].Model})
	require.Equal(t, []string{"trader", "heartbeat-3", ""}, []string{h[1].By, h[1].Run, h[1].Model})
	require.Equal(t, []string{"ops", "", ""}, []string{h[2].By, h[2].Run, h[2].Model})
	d.malformed("unknown_field", "/run", setTool, args("key", stop, "value", "262", "reason", "r", "run", "x"))
	d.malformed("unknown_field", "/agent", setTool, args("key", stop, "value", "262", "reason", "r", "agent", "x"))

	for run, model := range map[string]string{"two words": "", strings.Repeat("r", ws.MaxRun+1): "", "é": "", "a": "two\nlines", "b": strings.Repeat("m", ws.MaxModel+1)} {
		_, err := d.During(run, model)
		require.ErrorIs(t, err, ws.ErrRun)
	}
	_, err = d.During(strings.Repeat("r", ws.MaxRun), strings.Repeat("m", ws.MaxModel))
	require.NoError(t, err)
}

// proofs is a verifier's book: what it says about each id.
type proofs map[string]ws.Proof

var errUnread = errors.New("the book cannot be read")

func (p proofs) look(_ context.Context, q guard.Query) (guard.Observed[ws.Proof], error) {
	if _, ok := p[q.Subject]; !ok {
		return guard.Observed[ws.Proof]{}, errUnread
	}
	return guard.Observed[ws.Proof]{Value: p[q.Subject], Subject: q.Subject, Ref: "ci/" + q.Subject}, nil
}

// proving is a desk where complete must show a proof.
func proving(t *testing.T, book proofs) *desk {
	fact := ws.NewProof(guard.From("test_runner"))
	m, err := ws.New(ws.Options{Proof: fact})
	require.NoError(t, err)
	require.Equal(t, ws.VersionProven, m.Describe().Version)
	return open(t, m, ws.Table{}, resume.Pull(fact, book.look))
}

// Complete is committed only on the verifier's word; other reports need none, and their evidence is a claim.
func TestCompleteNeedsProof(t *testing.T) {
	d := proving(t, proofs{"run-1": {Accepted: true, Says: "86 of 86"}, "run-2": {Says: "85 of 86"}})
	d.refuses(ws.CodeProofNeeded, handoffTool, args("note", "n", "status", "complete", "evidence", "all green"))
	d.refuses(ws.CodeProofNeeded, handoffTool, args("note", "n", "status", "complete", "evidence", "all green", "proof", " "))
	f := d.refuses(ws.CodeProofRefused, handoffTool, args("note", "n", "status", "complete", "evidence", "all green", "proof", "run-2"))
	require.Equal(t, map[string]any{"proof": "run-2", "verifier": "test_runner", "says": "85 of 86"}, f.Details)

	out := d.try(handoffTool, args("note", "n", "status", "complete", "evidence", "all green", "proof", "run-3"))
	require.Equal(t, machine.NeedsEvidence, out.Kind, "a verifier that cannot say leaves it unknown")
	require.Nil(t, d.table().Handoff)

	r := does[ws.HandoffReply](d, handoffTool, args("note", "n", "status", "complete", "evidence", "all green", "proof", " run-1 "))
	require.Equal(t, "test_runner", r.Verified)
	require.Contains(t, d.block(), `(complete): "n"; evidence (verified by test_runner, "run-1"): "all green"`)
	c := d.get(20).History[0]
	require.Equal(t, []string{"run-1", "test_runner"}, []string{c.Proof, c.Verified})

	does[ws.HandoffReply](d, handoffTool, args("note", "n", "status", "continue", "next_steps", "x", "evidence", "log"))
	require.Contains(t, d.block(), `evidence (claim, not verified): "log"`)
	d.refuses(ws.CodeProofRefused, handoffTool, args("note", "n", "status", "continue", "next_steps", "x", "proof", "run-2"))
	d.refuses(ws.CodeRule, handoffTool, args("note", "n", "status", "complete", "evidence", "e", "proof", strings.Repeat("p", ws.MaxProofID+1)))
	d.refuses(ws.CodeStatusNeeded, handoffTool, args("note", "n", "proof", "run-1"))
}

// The proof of a commit stands in its history, from its authority, and does not pile up in the snapshot.
func TestProofIsKeptInTheHistory(t *testing.T) {
	d := proving(t, proofs{"run-1": {Accepted: true, Says: "86 of 86"}})
	for range 3 {
		does[ws.HandoffReply](d, handoffTool, args("note", "n", "status", "complete", "evidence", "e", "proof", "run-1"))
	}
	m, err := ws.New(ws.Options{Proof: ws.NewProof(guard.From("test_runner"))})
	require.NoError(t, err)
	ctl, err := resume.Open(t.Context(), d.st, resume.Config{Machines: []machine.Definition{m}, Trust: []*guard.Authority{guard.NewAuthority("test_runner")}})
	require.NoError(t, err)
	entries, err := ctl.Recent(t.Context(), d.Task(), guard.Principal{ID: "trader"}, 1)
	require.NoError(t, err)
	require.Len(t, entries[0].Evidence, 1)
	require.Equal(t, "test_runner", entries[0].Evidence[0].Source)
	require.Equal(t, "ci/run-1", entries[0].Evidence[0].Ref)
	s, _, err := ctl.Latest(t.Context(), d.Task(), guard.Principal{ID: "trader"})
	require.NoError(t, err)
	require.Zero(t, s.Facts.Len())
}

// Without a verifier nothing may look like a proof.
func TestNoVerifier(t *testing.T) {
	d := open(t, ws.Machine, ws.Table{})
	d.refuses(ws.CodeNoVerifier, handoffTool, args("note", "n", "status", "complete", "evidence", "e", "proof", "run-1"))
}

// What starts an agent must hold to the rules that every change holds to.
func TestStartWith(t *testing.T) {
	d := open(t, ws.Machine, ws.Table{})
	started, err := d.StartWith(t.Context(), ws.Machine, ws.Table{Version: 9})
	require.NoError(t, err)
	require.False(t, started, "what exists is kept")
	require.Zero(t, d.table().Version)
	good := ws.Entry{Value: "v", Reason: "r", UpdatedAt: t0, UpdatedBy: "trader"}
	for name, e := range map[string]ws.Entry{"Bad": good, "empty": {Reason: "r"}, "unreasoned": {Value: "v"}, "ahead": {Value: "v", Reason: "r", Version: 10}} {
		_, err := d.StartWith(t.Context(), ws.Machine, ws.Table{Version: 9, States: map[string]ws.Entry{name: e}})
		require.ErrorIs(t, err, ws.ErrTable, name)
		task := ws.Machine.Task("working_state:other", guard.Principal{ID: "other"}, ws.Table{Version: 9, States: map[string]ws.Entry{name: e}})
		_, _, err = task.First(t0)
		require.ErrorIs(t, err, machine.ErrTask, "by any other way, too: %s", name)
	}
	many := ws.Table{Version: 9, States: map[string]ws.Entry{}}
	for _, k := range keys(0, ws.MaxKeys-1) {
		many.States[k] = good
	}
	_, err = ws.Clean(many)
	require.NoError(t, err)
	many.States["more"] = good
	_, err = ws.Clean(many)
	require.ErrorIs(t, err, ws.ErrTable)
}

// An id that names no agent is refused before anything is asked.
func TestAgentIDs(t *testing.T) {
	for id, ok := range map[string]bool{"trader": true, "A-b_9": true, strings.Repeat("a", ws.MaxAgent): true,
		"": false, strings.Repeat("a", ws.MaxAgent+1): false, "a.b": false, "../evil": false, "é": false, "a b": false} {
		_, err := ws.NewAgent(nil, id)
		require.Equal(t, ok, err == nil, id)
		if !ok {
			require.ErrorIs(t, err, ws.ErrAgent)
		}
	}
	task, err := ws.TaskID("trader")
	require.NoError(t, err)
	require.Equal(t, "working_state:trader", task)
}

// Durations become hours and come back to the second.
func TestHours(t *testing.T) {
	d := open(t, ws.Machine, ws.Table{})
	for _, want := range []time.Duration{time.Second, 7 * time.Second, 20 * time.Minute, 59*time.Minute + 59*time.Second, 100*time.Hour + time.Second, 720 * time.Hour} {
		out, err := d.Set(t.Context(), ws.Set{Key: "k", Value: "v", Reason: "r", TTLHours: ptr(ws.HoursOf(want))})
		require.NoError(t, err)
		r, err := machine.ReturnedAs[ws.SetReply](out)
		require.NoError(t, err, out.Findings)
		require.Equal(t, t0.Add(want), r.ExpiresAt)
	}
	for _, bad := range []ws.Hours{"", "soon", "0", "NaN", ws.HoursOf(-time.Hour), ws.HoursOf(720*time.Hour + time.Second)} {
		out, err := d.Set(t.Context(), ws.Set{Key: "k", Value: "v", Reason: "r", TTLHours: &bad})
		require.NoError(t, err)
		require.Equal(t, ws.CodeTTL, out.Code(), bad)
	}
}

// price is a number of a cent: what a rule is about.
type price int64

func parsePrice(s string) (price, error) {
	if s != "262" {
		return 0, errors.New("no price")
	}
	return 26200, nil
}

// A key is read as what another machine needs; what cannot be read so is an error, and what does not hold is zero.
func TestCommitment(t *testing.T) {
	d := open(t, ws.Machine, ws.Table{})
	none, err := ws.ReadNow(t.Context(), d.Agent, stop, parsePrice)
	require.NoError(t, err)
	require.Equal(t, ws.Commitment[price]{Key: stop}, none)
	d.set(stop, "262", "ttl_hours", "!4.5")
	c, err := ws.ReadNow(t.Context(), d.Agent, stop, parsePrice)
	require.NoError(t, err)
	require.Equal(t, ws.Commitment[price]{stop, true, 26200, "r", "trader", 1, t0, t0.Add(16200 * time.Second)}, c)
	d.sleep(16200 * time.Second)
	c, err = ws.ReadNow(t.Context(), d.Agent, stop, parsePrice)
	require.NoError(t, err)
	require.False(t, c.Holds)
	d.set(stop, "about 262")
	_, err = ws.ReadNow(t.Context(), d.Agent, stop, parsePrice)
	require.ErrorIs(t, err, ws.ErrCommitment)
}

// An agent that began without a verifier goes over to the definition that has one, with all that it holds.
func TestPlainBecomesProven(t *testing.T) {
	d := open(t, ws.Machine, ws.Table{})
	one(d)
	fact := ws.NewProof(guard.From("test_runner"))
	m, err := ws.New(ws.Options{Proof: fact})
	require.NoError(t, err)
	step, err := machine.Migrate(ws.Machine, m, machine.SameData[ws.Table])
	require.NoError(t, err)
	ctl, err := resume.Open(t.Context(), d.st, resume.Config{Machines: []machine.Definition{ws.Machine, m}, Migrations: []machine.Migration{step},
		Observers: []resume.Observer{resume.Pull(fact, proofs{"run-1": {Accepted: true}}.look)}})
	require.NoError(t, err)
	a, err := ws.NewAgent(ctl, "trader")
	require.NoError(t, err)
	now, _, err := a.Table(t.Context())
	require.NoError(t, err)
	require.Equal(t, "262", now.States[stop].Value)
	out, err := a.Call(t.Context(), handoffTool, []byte(args("note", "n", "status", "complete", "evidence", "e")))
	require.NoError(t, err)
	require.Equal(t, ws.CodeProofNeeded, out.Code())
	out, err = a.Call(t.Context(), handoffTool, []byte(args("note", "n", "status", "complete", "evidence", "e", "proof", "run-1")))
	require.NoError(t, err)
	require.NoError(t, out.Err())
	r, err := a.Get(t.Context(), 20)
	require.NoError(t, err)
	require.Len(t, r.History, 2, "the history goes on")
}
