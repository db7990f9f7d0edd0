package projection

import (
	"errors"
	"fmt"
	"strings"

	"github.com/pawlgo/pawl/guard"
)

var (
	// ErrNotNow is wrapped when the task is in a state in which the decision does not arise.
	ErrNotNow = errors.New("decision does not arise in this state")
	// ErrOtherMachine is wrapped when the snapshot is not of the decision's machine, or of another version of it.
	ErrOtherMachine = errors.New("task is of another machine or definition")
	// ErrDecision is what every fault of [Define] is.
	ErrDecision = errors.New("decision is not whole")
	// ErrValue is wrapped when a value cannot be shown: it is a struct or a map without a String method.
	ErrValue = errors.New("value cannot be shown")
	// ErrQuotes is wrapped when a view is asked to show more than [MaxQuotes] quotes.
	ErrQuotes = errors.New("too many quotes")
	// ErrLanguage is wrapped by [Decision.In] for a language that the decision has no translation for.
	ErrLanguage = errors.New("no translation")
)

// Fault is one fault of a decision. Define reports all of them, joined. Codes are stable.
type Fault struct {
	Decision string
	Code     string
	Text     string
	Mend     string
}

// Error is the fault in one line.
func (f *Fault) Error() string {
	return fmt.Sprintf("decision %q: %s: %s (%s)", f.Decision, f.Code, f.Text, f.Mend)
}

// Is reports [ErrDecision].
func (f *Fault) Is(target error) bool { return target == ErrDecision }

// BudgetError says that what must be shown does not fit, even with everything left out that may be.
type BudgetError struct {
	Decision string
	Task     string // "" when Define found it
	Unit     string // bytes or tokens
	Need     int
	Budget   int
}

// Error names decision, task and both sizes.
func (e *BudgetError) Error() string {
	return fmt.Sprintf("decision %s, task %q: needs %d %s, budget %d", e.Decision, e.Task, e.Need, e.Unit, e.Budget)
}

// Codes of [RefusedError] beside those of [guard.FormError] and [machine.CodeOfferDiffers]. They are stable.
const (
	CodeNotAllowed     = "not_allowed"     // the event or tool is not one that is open in this view
	CodeSeveralAnswers = "several_answers" // more than one tool call or answer in one turn
	CodeNoAnswer       = "no_answer"       // neither an envelope nor a tool call, or nothing at all
	CodeProse          = "prose"           // words around the answer
)

// RefusedError is an answer that is no proposal, in words and as data that a model can act on. It is [guard.ErrForm] to
// errors.Is. Nothing was proposed, so nothing has changed.
type RefusedError struct {
	Code    string             // of the first fault
	Text    string             // what is wrong, on one line
	Allowed []string           // the answers that are open
	Faults  []*guard.FormError // at least one
}

// Error is code, text and what is allowed.
func (e *RefusedError) Error() string {
	return fmt.Sprintf("answer refused: %s: %s; open: %s", e.Code, e.Text, strings.Join(e.Allowed, ", "))
}

// Unwrap gives the faults.
func (e *RefusedError) Unwrap() []error {
	out := make([]error, len(e.Faults))
	for i, f := range e.Faults {
		out[i] = f
	}
	return out
}

// Is reports [guard.ErrForm].
func (e *RefusedError) Is(target error) bool { return target == guard.ErrForm }
