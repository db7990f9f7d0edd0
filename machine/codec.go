package machine

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/pawlgo/pawl/guard"
	"github.com/pawlgo/pawl/internal/canon"
)

// ErrStored is wrapped by errors about stored bytes that do not fit the definition.
var ErrStored = errors.New("stored task does not fit the definition")

// storedSnapshot is a snapshot as it is stored: instants in microseconds, values as their own JSON.
type storedSnapshot struct {
	Task       string         `json:"task_id"`
	Machine    string         `json:"machine"`
	Definition int            `json:"definition"`
	Digest     string         `json:"digest"`
	Version    uint64         `json:"state_version"`
	State      State          `json:"status"`
	Entered    int64          `json:"entered"`
	Owner      string         `json:"owner"`
	Created    int64          `json:"created"`
	Facts      []storedFact   `json:"facts,omitempty"`
	Waiting    *storedWaiting `json:"waiting,omitempty"`
	Offers     []storedOffer  `json:"offers,omitempty"`
	Intents    []storedIntent `json:"effects,omitempty"`
	Operations []Operation    `json:"operations,omitempty"`
	Timers     []storedTimer  `json:"timers,omitempty"`
	UpdatedAt  int64          `json:"updated_at"`
	UpdatedBy  string         `json:"updated_by"`
	BasedOn    uint64         `json:"based_on_version"`
	Data       any            `json:"data"`
}

type storedFact struct {
	Fact     string `json:"fact"`
	Subject  string `json:"subject"`
	Value    any    `json:"value"`
	Source   string `json:"authority"`
	Ref      string `json:"ref,omitempty"`
	At       int64  `json:"at"`
	Seen     int64  `json:"seen"`
	Seq      uint64 `json:"seq,omitempty"`
	BasedOn  uint64 `json:"based_on_version"`
	Disputed bool   `json:"disputed,omitempty"`
}

type storedWaiting struct {
	For   Party `json:"for"`
	Since int64 `json:"since"`
	Until int64 `json:"until"`
}

type storedOffer struct {
	ID       string  `json:"id"`
	Event    string  `json:"event"`
	Payload  any     `json:"payload"`
	Digest   string  `json:"digest"`
	Question string  `json:"question"`
	To       Party   `json:"to"`
	Opened   uint64  `json:"opened"`
	OpenedAt int64   `json:"opened_at"`
	Expires  int64   `json:"expires"`
	Effects  []Draft `json:"effects,omitempty"`
	Stands   []Stand `json:"stands,omitempty"`
}

type storedIntent struct {
	Effect    string       `json:"effect"`
	Key       string       `json:"key"`
	Operation uint64       `json:"operation"`
	Args      any          `json:"args"`
	Status    IntentStatus `json:"status"`
	Since     uint64       `json:"since"`
	At        int64        `json:"at"`
}

type storedTimer struct {
	Event string `json:"event"`
	Due   int64  `json:"due"`
}

// Encode appends the snapshot as it is stored: canonical JSON, equal bytes for equal snapshots.
func (m *Machine[D]) Encode(dst []byte, s Snapshot[D]) ([]byte, error) {
	w := storedSnapshot{
		Task: s.Task, Machine: s.Machine, Definition: s.Definition, Digest: s.Digest, Version: s.Version, State: s.State,
		Entered: s.Entered.UnixMicro(), Owner: s.Owner, Created: s.Created.UnixMicro(), Operations: s.Operations,
		UpdatedAt: s.UpdatedAt.UnixMicro(), UpdatedBy: s.UpdatedBy, BasedOn: s.BasedOn, Data: s.Data,
	}
	if s.Waiting != nil {
		w.Waiting = &storedWaiting{s.Waiting.For, s.Waiting.Since.UnixMicro(), s.Waiting.Until.UnixMicro()}
	}
	w.Facts = make([]storedFact, 0, s.Facts.Len())
	for _, e := range s.Facts.All() {
		w.Facts = append(w.Facts, storedFact{e.Key.Fact, e.Key.Subject, e.Value, e.Source, e.Ref, e.At.UnixMicro(),
			e.Seen.UnixMicro(), e.Seq, e.BasedOn, e.Disputed})
	}
	for _, o := range s.Offers {
		w.Offers = append(w.Offers, storedOffer{o.ID, o.Event, o.Payload, o.Digest, o.Question, o.To, o.Opened,
			o.OpenedAt.UnixMicro(), o.Expires.UnixMicro(), o.Effects, o.Stands})
	}
	for _, i := range s.Intents {
		w.Intents = append(w.Intents, storedIntent{i.Effect, i.Key, i.Operation, i.Args, i.Status, i.Since, i.At.UnixMicro()})
	}
	for _, t := range s.Timers {
		w.Timers = append(w.Timers, storedTimer{t.Event, t.Due.UnixMicro()})
	}
	out, err := canon.Append(dst, &w)
	if err != nil {
		return dst, fmt.Errorf("task %s, version %d: %w", s.Task, s.Version, err)
	}
	return out, nil
}

// readSnapshot is storedSnapshot on the way back: values whose type only the definition knows stay bytes.
type readSnapshot struct {
	storedSnapshot
	Facts   []readFact      `json:"facts,omitempty"`
	Offers  []readOffer     `json:"offers,omitempty"`
	Intents []readIntent    `json:"effects,omitempty"`
	Data    json.RawMessage `json:"data"`
}

