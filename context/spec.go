package projection

import (
	"time"

	"github.com/pawlgo/pawl/guard"
	"github.com/pawlgo/pawl/machine"
)

// Spec declares a decision: the least that a model must see, and all that it may answer. All texts but those that come
// from the task's data are fixed, fill one line and have at most [MaxText] bytes.
type Spec[D any] struct {
	Name     string                   // like an event's name; required
	In       []machine.State          // where the decision arises; required
	Goal     func(D) string           // what the task is for, over its data; required
	Stages   map[machine.State]string // where it stands, in words; a state's own name when left out
	Fields   []Field[D]               // shown from the data
	Facts    []Fact                   // shown as verified, needs re-verification or not known
	NotYet   []Undone[D]              // what has not happened
	Question string                   // what the model has to decide; required
	Allow    []Answer                 // what may be answered; required
	Hidden   []Hidden                 // facts that a guard of an allowed event reads and that are not shown
	Budget   int                      // bytes of each rendering; 0: [DefaultBudget]
	Tokens   int                      // tokens of each rendering, counted by Count; 0: not counted
	Count    func(string) int         // a model's own counter; pure
	Drop     []string                 // labels of fields, facts and undone lines that may go when over budget, first to last
	Zone     *time.Location           // dates are shown in it; nil: UTC
	Words    *Words                   // the language of the texts above; nil: [English]
	Other    []Translation[D]         // the same decision in other languages
}

// Translation is a decision in another language. Texts holds, for each fixed text of the Spec, what it is in that language:
// a text without translation is a fault of [Define].
type Translation[D any] struct {
	Words *Words
	Goal  func(D) string
	Texts map[string]string
}

// Field shows a part of the data under a label. The value is a string, number, bool, time, [fmt.Stringer], or a list or
// pointer of those; anything else makes [Decision.View] fail with [ErrValue].
type Field[D any] struct {
	Label string
	Value func(D) any
}

// Fact shows a fact under a label: its value and status, never its reference. A fact whose type is a struct without a
// String method needs [Show], so that nothing is shown by accident.
type Fact struct {
	Label string
	Fact  guard.AnyFact

	show func(value any, who guard.Principal) any
}

// Show is a [Fact] of which only what as gives is shown.
func Show[T any](label string, f guard.Fact[T], as func(T) any) Fact {
	return Fact{Label: label, Fact: f, show: func(v any, _ guard.Principal) any {
		t, _ := v.(T)
		return as(t)
	}}
}

// ShowOwned is a [Fact] that names a principal, of which only whether it is the signed-in one is shown: ids of people
// stay inside.
func ShowOwned(label string, f guard.Fact[string]) Fact {
	return Fact{Label: label, Fact: f, show: func(v any, who guard.Principal) any {
		id, _ := v.(string)
		return id != "" && id == who.ID
	}}
}

// Undone says, as a whole sentence, what has not happened. It is shown as long as no intent of the effect was ever made,
// or as long as Holds says so: exactly one of them is set.
type Undone[D any] struct {
	Label  string
	Effect machine.AnyEffect
	Holds  func(machine.Snapshot[D]) bool
}

// Answer is an event that may be answered, and when it is the right one, in words for the model.
type Answer struct {
	Event machine.AnyEvent
	Means string
}

// Hidden declares that a fact is read by a guard of an allowed event and deliberately not shown.
type Hidden struct {
	Fact   guard.AnyFact
	Reason string
}

// Quote is text that somebody else wrote, with where it came from: a customer, a note, a tool. It is shown as data, and
// cut at [MaxQuote].
type Quote struct {
	Origin string
	Text   string
}
