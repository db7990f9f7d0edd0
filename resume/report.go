package resume

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/pawlgo/pawl/guard"
	"github.com/pawlgo/pawl/machine"
	"github.com/pawlgo/pawl/store"
)

// Change is a fact that has another value than before.
type Change struct {
	Key    guard.Key
	Was    any // nil when nothing was known
	Is     any
	Hidden bool // must not be shown to a model; String leaves both values out
}

func changes(m *machine.Machine[any], before, after guard.Facts) []Change {
	var out []Change
	for _, e := range after.All() {
		old, had := before.Entry(e.Key)
		if !had || old.At.Equal(e.At) && old.Disputed == e.Disputed {
			continue
		}
		if a, b := fmt.Sprint(old.Value), fmt.Sprint(e.Value); a != b {
			out = append(out, Change{e.Key, old.Value, e.Value, m.FactNamed(e.Key.Fact).Hidden})
		}
	}
	return out
}

// Report says where a task stands, without any transcript: the answers of essay.md, 12 to 20 and 60 to 63.
type Report struct {
	Task        string
	Machine     string
	State       machine.State
	Version     uint64
	Owner       string
	Since       time.Time // when the present stay began
	UpdatedBy   string
	Waiting     *machine.Waiting
	Overdue     bool // the wait has run out, and its timer has not fired yet
	Facts       []ReportedFact
	NotHappened []string // effects that the machine knows, and that the task never intended, withdrew, or that have failed
	Effects     []ReportedEffect
	Offers      []machine.OpenOffer
	Changed     []Change // what resuming observed to be different
	Permits     []machine.Permit
	Final       bool
}

// ReportedFact is a fact and whether it can still be relied on.
type ReportedFact struct {
	Key    guard.Key
	Value  any
	Hidden bool // must not be shown to a model; String leaves its value out
	Status guard.Status
	Source string
	Ref    string
	At     time.Time
}

// ReportedEffect is an effect and how far it has come: intent, sent, unknown, confirmed or failed.
type ReportedEffect struct {
	Effect string
	Key    string
	Status string
	Last   string // why it is not settled yet
}

// Report moves the session to the newest version and says where the task stands there. Errors wrap [ErrNoTask], or are the
// store's; one wraps [store.ErrCorrupt] when the task has an effect under way that the store does not hold.
func (s *Session) Report(ctx context.Context) (Report, error) {
	if err := s.reload(ctx); err != nil {
		return Report{}, err
	}
	now, err := s.c.now(ctx)
	if err != nil {
		return Report{}, fmt.Errorf("task %s: %w", s.Task(), err)
	}
	believed := s.at.m.Copy(s.believed())
	h := believed.Head
	r := Report{Task: h.Task, Machine: h.Machine, State: h.State, Version: h.Version, Owner: h.Owner, Since: h.Entered,
		UpdatedBy: h.UpdatedBy, Waiting: h.Waiting, Changed: s.changed, Final: s.at.m.IsFinal(h.State)}
	for _, o := range s.Offers() {
		if now.Before(o.Expires) {
			r.Offers = append(r.Offers, o)
		}
	}
	r.Overdue = h.Waiting != nil && !now.Before(h.Waiting.Until)
	for _, e := range believed.Facts.All() {
		r.Facts = append(r.Facts, reported(s.at.m.FactNamed(e.Key.Fact), e, now))
	}
	for _, k := range s.unknown(believed) {
		r.Facts = append(r.Facts, ReportedFact{Key: k, Source: s.at.m.FactNamed(k.Fact).Source})
	}
	if r.Effects, err = s.effects(ctx); err != nil {
		return Report{}, err
	}
	for _, name := range s.at.m.Effects() {
		// One that is under way may have happened: unknown is not the same as no (law 8).
		if !slices.ContainsFunc(r.Effects, func(e ReportedEffect) bool {
			return e.Effect == name && e.Status != string(machine.Failed) && e.Status != string(machine.Withdrawn)
		}) {
			r.NotHappened = append(r.NotHappened, name)
		}
	}
	r.Permits, err = s.permits(ctx)
	return r, err
}

// unknown are the facts about this task that nothing is known of: not observed yet is not the same as false (law 4). A reply
// that an open offer waits for is one of them.
func (s *Session) unknown(snap machine.Snapshot[any]) []guard.Key {
	scene := s.at.m.Look(snap, s.who, time.Time{})
	var out []guard.Key
	for _, f := range s.at.m.Describe().Facts {
		ids := scene.Subjects(f.About)
		if f.About == guard.OfferKind {
			for _, o := range snap.Offers {
				ids = append(ids, o.ID)
			}
		}
		for _, id := range ids {
			k := guard.Key{Fact: f.Name, Subject: id}
			if _, known := snap.Facts.Entry(k); !known {
				out = append(out, k)
			}
		}
	}
	return out
}

func reported(info *guard.FactInfo, e guard.Entry, now time.Time) ReportedFact {
	f := ReportedFact{Key: e.Key, Value: e.Value, Hidden: info.Hidden, Status: guard.Verified, Source: e.Source, Ref: e.Ref, At: e.At}
	switch {
	case e.Disputed:
		f.Status = guard.Unknown
	case info.MaxAge > 0 && now.Sub(e.At) > info.MaxAge:
		f.Status = guard.Stale
	}
	return f
}

// effects lays what workers know over what the task has recorded.
func (s *Session) effects(ctx context.Context) ([]ReportedEffect, error) {
	var rows []store.Effect
	newest := false
	if slices.ContainsFunc(s.at.snap.Intents, machine.Intent.Unsettled) {
		r, effects, err := s.c.st.Load(ctx, s.Task())
		if err != nil {
			return nil, fmt.Errorf("task %s: %w", s.Task(), err)
		}
		rows, newest = effects, r.Tip == s.at.tip
	}
	var out []ReportedEffect
	for _, i := range s.at.snap.Intents {
		e := ReportedEffect{Effect: i.Effect, Key: i.Key, Status: string(i.Status)}
		at := slices.IndexFunc(rows, func(row store.Effect) bool { return row.ID == i.Key })
		switch {
		case at >= 0:
			p, err := decodeProgress(rows[at].Body)
			if err != nil {
				return nil, fmt.Errorf("task %s, effect %s: %w: %w", s.Task(), i.Key, store.ErrCorrupt, err)
			}
			e.Status, e.Last = rows[at].Status.String(), p.Last
		case newest && i.Unsettled():
			return nil, fmt.Errorf("task %s, effect %s has no outcome, and the store does not hold it: %w", s.Task(), i.Key, store.ErrCorrupt)
		}
		out = append(out, e)
	}
	return out, nil
}
