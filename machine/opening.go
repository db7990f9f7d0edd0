package machine

import (
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/pawlgo/pawl/internal/canon"
)

// voidOffers takes away the offer that was used, those of a state that was left, and those whose ground has changed.
func (a *attempt) voidOffers(j *judged, next *Snapshot[any]) []Voided {
	if j.edge.stay {
		voided := a.keepOffers(next, j.offer)
		if w := next.Waiting; w != a.s.Waiting {
			for i := range next.Offers {
				next.Offers[i].endBy(w.Until)
			}
		}
		return voided
	}
	next.Offers = nil
	voided := make([]Voided, 0, len(a.s.Offers))
	for i := range a.s.Offers {
		o := a.s.Offers[i]
		o.Answers = a.answers(&o)
		reason := VoidLeft
		switch {
		case o.ID == j.offer:
			reason = VoidUsed
		case !a.in.Now.Before(o.Expires):
			reason = VoidExpired // before the state was left, or by the very timer that leaves it
		}
		voided = append(voided, o.void(reason))
	}
	return voided
}

// keepOffers keeps the offers that still stand, and records why the others do not; one of them may be used up.
func (a *attempt) keepOffers(next *Snapshot[any], used string) []Voided {
	var voided []Voided
	next.Offers = nil
	for i := range a.s.Offers {
		o := &a.s.Offers[i]
		if o.ID == used {
			agreed := *o
			agreed.Answers = a.answers(o)
			voided = append(voided, agreed.void(VoidUsed))
			continue
		}
		if k := a.changed(o); k != nil {
			v := o.void(VoidChanged)
			v.Fact = k
			voided = append(voided, v)
			continue
		}
		if !a.in.Now.Before(o.Expires) {
			voided = append(voided, o.void(VoidExpired))
			continue
		}
		next.Offers = append(next.Offers, *o)
	}
	return voided
}

// open puts the edge's offers. Each is judged as if it had been confirmed; one that would be refused refuses the commit.
func (a *attempt) open(j *judged, next *Snapshot[any], out *Outcome, voided *[]Voided) (Kind, []Finding) {
	for _, o := range j.edge.outputs {
		if o.kind != offers {
			continue
		}
		made, v := j.run(o, next.Data)
		if j.add(o.offer.Name, v); !v.Allowed() {
			return hopeful(Refused, v), j.tell(nil)
		}
		if len(made) > MaxOffers {
			return Refused, []Finding{{Edge: j.edge.name, Code: CodeTooMany, Text: fmt.Sprintf("%d offers, at most %d", len(made), MaxOffers)}}
		}
		for _, payload := range made {
			offer, kind, findings := a.offer(o, payload, next, len(out.Offers))
			if findings != nil {
				return kind, findings
			}
			a.replace(next, offer, o.offer, voided)
			next.Offers, out.Offers = append(next.Offers, *offer), append(out.Offers, offer.Copy())
		}
	}
	return "", nil
}

// offer judges one payload as if it were confirmed, on the snapshot as the commit would leave it.
func (a *attempt) offer(o output, payload any, next *Snapshot[any], n int) (*OpenOffer, Kind, []Finding) {
	b, err := formed(payload, MaxProposal, false)
	if err != nil {
		return nil, Refused, []Finding{{Guard: o.offer.Name, Code: CodeForm, Text: err.Error()}}
	}
	kind := Refused
	var findings []Finding
	for _, e := range slices.Concat(a.c.ways[next.State][o.offer.Name]...) {
		if e.confirm == nil {
			continue
		}
		j := a.begin(e, next, payload, nil)
		if j.scene != nil {
			a.guards(j, next)
		}
		if !j.verdict.Denied() {
			a.draft(j, next)
		}
		if j.verdict.Allowed() {
			return a.bind(o, j, payload, b, next, n)
		}
		findings, kind = j.tell(findings), hopeful(kind, j.verdict)
		a.spare = j
	}
	if findings == nil {
		findings = []Finding{{Guard: o.offer.Name, Code: CodeNoTransition, Text: fmt.Sprintf("%s is offered and not possible in %s", o.offer.Name, next.State)}}
	}
	return nil, kind, findings
}

// bind writes down all that the offer is about.
func (a *attempt) bind(o output, j *judged, payload any, b []byte, next *Snapshot[any], n int) (*OpenOffer, Kind, []Finding) {
	refuse := func(code, text string) (*OpenOffer, Kind, []Finding) {
		return nil, Refused, []Finding{{Edge: j.edge.name, Guard: o.offer.Name, Code: code, Text: text}}
	}
	offer := &OpenOffer{
		ID:    next.Task + "/" + strconv.FormatUint(next.Version, 10) + "/" + o.offer.Name + "/" + strconv.Itoa(n),
		Event: o.offer.Name, Payload: payload, Digest: canon.DigestBytes(b), To: o.party,
		Opened: next.Version, OpenedAt: a.in.Now, Expires: a.in.Now.Add(o.expires),
	}
	if w := next.Waiting; w != nil {
		offer.endBy(w.Until)
	}
	if old := sameOffer(next.Offers, offer); old != nil {
		if old.Opened == offer.Opened {
			return refuse(CodeDuplicate, "the same offer twice in one commit")
		}
		if old.Expires.Before(offer.Expires) {
			offer.Expires = old.Expires
		}
	}
	a.bindApproval(offer, j, next)
	used := j.scene.Used()
	offer.Effects, offer.Stands = slices.Grow(offer.Effects, len(j.drafts)), slices.Grow(offer.Stands, len(used))
	for _, d := range j.drafts {
		offer.Effects = append(offer.Effects, Draft{d.effect.Name, d.bytes})
	}
	a.stood = append(a.stood, used...)
	for _, e := range used {
		digest, err := canon.Digest(e.Value)
		if err != nil {
			return refuse(CodeForm, e.Key.String()+": "+err.Error())
		}
		offer.Stands = append(offer.Stands, Stand{e.Key, digest})
	}
	var err error
	if offer.Question, err = question(offer, j.drafts); err != nil {
		return refuse(CodeEdgeFault, err.Error())
	}
	return offer, "", nil
}

// endBy ends an offer with the wait that it is open in: whoever is late for the one is late for the other.
func (o *OpenOffer) endBy(until time.Time) {
	if until.Before(o.Expires) {
		o.Expires = until
	}
}

func sameOffer(open []OpenOffer, o *OpenOffer) *OpenOffer {
	for i := range open {
		if open[i].Event == o.Event && open[i].Digest == o.Digest {
			return &open[i]
		}
	}
	return nil
}

// replace closes the earlier offers of the same event about the same things: only the newest can be answered (case B018).
func (a *attempt) replace(next *Snapshot[any], offer *OpenOffer, ev *EventInfo, voided *[]Voided) {
	next.Offers = slices.DeleteFunc(slices.Clone(next.Offers), func(o OpenOffer) bool {
		same := o.Event == offer.Event && o.Opened < offer.Opened && ev.subjects.same(o.Payload, offer.Payload)
		if same {
			*voided = append(*voided, o.void(VoidReplaced))
		}
		return same
	})
}
