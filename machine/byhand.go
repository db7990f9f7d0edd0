package machine

// MaxProof is how many bytes a [ByHand] may take to say where the proof lies.
const MaxProof = 256

// ByHand says what a person knows of an effect's end, where no lookup could tell: why it counts, and where the proof lies. Who it was is
// the principal of the history entry.
type ByHand struct {
	Reason string `json:"reason"` // at most MaxReason bytes
	Proof  string `json:"proof"`  // a ticket, a statement of the provider: at most MaxProof bytes
}

// FoundByHand makes it the word of the operator in whose session it is proposed, and no worker's. It is for the proposals of
// [EffectInfo.Confirm] and [EffectInfo.Fail] alone: any other becomes the zero Proposal. For runtimes, which have asked who it is.
func (p Proposal) FoundByHand(h ByHand) Proposal {
	if p.event == nil || !p.event.isSettling() {
		return Proposal{}
	}
	p.byHand = &h
	return p
}
