package guard

import (
	"errors"
	"fmt"
	"reflect"
	"time"
)

// FutureTolerance is how far a source's clock may run ahead of ours.
const FutureTolerance = time.Minute

// ErrEvidence is wrapped by every error of [Verify]: the observation is no evidence.
var ErrEvidence = errors.New("not evidence")

// EvidenceError says why an observation is no evidence. Code is stable: unknown_fact, untrusted_authority,
// wrong_authority, no_subject, wrong_type, from_the_future, too_long.
type EvidenceError struct {
	Key  Key
	Code string
	Text string
}

// Error names the fact and the reason.
func (e *EvidenceError) Error() string {
	return fmt.Sprintf("observation of %s: %s: %s", e.Key, e.Code, e.Text)
}

// Is reports [ErrEvidence].
func (e *EvidenceError) Is(target error) bool { return target == ErrEvidence }

// Observed is a value as an observer or an adapter reports it. Subject is what was really looked at, copied
// from the answer, not from the question; an empty one is refused. A zero At means "when it came in".
type Observed[T any] struct {
	Value   T
	Subject string
	Ref     string // where the source keeps it; for audit only
	At      time.Time
	Seq     uint64 // for facts ordered BySequence
}

// Observation is a claim about a fact, made with an authority's handle. It has no exported fields and no
// decoder: JSON is never evidence. The zero Observation is refused.
type Observation struct {
	info  *FactInfo
	by    *Authority
	entry Entry
	id    string
}

// Observe makes an observation with the authority's handle.
func (f Fact[T]) Observe(by *Authority, o Observed[T]) Observation {
	if o.Subject == "" {
		o.Subject = f.subject
	}
	return Observation{info: f.info, by: by, entry: Entry{
		Key: Key{f.info.Name, o.Subject}, Value: o.Value, Source: f.info.Source, Ref: o.Ref, At: o.At, Seq: o.Seq,
	}}
}

// Observe makes an observation from raw JSON with the authority's handle: for bodies whose signature was
// checked, and for tables. The value is decoded strictly to the fact's type; errors wrap [ErrForm].
func (i *FactInfo) Observe(by *Authority, raw []byte, subject, ref string, at time.Time) (Observation, error) {
	v, err := i.Decode(raw)
	if err != nil {
		return Observation{}, fmt.Errorf("fact %s: %w", i.Name, err)
	}
	return Observation{info: i, by: by, entry: Entry{
		Key: Key{i.Name, subject}, Value: v, Source: i.Source, Ref: ref, At: at,
	}}, nil
}

// Identified names the observation by its source's own id: one that comes in twice counts once.
func (o Observation) Identified(id string) Observation { o.id = id; return o }

// ID is what Identified set.
func (o Observation) ID() string { return o.id }

// Key is what the observation is about.
func (o Observation) Key() Key { return o.entry.Key }

// Query is what an observer is asked.
type Query struct {
	Fact, Subject, Task string
	Principal           Principal
	BasedOn             uint64 // the version of the task that asks
	Now                 time.Time
}

// Evidence is an observation that passed [Verify].
type Evidence struct {
	info   *FactInfo
	entry  Entry
	pulled bool
}

// Entry is the verified value.
func (e Evidence) Entry() Entry { return e.entry }

// Pulled marks evidence as the answer to a question that was asked just now.
func (e Evidence) Pulled() Evidence { e.pulled = true; return e }

// WasPulled tells whether the evidence is the answer to a question.
func (e Evidence) WasPulled() bool { return e.pulled }

// Fact is the declaration of the evidence's fact.
func (e Evidence) Fact() *FactInfo { return e.info }

// Acceptance is what evidence is verified against.
type Acceptance struct {
	Fact    func(name string) *FactInfo // the machine's declaration; nil when it has none
	Trusts  func(*Authority) bool
	Now     time.Time
	BasedOn uint64
}

// Verify accepts an observation that was made with a trusted handle of the fact's one authority, of the
// declared type, about something, and not from the future. Errors are [*EvidenceError].
func Verify(o Observation, a Acceptance) (Evidence, error) {
	refuse := func(code, text string) (Evidence, error) {
		return Evidence{}, &EvidenceError{o.entry.Key, code, text}
	}
	if o.info == nil {
		return refuse("unknown_fact", "the observation is empty")
	}
	info := a.Fact(o.info.Name)
	switch {
	case info == nil:
		return refuse("unknown_fact", "the machine knows no such fact")
	case o.by == nil || !a.Trusts(o.by):
		return refuse("untrusted_authority", fmt.Sprintf("its handle for %q is not one that the controller trusts", o.entry.Source))
	case o.by.name != info.Source:
		return refuse("wrong_authority", fmt.Sprintf("%q spoke, and the authority is %q", o.by.name, info.Source))
	case o.entry.Key.Subject == "":
		return refuse("no_subject", "it does not say what was looked at")
	case len(o.entry.Key.Subject) > MaxSubject || len(o.entry.Ref) > MaxRef:
		return refuse("too_long", fmt.Sprintf("a subject has at most %d bytes, a reference %d", MaxSubject, MaxRef))
	case reflect.TypeOf(o.entry.Value) != info.Type:
		return refuse("wrong_type", fmt.Sprintf("the value is %T, declared is %v", o.entry.Value, info.Type))
	case o.entry.At.After(a.Now.Add(FutureTolerance)):
		return refuse("from_the_future", fmt.Sprintf("dated %s, it is %s", stamp(o.entry.At), stamp(a.Now)))
	}
	e := o.entry
	if e.At.IsZero() {
		e.At = a.Now
	}
	e.At, e.Seen, e.BasedOn = micros(e.At), micros(a.Now), a.BasedOn
	return Evidence{info: info, entry: e}, nil
}

func stamp(t time.Time) string { return t.UTC().Format(time.RFC3339) }

// micros is the instant as it will be stored.
func micros(t time.Time) time.Time { return t.UTC().Truncate(time.Microsecond) }
