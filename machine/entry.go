package machine

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/pawlgo/pawl/guard"
	"github.com/pawlgo/pawl/internal/canon"
)

// Entry is one line of a task's history: what was proposed, by whom, on which ground, and what came of it. Stored history is
// applied, never judged again (law 15), so an entry records where the task went.
type Entry struct {
	Version     uint64          `json:"state_version"`
	BasedOn     uint64          `json:"based_on_version"`
	At          int64           `json:"at"` // microseconds since 1970 UTC
	Event       string          `json:"event,omitempty"`
	Edge        string          `json:"edge,omitempty"`
	From        State           `json:"from,omitempty"`
	To          State           `json:"to"`
	Payload     json.RawMessage `json:"payload,omitempty" canon:"verbatim"`
	Actor       guard.Actor     `json:"actor"`
	Override    bool            `json:"override,omitempty"` // an operator's, with its reason in the payload
	ByHand      *ByHand         `json:"by_hand,omitempty"`  // an operator's word on the end of an effect
	Principal   string          `json:"principal,omitempty"`
	Key         string          `json:"key,omitempty"`
	Fingerprint string          `json:"fingerprint,omitempty"`
	View        string          `json:"view,omitempty"`    // digest of what the proposer was shown
	Written     string          `json:"written,omitempty"` // revision of model and prompt
	Machine     string          `json:"machine"`
	Definition  int             `json:"definition"`
	Digest      string          `json:"digest"`
	Evidence    []Exhibit       `json:"evidence,omitempty"`
	Ground      []Ground        `json:"ground,omitempty"`
	Guards      []string        `json:"guards,omitempty"` // all of them allowed it
	Voided      []Voided        `json:"voided,omitempty"`
	Broken      []string        `json:"broken,omitempty"`  // invariants that evidence of what has happened broke
	Blocked     []Finding       `json:"blocked,omitempty"` // why an edge that evidence or a deadline drives was not taken
	Returned    json.RawMessage `json:"returned,omitempty" canon:"verbatim"`
	Migrated    *Migrated       `json:"migrated,omitempty"` // what a migration left behind

	window  Window
	seen    []string
	replies []UsedReply
}

// Exhibit is evidence that came in with a commit.
type Exhibit struct {
	Fact    string          `json:"fact"`
	Subject string          `json:"subject"`
	Value   json.RawMessage `json:"value" canon:"verbatim"`
	Source  string          `json:"authority"`
	Ref     string          `json:"ref,omitempty"`
	At      int64           `json:"at"`
	Seen    int64           `json:"seen"`
	BasedOn uint64          `json:"based_on_version"` // the version that it was asked for at
	Merged  guard.Merged    `json:"merged"`
}

// Ground is a fact that the verdicts stood on.
type Ground struct {
	Fact    string `json:"fact"`
	Subject string `json:"subject"`
	At      int64  `json:"at"`
	Seen    int64  `json:"seen"`
}

// Window is when a commit is still good: the store judges it inside the write (law 5). A zero Until is for ever.
type Window struct {
	From, Until time.Time
}

// Window is when the commit is still good; not stored.
func (e *Entry) Window() Window { return e.window }

// Seen names the observations of the commit that their sources gave ids, each once: one that comes in twice counts once.
// Not stored with the entry.
func (e *Entry) Seen() []string { return e.seen }

// Replies are the messages that the commit counts as a yes: each is used up by it in the whole store. Not stored with the entry.
func (e *Entry) Replies() []UsedReply { return e.replies }

// SeenName is the name under which a source's own id of an observation is used up in the task, for its fact and subject: one event may
// tell of several, in deliveries of their own (case B118). It is "" when it has none, for receipts, which count once by their effect's
// key, and may have to come twice to settle it, and for what is used up as a [guard.Evidence.Message].
func SeenName(ev guard.Evidence) string {
	if ev.ID() == "" || ev.Fact().About == EffectKind || ev.Message() != "" {
		return ""
	}
	e := ev.Entry()
	return "seen/" + canon.DigestBytes([]byte(e.Source+"\x00"+ev.ID()+"\x00"+e.Key.Fact+"\x00"+e.Key.Subject))
}

