package guard

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

// MaxReplyText is the longest text of a reply, in bytes.
const MaxReplyText = 4 << 10

// Reply is what a party said to an offer, as their own authenticated channel reports it. It is an observation, never
// a payload (law 9).
type Reply struct {
	By     string   `json:"by" validate:"required,max=256"`     // the principal signed in at the channel
	Roles  []string `json:"roles,omitempty"`                    // the roles that the channel knows them to have
	Text   string   `json:"text,omitempty" validate:"max=4096"` // what they typed, in full
	Choice Choice   `json:"choice,omitempty" validate:"omitempty,oneof=yes no"`
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
