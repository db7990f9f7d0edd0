package machine

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/pawlgo/pawl/guard"
	"github.com/pawlgo/pawl/internal/canon"
)

// Proposal is a wish to change a task: never a fact (law 2). The zero Proposal is refused. A value: the methods return
// changed copies.
type Proposal struct {
	event    *EventInfo
	payload  any
	actor    guard.Actor
	key      string
	basedOn  uint64
	shown    string
	checked  bool // the payload came through Decode
	revision string
	byHand   *ByHand
}

// As says who proposes. Only the actors that are outside the controller can be said; see [guard.Actor]. A proposal in
// another's name is nobody's, and is refused.
func (p Proposal) As(a guard.Actor) Proposal {
	if p.actor = a; !a.Outside() {
		p.actor = ""
	}
	return p
}

// AsController says which of the controller's own hands proposes. For runtimes and tables; nothing from outside may get here.
func (p Proposal) AsController(a guard.Actor) Proposal {
	if p.actor = a; a.Outside() {
		p.actor = ""
	}
	return p
}

// Keyed sets an idempotency key of at most [MaxKey] bytes, unique in the task: the same key with the same proposal gives the
// first outcome again, whatever version either was based on. Without it a proposal is recognised only by the version
// that it was based on.
func (p Proposal) Keyed(k string) Proposal { p.key = k; return p }

// BasedOn sets the version that the proposer had seen. Sessions and views set it.
func (p Proposal) BasedOn(v uint64) Proposal { p.basedOn = v; return p }

// Shown records the digest of the view that the proposer saw, at most [MaxShown] bytes.
func (p Proposal) Shown(digest string) Proposal { p.shown = digest; return p }

// Written records which model and prompt wrote the proposal, for the history: at most [MaxRevision] bytes.
func (p Proposal) Written(revision string) Proposal { p.revision = revision; return p }

// Event is the event's name, "" for the zero Proposal.
func (p Proposal) Event() string {
	if p.event == nil {
		return ""
	}
	return p.event.Name
}

// Payload is what the proposal carries.
func (p Proposal) Payload() any { return p.payload }

// Actor says what kind of party proposes.
func (p Proposal) Actor() guard.Actor { return p.actor }

// Subjects are the ids that the payload names, by kind.
func (p Proposal) Subjects() guard.Subjects {
	if p.event == nil {
		return nil
	}
	named, err := p.event.subjects.narrow(guard.Subjects{}, p.payload)
	if err != nil {
		return nil
	}
	return named
}

// Base is the version that the proposer had seen; 0 when nobody said.
func (p Proposal) Base() uint64 { return p.basedOn }

// Key is what Keyed set.
func (p Proposal) Key() string { return p.key }

// Revision is what Written recorded.
func (p Proposal) Revision() string { return p.revision }

// View is the digest that Shown recorded.
func (p Proposal) View() string { return p.shown }

// Narrows tells whether the event is judged on the newest version: it only narrows, or is the controller's own.
func (p Proposal) Narrows() bool {
	return p.event != nil && (p.event.Narrows || p.actor != "" && !p.actor.Outside())
}

// faults is what cannot be recorded about the proposal.
func (p Proposal) faults(who guard.Principal) string {
	for _, part := range []struct {
		what, text string
		most       int
	}{{"key", p.key, MaxKey}, {"digest of the view", p.shown, MaxShown}, {"revision", p.revision, MaxRevision}, {"principal", who.ID, MaxPrincipal}} {
		switch {
		case len(part.text) > part.most:
			return fmt.Sprintf("a %s of %d bytes, at most %d", part.what, len(part.text), part.most)
		case !utf8.ValidString(part.text) || strings.IndexByte(part.text, 0) >= 0:
			return "the " + part.what + " is not UTF-8 without zero bytes"
		}
	}
	return ""
}

// Fingerprint identifies the proposal, whoever resends it: event, payload, actor, principal and key, but not
// the view. Two of one fingerprint on one base version are the same proposal.
func (p Proposal) Fingerprint(who guard.Principal) (string, error) {
	b, err := canon.Append(nil, p.payload)
	if err != nil {
		return "", err
	}
	return fingerprint(nil, p, who, b), nil
}

// fingerprint writes into scratch what it is made of.
func fingerprint(scratch []byte, p Proposal, who guard.Principal, payload []byte) string {
	b := scratch[:0]
	for _, s := range [...]string{p.Event(), string(p.actor), who.ID, p.key} {
		b = append(strconv.AppendInt(b, int64(len(s)), 10), ':')
		b = append(b, s...)
	}
	return canon.DigestBytes(append(b, payload...))
}