type readFact struct {
	storedFact
	Value json.RawMessage `json:"value"`
}

type readOffer struct {
	storedOffer
	Payload json.RawMessage `json:"payload"`
}

type readIntent struct {
	storedIntent
	Args json.RawMessage `json:"args"`
}

// Decode reads a stored snapshot. Errors wrap [ErrStored]: another machine, version or digest of the definition, a state or
// name that the definition does not know, or bytes that are not a snapshot.
func (m *Machine[D]) Decode(raw []byte) (Snapshot[D], error) {
	var none Snapshot[D]
	var r readSnapshot
	if err := json.Unmarshal(raw, &r); err != nil {
		return none, fmt.Errorf("%w: %w", ErrStored, err)
	}
	c := m.c
	switch {
	case r.Machine != c.name || r.Definition != c.version || r.Digest != c.digest:
		return none, fmt.Errorf("task %s is of machine %s, version %d, digest %s; the definition is %s, %d, %s: %w",
			r.Task, r.Machine, r.Definition, r.Digest, c.name, c.version, c.digest, ErrStored)
	case !c.engine.Knows(string(r.State)):
		return none, fmt.Errorf("task %s is in state %q, which machine %s does not declare: %w", r.Task, r.State, c.name, ErrStored)
	}
	s, err := c.read(r)
	if err != nil {
		return none, fmt.Errorf("task %s, version %d: %w: %w", r.Task, r.Version, ErrStored, err)
	}
	d, ok := s.Data.(D)
	if !ok {
		return none, fmt.Errorf("task %s, version %d: data is %T: %w", r.Task, r.Version, s.Data, ErrStored)
	}
	return Snapshot[D]{s.Head, d}, nil
}

func (c *core) read(r readSnapshot) (Snapshot[any], error) {
	s := Snapshot[any]{Head: Head{
		Task: r.Task, Machine: r.Machine, Definition: r.Definition, Digest: r.Digest, Version: r.Version, State: r.State,
		Entered: instant(r.Entered), Owner: r.Owner, Created: instant(r.Created), Operations: r.Operations,
		UpdatedAt: instant(r.UpdatedAt), UpdatedBy: r.UpdatedBy, BasedOn: r.BasedOn,
	}}
	if w := r.Waiting; w != nil {
		s.Waiting = &Waiting{w.For, instant(w.Since), instant(w.Until)}
	}
	for _, t := range r.Timers {
		if c.events[t.Event] == nil {
			return s, fmt.Errorf("a timer has the undeclared event %q", t.Event)
		}
		s.Timers = append(s.Timers, ArmedTimer{t.Event, instant(t.Due)})
	}
	var err error
	if s.Data, err = c.decode(r.Data); err != nil {
		return s, fmt.Errorf("data: %w", err)
	}
	if err = c.readFacts(&s, r.Facts); err != nil {
		return s, err
	}
	if err = c.readOffers(&s, r.Offers); err != nil {
		return s, err
	}
	return s, c.readIntents(&s, r.Intents)
}

func (c *core) readFacts(s *Snapshot[any], facts []readFact) error {
	entries := make([]guard.Entry, 0, len(facts))
	for _, f := range facts {
		info := c.facts[f.Fact]
		if info == nil {
			return fmt.Errorf("it holds the undeclared fact %q", f.Fact)
		}
		e := guard.Entry{Key: guard.Key{Fact: f.Fact, Subject: f.Subject}, Source: f.Source, Ref: f.Ref, At: instant(f.At),
			Seen: instant(f.Seen), Seq: f.Seq, BasedOn: f.BasedOn, Disputed: f.Disputed}
		if !f.Disputed {
			v, err := info.DecodeStored(f.Value)
			if err != nil {
				return fmt.Errorf("fact %s: %w", f.Fact, err)
			}
			e.Value = v
		}
		entries = append(entries, e)
	}
	s.Facts = guard.FactsOf(entries).Bound(c.subjects.of(s.Data))
	return nil
}

func (c *core) readOffers(s *Snapshot[any], offers []readOffer) error {
	for _, o := range offers {
		info := c.events[o.Event]
		if info == nil {
			return fmt.Errorf("it offers the undeclared event %q", o.Event)
		}
		payload, err := info.decodeStored(o.Payload)
		if err != nil {
			return fmt.Errorf("offer %s: %w", o.ID, err)
		}
		s.Offers = append(s.Offers, OpenOffer{o.ID, o.Event, payload, o.Digest, o.Question, o.To, o.Opened, instant(o.OpenedAt),
			instant(o.Expires), o.Effects, o.Stands})
	}
	return nil
}

func (c *core) readIntents(s *Snapshot[any], intents []readIntent) error {
	for _, i := range intents {
		info := c.effects[i.Effect]
		if info == nil {
			return fmt.Errorf("it intends the undeclared effect %q", i.Effect)
		}
		args, err := info.decodeStored(i.Args)
		if err != nil {
			return fmt.Errorf("effect %s: %w", i.Key, err)
		}
		s.Intents = append(s.Intents, Intent{i.Effect, i.Key, i.Operation, args, i.Status, i.Since, instant(i.At)})
	}
	return nil
}

func instant(micros int64) time.Time { return time.UnixMicro(micros).UTC() }
