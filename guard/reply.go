package guard

import "time"

// OfferKind is the kind of subject of replies: the id of an offer.
const OfferKind = "offer"

// Choice is a structured answer to an offer: a button, not a sentence.
type Choice string

// The choices. The zero Choice is free text, judged by [Explicit].
const (
	ChoiceNone Choice = ""
	ChoiceYes  Choice = "yes"
	ChoiceNo   Choice = "no"
)

// Limits of a reply.
const (
	MaxReplyText = 4 << 10 // bytes of its text
	MaxMessage   = 256     // bytes of a channel's id of a message
)

// Shown is the channel's own word about the order of messages: this message, delivered then, put the offer's question and asked nothing
// else; after it the channel showed the party nothing more, and the reply is the first thing that they wrote. The zero Shown
// vouches for nothing: then words that say yes do not count, and the question is asked once more.
type Shown struct {
	Message string    `json:"message" validate:"required,max=256"` // the channel's id of the message
	At      time.Time `json:"at" validate:"required"`              // when it was delivered there
}

// Reply is what a party said to an offer, as their own authenticated channel reports it. It is an observation, never
// a payload (law 9).
type Reply struct {
	By     string   `json:"by" validate:"required,max=256"`     // the principal signed in at the channel
	Roles  []string `json:"roles,omitempty"`                    // the roles that the channel knows them to have
	Text   string   `json:"text,omitempty" validate:"max=4096"` // what they typed, in full
	Choice Choice   `json:"choice,omitempty" validate:"omitempty,oneof=yes no"`
	// Shown is what was shown to them right before. A choice needs none: a button stands under the question that it answers.
	Shown *Shown `json:"shown,omitempty"`
}

// Answers tells whether the reply, which came at an instant, answers a question that was put at another: the channel vouches that
// the question was shown in between, and that nothing else was said. A no need not answer anything.
func (r Reply) Answers(put, at time.Time) bool {
	if r.Shown == nil {
		return r.Choice != ChoiceNone
	}
	return r.Shown.Message != "" && !r.Shown.At.Before(put) && at.After(r.Shown.At)
}

// Consent judges the reply: a structured choice counts as it is, free text only when it is explicit. A yes that was
// chosen beside words that say no is unclear.
func (r Reply) Consent() Consent {
	switch r.Choice {
	case ChoiceYes:
		if Explicit(r.Text) == No {
			return Unclear
		}
		return Yes
	case ChoiceNo:
		return No
	case ChoiceNone:
		return Explicit(r.Text)
	}
	return Unclear
}

// NewReply declares the fact that an edge with Confirm reads: a party's answer to one offer. It is kept until the
// offer is used up or void, and goes with it.
func NewReply(name string, from Source) Fact[Reply] {
	return NewFact[Reply](name, from, About(OfferKind), Lasting())
}
