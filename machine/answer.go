package machine

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/pawlgo/pawl/guard"
)

// Answer is what one person has said to an open offer, as far as it counts. It is kept in the offer, so that it outlives sessions and
// restarts while others are still to answer.
type Answer struct {
	By     string    `json:"by"`
	Says   Said      `json:"says"`
	Choice bool      `json:"choice,omitempty"` // in the structured form
	At     time.Time `json:"at"`
}

// Said is what an answer says. The zero Said is no answer.
type Said string

// What can be said. Of several words of one person the strongest stands, in whichever order they come in: a no, then a yes by choice,
// then what is not clear, then a yes in words. Asked again, they may answer anew.
const (
	SaidYes     Said = "yes"
	SaidNo      Said = "no"
	SaidUnclear Said = "unclear"
)

// rank says which of two answers of one person stands.
func (a Answer) rank() int {
	switch {
	case a.Says == SaidNo:
		return 3
	case a.Says == SaidYes && a.Choice:
		return 2
	case a.Says == SaidUnclear:
		return 1
	}
	return 0
}

// with are the answers with one more, sorted by person. Which came in first makes no difference.
func with(answers []Answer, n Answer) []Answer {
	i, had := answered(answers, n.By)
	if !had {
		return slices.Insert(slices.Clone(answers), i, n)
	}
	if n.overrules(answers[i]) {
		answers = slices.Clone(answers)
		answers[i] = n
	}
	return answers
}

// adds tells whether the answers would be others with one more.
func adds(answers []Answer, n Answer) bool {
	i, had := answered(answers, n.By)
	return !had || n.overrules(answers[i])
}

// answered is where a person's answer stands, or would stand.
func answered(answers []Answer, by string) (at int, had bool) {
	return slices.BinarySearchFunc(answers, by, func(a Answer, by string) int { return strings.Compare(a.By, by) })
}

// overrules tells whether the answer stands where the same person gave another.
func (a Answer) overrules(old Answer) bool {
	return cmp.Or(cmp.Compare(a.rank(), old.rank()), old.At.Compare(a.At)) > 0
}

// counted is how many have said yes, in the form that is demanded, and how many no.
func counted(answers []Answer, structured bool) (yes, no int) {
	for _, a := range answers {
		switch {
		case a.Says == SaidNo:
			no++
		case a.Says == SaidYes && (a.Choice || !structured):
			yes++
		}
	}
	return yes, no
}

// declined tells whether so many have said no that the offer can no longer be agreed to.
func (o *OpenOffer) declined(answers []Answer) bool {
	_, no := counted(answers, false)
	return no > max(o.Of, 1)-max(o.Need, 1)
}

// answer is what a piece of evidence says to an offer; false when it says nothing that counts. Words that say yes count only when
// the channel vouches that the question came right before them, and are about none of several open offers (case B025).
func (a *attempt) answer(o *OpenOffer, ev *guard.Evidence) (Answer, bool) {
	e := ev.Entry()
	r, isReply := e.Value.(guard.Reply)
	if !isReply || e.Key.Subject != o.ID || !a.c.relevant(&a.s, e) {
		return Answer{}, false
	}
	n := Answer{By: r.By, Says: SaidUnclear, Choice: r.Choice != guard.ChoiceNone, At: e.At}
	switch ev.Consent() {
	case guard.No:
		n.Says = SaidNo
	case guard.Yes:
		if !r.Answers(o.OpenedAt, e.At) {
			return Answer{}, false
		}
		if n.Choice || !a.several(r) {
			n.Says = SaidYes
		}
	}
	return n, true
}

// several tells whether more than one offer is open to whoever replied.
func (a *attempt) several(r guard.Reply) bool {
	open := 0
	for i := range a.s.Offers {
		if o := &a.s.Offers[i]; o.answeredBy(r, a.s.Owner) && a.in.Now.Before(o.Expires) {
			open++
		}
	}
	return open > 1
}

// answers are those to an offer, with what this step brings.
func (a *attempt) answers(o *OpenOffer) []Answer {
	if a.heard.offer != o.ID {
		a.heard.offer, a.heard.answers = o.ID, a.hearAll(o)
	}
	return a.heard.answers
}

func (a *attempt) hearAll(o *OpenOffer) []Answer {
	all := o.Answers
	for i := range a.evidence {
		if n, counts := a.answer(o, &a.evidence[i]); counts {
			all = with(all, n)
		}
	}
	return all
}

// hear takes in what was said to the offers that stay open. One that can no longer be agreed to is declined, whatever comes after;
// one that more people answer than can be kept is given up.
func (a *attempt) hear(next *Snapshot[any]) []Voided {
	var voided []Voided
	var kept []OpenOffer
	changed := false
	for _, o := range next.Offers {
		answers := a.answers(&o)
		switch {
		case len(answers) == len(o.Answers) && slices.Equal(answers, o.Answers):
			kept = append(kept, o)
			continue
		case o.declined(answers):
			voided = append(voided, Voided{Offer: o.ID, Reason: VoidDeclined, Answers: answers})
		case len(answers) > MaxAnswers:
			voided = append(voided, Voided{Offer: o.ID, Reason: VoidTooMany})
		default:
			o.Answers = answers
			kept = append(kept, o)
		}
		changed = true
	}
	if changed {
		next.Offers = kept
	}
	return voided
}

// answersChange tells whether evidence says something to an offer that was not said before.
func (a *attempt) answersChange(ev *guard.Evidence) bool {
	subject := ev.Entry().Key.Subject
	i := slices.IndexFunc(a.s.Offers, func(o OpenOffer) bool { return o.ID == subject })
	if i < 0 {
		return false
	}
	n, counts := a.answer(&a.s.Offers[i], ev)
	return counts && adds(a.s.Offers[i].Answers, n)
}

// UsedReply is a message that counts as a yes, and the offer that it counts for. A controller uses its name up in the whole store, so
// that one message never answers two questions.
type UsedReply struct {
	Name string
	Key  guard.Key // the reply; its subject is the offer
}

// usedReplies are the messages that this step counts for an offer that stays open, or that it uses.
func (a *attempt) usedReplies(next *Snapshot[any], used string) (out []UsedReply) {
	for i := range a.evidence {
		ev := &a.evidence[i]
		if ev.Message() == "" {
			continue
		}
		k := ev.Entry().Key
		at := slices.IndexFunc(a.s.Offers, func(o OpenOffer) bool { return o.ID == k.Subject })
		if _, open := next.Offer(k.Subject); at < 0 || !open && used != k.Subject {
			continue
		}
		said := a.s.Offers[at].Answers
		if n, counts := a.answer(&a.s.Offers[at], ev); counts && n.Says == SaidYes && adds(said, n) {
			out = append(out, UsedReply{ev.Message(), k})
		}
	}
	return out
}
