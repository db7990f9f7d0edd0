package guard

import (
	"errors"
	"fmt"
	"reflect"
	"time"
	"unicode/utf8"

	"github.com/pawlgo/pawl/internal/canon"
)

// FutureTolerance is how far a source's clock may run ahead of ours.
const FutureTolerance = time.Minute

// MaxValue is the largest value of an observation, in bytes of canonical JSON.
const MaxValue = 64 << 10

// ErrEvidence is wrapped by every error of [Verify]: the observation is no evidence.
var ErrEvidence = errors.New("not evidence")

// EvidenceError says why an observation is no evidence. Code is stable: unknown_fact, untrusted_authority,
// wrong_authority, no_subject, wrong_type, form, undated, from_the_future, too_long.
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

// Observe makes an observation with the authority's handle. One of the zero Fact is the zero Observation.
func (f Fact[T]) Observe(by *Authority, o Observed[T]) Observation {
	if f.info == nil {
		return Observation{}
	}
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

// Identified names the observation by its source's own id: one of a fact and a subject that comes in twice counts once.
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
	info    *FactInfo
	entry   Entry
	raw     []byte
	id      string
	consent Consent // of a reply
	message string  // the name of a message that says yes in words
	pulled  bool
}

// Raw is the value as canonical JSON. The caller must not change it.
func (e Evidence) Raw() []byte { return e.raw }

// ID is the source's own id of the observation, "" when it gave none.
func (e Evidence) ID() string { return e.id }

// Consent is what a reply says, see [Reply.Consent]; unclear for other evidence.
func (e Evidence) Consent() Consent { return e.consent }

// Entry is the verified value.
func (e Evidence) Entry() Entry { return e.entry }

// Pulled marks evidence as the answer to a question that was asked just now.
func (e Evidence) Pulled() Evidence { e.pulled = true; return e }

// AsOf is the evidence as it counts at a version of the task: an answer speaks with the authority of an answer only at the version
// that it was asked at. After another commit it is one observation among others (law 6).
func (e Evidence) AsOf(version uint64) Evidence {
	e.pulled = e.pulled && e.entry.BasedOn == version
	return e
}

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

// Verify accepts an observation that was made with a trusted handle of the fact's one authority, of the declared type
// and form, about something, and not from the future. The evidence holds the value as it will be stored, so nothing
// that the observer does with its own memory later changes a fact. Errors are [*EvidenceError].
func Verify(o Observation, a Acceptance) (Evidence, error) {
	if o.info == nil || a.Fact == nil {
		return Evidence{}, &EvidenceError{o.entry.Key, "unknown_fact", "the observation is empty"}
	}
	info := a.Fact(o.info.Name)
	if code, text := o.faults(info, a); code != "" {
		return Evidence{}, &EvidenceError{o.entry.Key, code, text}
	}
	e := o.entry
	raw, err := canon.Bytes(e.Value)
	if err == nil && len(raw) > MaxValue {
		return Evidence{}, &EvidenceError{e.Key, "too_long", fmt.Sprintf("a value of %d bytes, at most %d", len(raw), MaxValue)}
	}
	if err == nil {
		e.Value, err = info.own(e.Value, raw)
	}
	if err != nil {
		return Evidence{}, &EvidenceError{e.Key, "form", err.Error()}
	}
	if e.At.IsZero() {
		e.At = a.Now
	}
	e.At, e.Seen, e.BasedOn = micros(e.At), micros(a.Now), a.BasedOn
	out := Evidence{info: info, entry: e, raw: raw, id: o.id}
	if r, isReply := e.Value.(Reply); isReply {
		out.consent = r.Consent()
		out.message = out.messageName(r)
	}
	return out, nil
}

// faults is why the observation cannot be evidence of the declared fact, whatever its value.
func (o Observation) faults(info *FactInfo, a Acceptance) (code, text string) {
	k := o.entry.Key
	switch {
	case info == nil:
		return "unknown_fact", "the machine knows no such fact"
	case o.by == nil || a.Trusts == nil || !a.Trusts(o.by):
		return "untrusted_authority", fmt.Sprintf("its handle for %q is not one that the controller trusts", o.entry.Source)
	case o.by.name != info.Source:
		return "wrong_authority", fmt.Sprintf("%q spoke, and the authority is %q", o.by.name, info.Source)
	case k.Subject == "":
		return "no_subject", "it does not say what was looked at"
	case len(k.Subject) > MaxSubject || len(o.entry.Ref) > MaxRef:
		return "too_long", fmt.Sprintf("a subject has at most %d bytes, a reference %d", MaxSubject, MaxRef)
	case !utf8.ValidString(k.Subject) || !utf8.ValidString(o.entry.Ref):
		return "form", "subject and reference must be UTF-8"
	case o.info.About != info.About:
		return "wrong_type", fmt.Sprintf("it is about a kind %q, declared is %q", o.info.About, info.About)
	case reflect.TypeOf(o.entry.Value) != info.Type:
		return "wrong_type", fmt.Sprintf("the value is %T, declared is %v", o.entry.Value, info.Type)
	case info.Dated && o.entry.At.IsZero():
		return "undated", "it does not say as of when, and the fact must be dated"
	case o.entry.At.Before(time.Time{}):
		return "form", "dated before the year 1, which cannot be stored"
	case o.entry.At.After(a.Now.Add(FutureTolerance)):
		return "from_the_future", fmt.Sprintf("dated %s, it is %s", stamp(o.entry.At), stamp(a.Now))
	}
	return "", ""
}

func stamp(t time.Time) string { return t.UTC().Format(time.RFC3339) }

// micros is the instant as it will be stored.
func micros(t time.Time) time.Time { return t.UTC().Truncate(time.Microsecond) }
