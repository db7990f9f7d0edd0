package machine

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/pawlgo/pawl/guard"
	"github.com/pawlgo/pawl/internal/canon"
)

// ErrStored is wrapped by errors about stored bytes that do not fit the definition.
var ErrStored = errors.New("stored task does not fit the definition")

// ErrTooLarge is wrapped by errors about a snapshot or an entry that is past its limit: [MaxSnapshot], [MaxEntry].
var ErrTooLarge = errors.New("too large to be stored")

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
	Parent     string         `json:"parent,omitempty"`
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
	ID         string         `json:"id"`
	Event      string         `json:"event"`
	Payload    any            `json:"payload"`
	Digest     string         `json:"digest"`
	Question   string         `json:"question"`
	To         Party          `json:"to"`
	Opened     uint64         `json:"opened"`
	OpenedAt   int64          `json:"opened_at"`
	Expires    int64          `json:"expires"`
	Effects    []Draft        `json:"effects,omitempty"`
	Stands     []Stand        `json:"stands,omitempty"`
	Need       int            `json:"need,omitempty"`
	Of         int            `json:"of,omitempty"`
	Barred     []string       `json:"barred,omitempty"`
	Structured bool           `json:"structured,omitempty"`
	Answers    []storedAnswer `json:"answers,omitempty"`
}

// storedAnswer is an answer as it is stored.
type storedAnswer struct {
	By     string `json:"by"`
	Says   Said   `json:"says"`
	Choice bool   `json:"choice,omitempty"`
	At     int64  `json:"at"`
}

type storedIntent struct {
	Effect    string       `json:"effect"`
	Key       string       `json:"key"`
	Operation uint64       `json:"operation"`
	Args      any          `json:"args"`
	Status    IntentStatus `json:"status"`
	Since     uint64       `json:"since"`
	Settled   uint64       `json:"settled,omitempty"`
	At        int64        `json:"at"`
	Holds     []Hold       `json:"holds,omitempty"`
}

type storedTimer struct {
	Event string `json:"event"`
	Due   int64  `json:"due"`
	First int64  `json:"first,omitempty"`
}

// around is how much deeper than a value of its own a value stands in a stored snapshot or entry.
const around = 3

// Encode appends the snapshot as it is stored: canonical JSON, equal bytes for equal snapshots. One of more than
// [MaxSnapshot] bytes is an error that wraps [ErrTooLarge].
func (m *Machine[D]) Encode(dst []byte, s Snapshot[D]) ([]byte, error) {
	w := encodings.Get().(*storedSnapshot)
	defer w.free()
	*w = storedSnapshot{Facts: w.Facts, Offers: w.Offers, Intents: w.Intents, Timers: w.Timers,
		Task: s.Task, Machine: s.Machine, Definition: s.Definition, Digest: s.Digest, Version: s.Version, State: s.State,
		Entered: s.Entered.UnixMicro(), Owner: s.Owner, Parent: s.Parent, Created: s.Created.UnixMicro(), Operations: s.Operations,
		UpdatedAt: s.UpdatedAt.UnixMicro(), UpdatedBy: s.UpdatedBy, BasedOn: s.BasedOn, Data: s.Data,
	}
	if s.Waiting != nil {
		w.Waiting = &storedWaiting{s.Waiting.For, s.Waiting.Since.UnixMicro(), s.Waiting.Until.UnixMicro()}
	}
	for _, e := range s.Facts.All() {
		w.Facts = append(w.Facts, storedFact{e.Key.Fact, e.Key.Subject, e.Value, e.Source, e.Ref, e.At.UnixMicro(),
			e.Seen.UnixMicro(), e.Seq, e.BasedOn, e.Disputed})
	}
	for _, o := range s.Offers {
		w.Offers = append(w.Offers, storedOffer{o.ID, o.Event, o.Payload, o.Digest, o.Question, o.To, o.Opened,
			o.OpenedAt.UnixMicro(), o.Expires.UnixMicro(), o.Effects, o.Stands, o.Need, o.Of, o.Barred, o.Structured, storedAnswers(o.Answers)})
	}
	for _, i := range s.Intents {
		w.Intents = append(w.Intents, storedIntent{i.Effect, i.Key, i.Operation, i.Args, i.Status, i.Since, i.Settled, i.At.UnixMicro(), i.Holds})
	}
	for _, t := range s.Timers {
		stored := storedTimer{Event: t.Event, Due: t.Due.UnixMicro()}
		if !t.First.IsZero() {
			stored.First = t.First.UnixMicro()
		}
		w.Timers = append(w.Timers, stored)
	}
	out, err := canon.AppendDeep(dst, w, around)
	if err == nil && len(out)-len(dst) > MaxSnapshot {
		err = fmt.Errorf("%w: snapshot of %d bytes, at most %d", ErrTooLarge, len(out)-len(dst), MaxSnapshot)
	}
	if err != nil {
		return dst, fmt.Errorf("task %s, version %d: %w", s.Task, s.Version, err)
	}
	return out, nil
}

var encodings = sync.Pool{New: func() any { return new(storedSnapshot) }}

