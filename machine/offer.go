package machine

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/pawlgo/pawl/guard"
)

// Party is somebody who is waited for or asked: the task's owner, or a role of a principal.
type Party string

// TaskOwner is the principal that the task was started for.
const TaskOwner Party = "owner"

// OpenOffer is an action that was put to a party, word for word, and may be agreed to once (law 9).
type OpenOffer struct {
	ID       string    `json:"id"`
	Event    string    `json:"event"`
	Payload  any       `json:"payload"`
	Digest   string    `json:"digest"` // of the payload's canonical bytes
	Question string    `json:"question"`
	To       Party     `json:"to"`
	Opened   uint64    `json:"opened"`
	OpenedAt time.Time `json:"opened_at"`
	Expires  time.Time `json:"expires"`
	Effects  []Draft   `json:"effects,omitempty"` // what it would cause, to the byte
	Stands   []Stand   `json:"stands,omitempty"`  // the values that it stands on
	// Need is how many people must say yes, and Of out of how many; 0 is one.
	Need       int      `json:"need,omitempty"`
	Of         int      `json:"of,omitempty"`
	Barred     []string `json:"barred,omitempty"`     // who may not answer it: they proposed it
	Structured bool     `json:"structured,omitempty"` // words do not agree to it, only a choice
	Answers    []Answer `json:"answers,omitempty"`    // what was said to it so far, sorted by person
}

// Draft is an effect that a proposal would cause.
type Draft struct {
	Effect string `json:"effect"`
	Args   string `json:"args"` // canonical JSON
}

// Stand is a value that an offer stands on: when the fact has another one, the offer is void.
type Stand struct {
	Key    guard.Key `json:"key"`
	Digest string    `json:"digest"`
}

// Voided is an offer that is no longer open, and why.
type Voided struct {
	Offer   string     `json:"offer"`
	Reason  string     `json:"reason"`
	Fact    *guard.Key `json:"fact,omitempty"`    // that has another value than the offer stood on
	Answers []Answer   `json:"answers,omitempty"` // what was said to it, where several had to agree or one said no
}

// Why an offer is void. All are stable and stored.
const (
	VoidUsed       = "used"               // it was agreed to, and is done
	VoidDeclined   = "declined"           // so many said no that it cannot be agreed to
	VoidLeft       = "left_state"         // the state in which it was open was left
	VoidReplaced   = "replaced"           // another offer about the same was put, or the same again
	VoidChanged    = "value_changed"      // a fact that it stood on has another value
	VoidExpired    = "expired"            // it ran out
	VoidDefinition = "definition_changed" // the task went over to a later definition
	VoidTooMany    = "too_many_answers"   // more people answered than can be kept
)

// void records why the offer is no longer open.
func (o *OpenOffer) void(reason string) Voided {
	v := Voided{Offer: o.ID, Reason: reason}
	if o.Of > 1 {
		v.Answers = o.Answers
	}
	return v
}

// Waiting says for whom, since when and until when (law 11).
type Waiting struct {
	For   Party     `json:"for"`
	Since time.Time `json:"since"`
	Until time.Time `json:"until"`
}

// standsOn tells whether the offer is void once the fact has another value.
func (o *OpenOffer) standsOn(k guard.Key) bool {
	return slices.ContainsFunc(o.Stands, func(s Stand) bool { return s.Key == k })
}

// answeredBy tells whether the reply came from the party that the offer was put to, and not from who proposed it, where that matters.
func (o *OpenOffer) answeredBy(r guard.Reply, owner string) bool {
	if slices.Contains(o.Barred, r.By) {
		return false
	}
	if o.To == TaskOwner {
		return r.By != "" && r.By == owner
	}
	return guard.Principal{ID: r.By, Roles: r.Roles}.Has(string(o.To))
}

// question is the text that is put to the party: made of payload and effects, never by a model. It fails when a value
// cannot be written.
func question(o *OpenOffer, drafts []draft) (text string, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("a String method panicked: %.200v", p)
		}
	}()
	b := append(make([]byte, 0, 256), words(o.Event)...)
	b = append(appendPlain(append(b, " ("...), o.Payload), ')')
	for _, d := range drafts {
		b = append(append(b, "; this will "...), words(d.effect.Name)...)
		b = append(appendPlain(append(b, " ("...), d.args), ')')
	}
	b = append(b, ". "...)
	if o.Need > 1 {
		b = fmt.Appendf(b, "%d of %d must agree. ", o.Need, o.Of)
	}
	if o.Structured {
		b = append(b, "Choose yes or no, words do not count, until "...)
	} else {
		b = append(b, "Answer yes or no, until "...)
	}
	b = o.Expires.UTC().AppendFormat(b, "2006-01-02 15:04 MST")
	return string(append(b, '.')), nil
}

func words(name string) string { return strings.ReplaceAll(name, "_", " ") }
