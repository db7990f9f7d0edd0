package machine

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/pawlgo/pawl/guard"
)

// Kind of an outcome. The zero Kind is no outcome.
type Kind string

// The kinds. Only Committed changed anything.
const (
	Committed     Kind = "committed"
	Refused       Kind = "refused"
	Ask           Kind = "ask"            // a person must be asked; Question says what
	NeedsEvidence Kind = "needs_evidence" // facts are unknown or stale; Missing names them
	Conflict      Kind = "conflict"       // based on a version that is not the newest
	Unchanged     Kind = "unchanged"      // the observation was no news: no version was made
)

// Codes of findings that the framework gives, beside those of guards. All are stable and stored.
const (
	CodeNoEvent        = "no_event"         // the proposal is empty
	CodeUnknownEvent   = "unknown_event"    // the machine declares no such event
	CodeForm           = "form"             // the payload is not in the required form
	CodeStaleVersion   = "stale_version"    // based on a version that is not the newest
	CodeNoTransition   = "no_transition"    // the event has no edge from this state
	CodeActor          = "actor"            // this actor may not propose the event
	CodeAmbiguous      = "ambiguous"        // several edges are open; the details name them as "edges"
	CodeOtherSubject   = "other_subject"    // about another thing than the task
	CodeMovesFirst     = "moves_first"      // what was observed moves the task; the proposal is judged after that
	CodeNotOffered     = "not_offered"      // nothing of the kind was offered
	CodeOfferDiffers   = "offer_differs"    // not what was offered, word for word
	CodeOfferExpired   = "offer_expired"    // the offer has run out
	CodeOfferVoid      = "offer_void"       // what it stood on has changed
	CodeEffectsDiffer  = "effects_differ"   // it would cause something else than what was offered
	CodeNotApprover    = "not_approver"     // somebody else answered
	CodeBeforeQuestion = "before_question"  // answered before the offer was made
	CodeDeclined       = "declined"         // the party said no
	CodeUnderWay       = "under_way"        // an earlier effect has no outcome yet
	CodeDuplicate      = "duplicate_effect" // one commit intends the same effect twice
	CodeNoReceipt      = "no_receipt"       // nothing proves that the effect happened
	CodeReceiptDiffers = "receipt_differs"  // the receipt is not of what was intended
	CodeNoIntent       = "no_intent"        // there is no unsettled intent under this key
	CodeHappened       = "receipt_exists"   // an effect that has a receipt did not fail
	CodeRepeat         = "repeated_effect"  // it has happened, and nobody agreed to do it once more
	CodeNotDue         = "not_due"          // no timer of this event has come due
	CodeUnsettled      = "unsettled"        // a final state while an effect has no outcome
	CodeInvariant      = "invariant"        // an invariant does not hold
	CodeData           = "data"             // the new data is not valid
	CodeEdgeFault      = "edge_fault"       // the edge's own function panicked
	CodeTooMany        = "too_many"         // past a declared limit
	CodeNotEvidence    = "not_evidence"     // an observation did not pass verification
	CodeForbidden      = "forbidden"        // the principal may not act on this task
	CodeLapsed         = "evidence_lapsed"  // evidence ran out between judging and committing
)

// Finding is one reason.
type Finding struct {
	Edge    string         `json:"edge,omitempty"`
	Guard   string         `json:"guard,omitempty"`
	Code    string         `json:"code"`
	Text    string         `json:"text,omitempty"`
	Missing []guard.Key    `json:"missing,omitempty"`
	Details map[string]any `json:"details,omitempty"`
}

// Permit is one event of the present state: open as far as can be said without a payload, or blocked by what.
type Permit struct {
	Event   string        `json:"event"`
	By      []guard.Actor `json:"by"`
	Open    bool          `json:"open"`
	Needs   []guard.Key   `json:"needs,omitempty"` // facts to be observed before it can be judged
	Blocked []Finding     `json:"blocked,omitempty"`
}

// Outcome is what became of a proposal or an observation. Check Kind, or Err when only a commit will do.
type Outcome struct {
	Kind     Kind            `json:"kind"`
	Task     string          `json:"task_id"`
	Version  uint64          `json:"state_version"` // where the task stands now, committed or not
	State    State           `json:"status"`
	Before   uint64          `json:"before,omitempty"`   // the version that a commit came from
	Observed uint64          `json:"observed,omitempty"` // the version that keeps what a refusal brought to light
	Replayed bool            `json:"replayed,omitempty"` // the same proposal had been committed before
	Event    string          `json:"event,omitempty"`
	Edge     string          `json:"edge,omitempty"`
	Findings []Finding       `json:"findings,omitempty"`
	Missing  []guard.Key     `json:"missing,omitempty"`
	Question string          `json:"question,omitempty"`
	Permits  []Permit        `json:"permits,omitempty"`  // what is permitted now; of a refusal
	Offers   []OpenOffer     `json:"offers,omitempty"`   // opened by this commit
	Intents  []Intent        `json:"effects,omitempty"`  // intended by this commit
	Returned json.RawMessage `json:"returned,omitempty"` // what the edge answers its proposer; the same when replayed

	entry *Entry
}

// Entry is the history entry of a commit; nil for every other kind.
func (o Outcome) Entry() *Entry { return o.entry }

// Code is the first finding's code, "" when there is none.
func (o Outcome) Code() string {
	if len(o.Findings) == 0 {
		return ""
	}
	return o.Findings[0].Code
}

// String says in one line what became of it, and of a refusal why and what is permitted now.
func (o Outcome) String() string {
	var b strings.Builder
	at := "at"
	if o.Kind == Committed {
		at = "as"
	}
	fmt.Fprintf(&b, "%s %s version %d, %s", o.Kind, at, o.Version, o.State)
	for _, f := range o.Findings {
		fmt.Fprintf(&b, "; %s", strings.Trim(strings.Join([]string{f.Guard, f.Code, f.Text}, ": "), ": "))
	}
	if o.Observed != 0 {
		fmt.Fprintf(&b, "; what was observed is kept as version %d", o.Observed)
	}
	var open []string
	for _, p := range o.Permits {
		if p.Open {
			open = append(open, p.Event)
		}
	}
	if len(open) > 0 {
		fmt.Fprintf(&b, "; permitted: %s", strings.Join(open, ", "))
	}
	return b.String()
}

// ReturnedAs reads what the edge answered.
func ReturnedAs[R any](o Outcome) (R, error) { return guard.DecodeStored[R](o.Returned) }
