package machine

import (
	"errors"
	"fmt"
	"strings"
)

// Sentinels for the outcomes that are no commit; each error of [Outcome.Err] wraps one of them.
var (
	ErrRefused       = errors.New("refused")                // the outcome was Refused
	ErrAsk           = errors.New("a person must be asked") // the outcome was Ask
	ErrNeedsEvidence = errors.New("needs evidence")         // the outcome was NeedsEvidence
	ErrConflict      = errors.New("conflict")               // the outcome was Conflict
	ErrUnchanged     = errors.New("nothing new")            // the outcome was Unchanged
)

// NotCommittedError is an outcome that is no commit, for callers who treat that as a failure.
type NotCommittedError struct{ Outcome Outcome }

// Error names task, version, event and each reason.
func (e *NotCommittedError) Error() string {
	o := e.Outcome
	why := make([]string, 0, len(o.Findings))
	for _, f := range o.Findings {
		why = append(why, strings.TrimSpace(f.Guard+" "+f.Code))
	}
	return fmt.Sprintf("task %s, version %d, %s: %s: %s", o.Task, o.Version, o.Event, o.Kind, strings.Join(why, "; "))
}

// Is reports the sentinel of the outcome's kind.
func (e *NotCommittedError) Is(target error) bool {
	switch e.Outcome.Kind {
	case Refused:
		return target == ErrRefused
	case Ask:
		return target == ErrAsk
	case NeedsEvidence:
		return target == ErrNeedsEvidence
	case Conflict:
		return target == ErrConflict
	case Unchanged:
		return target == ErrUnchanged
	}
	return false
}

// Err is nil only for a commit. Use it wherever going on uncommitted would be wrong.
func (o Outcome) Err() error {
	if o.Kind == Committed {
		return nil
	}
	return &NotCommittedError{o}
}

// ErrDefinition is wrapped by the error of Build.
var ErrDefinition = errors.New("definition is not whole")

// Fault is one fault of a definition. Build reports all of them, joined.
type Fault struct {
	Code  string // stable
	Place string // file and line of the declaration, "-" when there is none
	Text  string
	Mend  string
}

// Error is the fault in one line.
func (f *Fault) Error() string {
	return fmt.Sprintf("%s: %s: %s (%s)", f.Place, f.Code, f.Text, f.Mend)
}

// Is reports [ErrDefinition].
func (f *Fault) Is(target error) bool { return target == ErrDefinition }

// Faults are all faults of an error of [Builder.Build] or [Migrate], in its order; none when it is about something else.
func Faults(err error) (all []*Fault) {
	switch e := err.(type) {
	case nil:
	case *Fault:
		all = append(all, e)
	case interface{ Unwrap() []error }:
		for _, each := range e.Unwrap() {
			all = append(all, Faults(each)...)
		}
	case interface{ Unwrap() error }:
		all = Faults(e.Unwrap())
	}
	return all
}
