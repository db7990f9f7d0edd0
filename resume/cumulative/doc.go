// Package cumulative is for providers that report how much there was so far, and not what each operation did: "refunded so far: 70.00"
// (field case B078). What became of an attempt whose answer was lost is then read from the figure alone:
//
//	the figure          what became of the effect
//	base + amount       it has happened
//	base                it has not
//	anything else       nobody can tell: somebody else changed it in between
//
// The effect's arguments carry a [Step]: the figure as it was when the effect was intended, and what it adds. Take the base from a fact
// that the edge wants fresh, so that a person who agreed to it agreed on that figure, and let [Hold] keep the operations of one
// resource apart: two that are under way at once could be taken for each other.
//
//	figures := cumulative.Effect[Payment, Record]{
//		Step:  func(p Payment) cumulative.Step { return p.Step },
//		Total: func(r Record) cumulative.Figure { return r.Total },
//	}
//	var Refund = machine.NewEffect("refund", Receipt, figures.Matching())
//	handler := resume.Perform(Refund, figures.Send(read, send), figures.Find(read))
//
// A base figure says that nothing has arrived yet, not that nothing is under way. An effect that is not there is sent again under the
// same key, which is right where the provider honours keys; where it does not, declare [machine.TriedOnce], and the effect stays
// unknown until the figure moves or a person has looked. What no figure can tell is somebody else, outside of this store, who
// added exactly the same amount in between: then the effect counts as happened, and nothing is paid twice.
package cumulative