func (a *attempt) seen() (names []string) {
	for _, ev := range a.evidence {
		if n := SeenName(ev); n != "" && !slices.Contains(names, n) {
			names = append(names, n)
		}
	}
	return names
}

// EntryStart is the event of the first entry of a task.
const EntryStart = "start"

func (a *attempt) entry(next Snapshot[any], j *judged, voided []Voided, out Outcome) *Entry {
	e := &Entry{
		Version: next.Version, BasedOn: a.s.Version, At: a.in.Now.UnixMicro(), Event: out.Event, Edge: out.Edge,
		From: a.s.State, To: next.State, Actor: guard.Observer, Principal: a.in.Principal.ID,
		Machine: next.Machine, Definition: next.Definition, Digest: next.Digest,
		Evidence: a.exhibits(), Voided: voided, Returned: out.Returned, seen: a.seen(),
	}
	if j == nil {
		return e
	}
	e.Actor, e.Key, e.View, e.Written = a.p.actor, a.p.key, a.p.shown, a.p.revision
	e.Guards, e.Override = j.edge.judges, j.edge.override
	if e.ByHand = a.p.byHand; e.ByHand != nil {
		e.Actor = guard.Operator
	}
	if a.payload == nil {
		a.payload, _ = canon.Append(nil, j.payload)
	}
	e.Payload, e.Fingerprint = a.payload, fingerprint(a.scratch, a.p, a.in.Principal, a.payload)
	used := j.scene.Used()
	e.Ground = make([]Ground, len(used))
	for i, u := range used {
		e.Ground[i] = Ground{u.Key.Fact, u.Key.Subject, u.At.UnixMicro(), u.Seen.UnixMicro()}
	}
	e.window = a.window(j, used)
	return e
}

// window is bounded by the evidence that runs out first, and by the offer that is used.
func (a *attempt) window(j *judged, used []*guard.Entry) Window {
	var w Window
	earliest := func(t time.Time) {
		if w.Until.IsZero() || t.Before(w.Until) {
			w.Until = t
		}
	}
	for _, u := range used {
		if age := a.c.facts[u.Key.Fact].MaxAge; age > 0 {
			earliest(u.At.Add(age + time.Microsecond))
		}
	}
	if o, ok := a.s.Offer(j.offer); ok {
		earliest(o.Expires)
	}
	return w
}

func (a *attempt) exhibits() []Exhibit {
	out := make([]Exhibit, 0, len(a.evidence))
	for i, ev := range a.evidence {
		e := ev.Entry()
		out = append(out, Exhibit{e.Key.Fact, e.Key.Subject, ev.Raw(), e.Source, e.Ref, e.At.UnixMicro(), e.Seen.UnixMicro(), e.BasedOn, a.merged[i]})
	}
	return out
}

// Append appends the entry as it is stored. One of more than [MaxEntry] bytes is an error that wraps [ErrTooLarge].
func (e *Entry) Append(dst []byte) ([]byte, error) {
	out, err := canon.AppendDeep(dst, e, around)
	if err == nil && len(out)-len(dst) > MaxEntry {
		err = fmt.Errorf("%w: entry of %d bytes, at most %d", ErrTooLarge, len(out)-len(dst), MaxEntry)
	}
	if err != nil {
		return dst, fmt.Errorf("history entry of version %d: %w", e.Version, err)
	}
	return out, nil
}

// DecodeEntry reads a stored entry; errors wrap [ErrStored].
func DecodeEntry(raw []byte) (Entry, error) {
	var e Entry
	if err := canon.Decode(raw, &e, canon.Limits{Size: MaxEntry, Depth: canon.DefaultDepth + around}); err != nil {
		return Entry{}, fmt.Errorf("%w: history entry: %w", ErrStored, err)
	}
	return e, nil
}
