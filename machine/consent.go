package machine

import (
	"slices"

	"github.com/pawlgo/pawl/guard"
	"github.com/pawlgo/pawl/internal/canon"
)

// consent judges law 9: an open offer of exactly this event and payload, the same effects to the byte, the same values
// underneath, and the party's own explicit yes, said after the offer was made.
func (a *attempt) consent(j *judged) guard.Verdict {
	offer, v := a.offered(j)
	if offer == nil {
		return v
	}
	if v := a.stillStands(j, offer); !v.Allowed() {
		return v
	}
	k := guard.Key{Fact: j.edge.confirm.Info().Name, Subject: offer.ID}
	entry, ok := j.scene.Record(k)
	if !ok {
		return guard.Ask(offer.Question)
	}
	reply, _ := entry.Value.(guard.Reply)
	switch {
	case a.heard(offer.ID, guard.No): // also when it is dated before the yes: clocks differ
		return guard.Deny(CodeDeclined, "the party said no")
	case !offer.answeredBy(reply, a.s.Owner):
		return guard.Deny(CodeNotApprover, "somebody else than the party answered")
	case !entry.At.After(offer.OpenedAt):
		return guard.Deny(CodeBeforeQuestion, "it was said before the offer was made")
	}
	switch reply.Consent() {
	case guard.Yes:
		if reply.Choice == guard.ChoiceNone && a.elsewhere(offer) {
			return guard.Ask(offer.Question)
		}
		j.offer = offer.ID
		return guard.Allow()
	case guard.No:
		return guard.Deny(CodeDeclined, "the party said no")
	}
	return guard.Ask(offer.Question)
}

// elsewhere tells whether a yes in free text may be about something else: another offer is open to the party, or something that
// they said to this one was not explicit, so that their yes may answer another question (case B025).
func (a *attempt) elsewhere(offer *OpenOffer) bool {
	return offer.Unclear || a.heard(offer.ID, guard.Unclear) || slices.ContainsFunc(a.s.Offers, func(o OpenOffer) bool {
		return o.ID != offer.ID && o.To == offer.To && a.in.Now.Before(o.Expires)
	})
}

// replied tells whether an entry is a reply to the offer of that kind.
func replied(e guard.Entry, offer string, as guard.Consent) bool {
	r, isReply := e.Value.(guard.Reply)
	return isReply && e.Key.Subject == offer && r.Consent() == as
}

// hear takes in what the party said to its offers. A no voids the offer, whatever comes after it; a word that is neither yes nor
// no marks it, so that their next word may not count. What is not the party's own word does not get here: see relevant.
func (a *attempt) hear(next *Snapshot[any]) []Voided {
	var declined []Voided
	for _, o := range slices.Clone(next.Offers) {
		switch {
		case a.heard(o.ID, guard.No):
			declined = append(declined, Voided{Offer: o.ID, Reason: "declined"})
			next.Offers = slices.DeleteFunc(slices.Clone(next.Offers), func(n OpenOffer) bool { return n.ID == o.ID })
		case !o.Unclear && a.heard(o.ID, guard.Unclear):
			next.Offers = slices.Clone(next.Offers)
			next.Offers[slices.IndexFunc(next.Offers, func(n OpenOffer) bool { return n.ID == o.ID })].Unclear = true
		}
	}
	return declined
}

func (a *attempt) heard(offer string, as guard.Consent) bool {
	for i := range a.evidence {
		if e := a.evidence[i].Entry(); replied(e, offer, as) && a.c.relevant(&a.s, e) {
			return true
		}
	}
	return false
}

// offered finds the open offer that the payload repeats word for word.
func (a *attempt) offered(j *judged) (*OpenOffer, guard.Verdict) {
	digest := canon.DigestBytes(a.payload)
	others := false
	for i := range a.s.Offers {
		switch o := &a.s.Offers[i]; {
		case o.Event != j.edge.event.Name:
		case o.Digest == digest:
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
