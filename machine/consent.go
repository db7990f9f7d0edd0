package machine

import (
	"slices"

	"github.com/pawlgo/pawl/guard"
	"github.com/pawlgo/pawl/internal/canon"
)

// consent judges law 9: an open offer of exactly this event and payload, the same effects to the byte, the same values
// underneath, and the explicit yes of as many as must agree, said right after the offer was shown to them.
func (a *attempt) consent(j *judged) guard.Verdict {
	offer, v := a.offered(j)
	if offer == nil {
		return v
	}
	if v := a.stillStands(j, offer); !v.Allowed() {
		return v
	}
	entry, replied := j.scene.Record(guard.Key{Fact: j.edge.confirm.Info().Name, Subject: offer.ID})
	answers, need := a.answers(offer), max(offer.Need, j.edge.need, 1)
	choice := offer.Structured || j.edge.choice(j, a.s.Data)
	switch yes, _ := counted(answers, choice); {
	case offer.declined(answers): // also by a no that is dated before the yes: clocks differ
		return guard.Deny(CodeDeclined, "the party said no")
	case yes >= need:
		j.offer = offer.ID
		return guard.Allow()
	case replied && need == 1:
		return a.answerless(offer, entry)
	case need > 1:
		return guard.Ask(offer.Question).With("agreed", yes).With("need", need)
	}
	return guard.Ask(offer.Question)
}

// answerless says why the newest reply is no yes.
func (a *attempt) answerless(o *OpenOffer, e guard.Entry) guard.Verdict {
	reply, _ := e.Value.(guard.Reply)
	switch {
	case slices.Contains(o.Barred, reply.By):
		return guard.Deny(CodeNotApprover, "who proposed it may not agree to it")
	case !o.answeredBy(reply, a.s.Owner):
		return guard.Deny(CodeNotApprover, "somebody else than the party answered")
	case !e.At.After(o.OpenedAt):
		return guard.Deny(CodeBeforeQuestion, "it was said before the offer was made")
	}
	return guard.Ask(o.Question)
}

// offered finds the open offer that the payload repeats word for word.
func (a *attempt) offered(j *judged) (*OpenOffer, guard.Verdict) {
	var space [64]byte
	digest := canon.AppendDigest(space[:0], a.payload)
	others := false
	for i := range a.s.Offers {
		switch o := &a.s.Offers[i]; {
		case o.Event != j.edge.event.Name:
		case o.Digest == string(digest):
			return o, guard.Allow()
		default:
			others = true
		}
	}
	if others {
		return nil, guard.Deny(CodeOfferDiffers, "it is not what was offered, word for word")
	}
	return nil, guard.Deny(CodeNotOffered, "nothing of the kind was offered")
}

func (a *attempt) stillStands(j *judged, o *OpenOffer) guard.Verdict {
	if !a.in.Now.Before(o.Expires) {
		return guard.Deny(CodeOfferExpired, "the offer has run out")
	}
	if k := a.changed(o); k != nil {
		return guard.Deny(CodeOfferVoid, k.String()+" has changed since the offer was made")
	}
	if j.verdict.Unknown() {
		return guard.Allow() // the effects are not known yet; evidence is asked for first
	}
	if len(o.Effects) != len(j.drafts) {
		return guard.Deny(CodeEffectsDiffer, "it would cause something else than what was offered")
	}
	for i, d := range j.drafts {
		if o.Effects[i] != (Draft{d.effect.Name, d.bytes}) {
			return guard.Deny(CodeEffectsDiffer, "it would cause something else than what was offered")
		}
		if o.Opened < repeats(&a.s, d, "") {
			return guard.Deny(CodeRepeat, "it has happened since it was offered")
		}
	}
	return guard.Allow()
}

// changed is the first fact that an offer stands on and to which this step gives another value. An open offer stood at
// the version before, so only news can change that. A fact that is only unknown or old does not void an offer: the
// guards ask for it again.
func (a *attempt) changed(o *OpenOffer) *guard.Key {
	for i := range o.Stands {
		st := &o.Stands[i]
		if !a.isNews(st.Key) {
			continue
		}
		e, ok := a.facts.Entry(st.Key)
		if !ok || e.Disputed {
			continue
		}
		if digest, err := canon.Digest(e.Value); err != nil || digest != st.Digest {
			return &st.Key
		}
	}
	return nil
}

func (a *attempt) isNews(k guard.Key) bool {
	for i, m := range a.merged {
		if m == guard.News && a.evidence[i].Entry().Key == k {
			return true
		}
	}
	return false
}