// free lets go of all that the snapshot holds but for the room of its lists.
func (w *storedSnapshot) free() {
	clear(w.Facts)
	clear(w.Offers)
	clear(w.Intents)
	clear(w.Timers)
	*w = storedSnapshot{Facts: w.Facts[:0], Offers: w.Offers[:0], Intents: w.Intents[:0], Timers: w.Timers[:0]}
	encodings.Put(w)
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

// head is what needs no definition to be read, but for the intents.
func (w *storedSnapshot) head() Head {
	return Head{
		Task: w.Task, Machine: w.Machine, Definition: w.Definition, Digest: w.Digest, Version: w.Version, State: w.State,
		Entered: instant(w.Entered), Owner: w.Owner, Parent: w.Parent, Created: instant(w.Created), Operations: w.Operations,
		UpdatedAt: instant(w.UpdatedAt), UpdatedBy: w.UpdatedBy, BasedOn: w.BasedOn,
	}
}

func (i storedIntent) intent(args any) Intent {
	return Intent{i.Effect, i.Key, i.Operation, args, i.Status, i.Since, i.Settled, instant(i.At), i.Holds}
}

// Decode reads a stored snapshot. Errors wrap [ErrStored]: another machine, version or digest of the definition, a state or
// name that the definition does not know, or bytes that are not a snapshot.
func (m *Machine[D]) Decode(raw []byte) (Snapshot[D], error) {
	s, err := m.c.decodeSnapshot(raw)
	if err != nil {
		return Snapshot[D]{}, err
	}
	d, ok := s.Data.(D)
	if !ok {
		return Snapshot[D]{}, fmt.Errorf("task %s, version %d: data is %T: %w", s.Task, s.Version, s.Data, ErrStored)
	}
	return Snapshot[D]{s.Head, d}, nil
}

func (c *core) decodeSnapshot(raw []byte) (Snapshot[any], error) {
	var r readSnapshot
	if err := canon.Decode(raw, &r, canon.Limits{Size: MaxSnapshot, Depth: canon.DefaultDepth + around}); err != nil {
		// The shape may be another definition's: say so, if so much can be read.
		var head struct {
			Task       string `json:"task_id"`
			Machine    string `json:"machine"`
			Definition int    `json:"definition"`
			Digest     string `json:"digest"`
		}
		if json.Unmarshal(raw, &head) == nil && head.Machine != "" {
			r.Task, r.Machine, r.Definition, r.Digest = head.Task, head.Machine, head.Definition, head.Digest
			if other := c.otherDefinition(r); other != nil {
				return Snapshot[any]{}, other
			}
		}
		return Snapshot[any]{}, fmt.Errorf("%w: %w", ErrStored, err)
	}
	if err := c.otherDefinition(r); err != nil {
		return Snapshot[any]{}, err
	}
	s, err := c.read(r)
	if err != nil {
		return Snapshot[any]{}, fmt.Errorf("task %s, version %d: %w: %w", r.Task, r.Version, ErrStored, err)
	}
	return s, nil
}

func (c *core) otherDefinition(r readSnapshot) error {
	if r.Machine == c.name && r.Definition == c.version && r.Digest == c.digest {
		return nil
	}
	return &OtherDefinitionError{r.Task, Stamp{r.Machine, r.Definition, r.Digest}, c.stamp()}
}

func (c *core) read(r readSnapshot) (Snapshot[any], error) {
	s := Snapshot[any]{Head: r.head()}
	switch {
	case CheckTaskID(r.Task) != nil || r.Version == 0:
		return s, fmt.Errorf("task id %.160q at version %d", r.Task, r.Version)
	case !c.engine.Knows(string(r.State)):
		return s, fmt.Errorf("the machine declares no state %q", r.State)
	}
	if w := r.Waiting; w != nil {
		s.Waiting = &Waiting{w.For, instant(w.Since), instant(w.Until)}
	}
	for _, t := range r.Timers {
		if c.events[t.Event] == nil {
			return s, fmt.Errorf("a timer has the undeclared event %q", t.Event)
		}
		armed := ArmedTimer{Event: t.Event, Due: instant(t.Due)}
		if t.First != 0 {
			armed.First = instant(t.First)
		}
		s.Timers = append(s.Timers, armed)
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
	for i, f := range facts {
		info := c.facts[f.Fact]
		switch {
		case info == nil:
			return fmt.Errorf("it holds the undeclared fact %q", f.Fact)
		case i > 0 && (f.Fact < facts[i-1].Fact || f.Fact == facts[i-1].Fact && f.Subject <= facts[i-1].Subject):
			return fmt.Errorf("fact %s(%s) is out of order", f.Fact, f.Subject)
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
	s.Facts = guard.FactsOf(entries).Bound(c.bound(s.Task, s.Data))
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
			instant(o.Expires), o.Effects, o.Stands, o.Need, o.Of, o.Barred, o.Structured, readAnswers(o.Answers)})
	}
	return nil
}

func storedAnswers(answers []Answer) []storedAnswer {
	var out []storedAnswer
	for _, a := range answers {
		out = append(out, storedAnswer{a.By, a.Says, a.Choice, a.At.UnixMicro()})
	}
	return out
}

func readAnswers(stored []storedAnswer) []Answer {
	var out []Answer
	for _, a := range stored {
		out = append(out, Answer{a.By, a.Says, a.Choice, instant(a.At)})
	}
	return out
}

func (c *core) readIntents(s *Snapshot[any], intents []readIntent) error {
	for _, i := range intents {
		info := c.effects[i.Effect]
		switch {
		case info == nil:
			return fmt.Errorf("it intends the undeclared effect %q", i.Effect)
		case !slices.Contains([]IntentStatus{Intended, Confirmed, Failed, Withdrawn}, i.Status):
			return fmt.Errorf("effect %s has the unknown status %q", i.Key, i.Status)
		}
		args, err := info.decodeStored(i.Args)
		if err != nil {
			return fmt.Errorf("effect %s: %w", i.Key, err)
		}
		s.Intents = append(s.Intents, i.intent(args))
	}
	return nil
}

func instant(micros int64) time.Time { return time.UnixMicro(micros).UTC() }
