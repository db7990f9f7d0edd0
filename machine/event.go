package machine

import (
	"reflect"

	"github.com/pawlgo/pawl/guard"
)

// None is the payload of an event that carries nothing.
type None struct{}

// EventInfo is the declaration of an event as data. Read it only.
type EventInfo struct {
	Name     string
	Payload  reflect.Type
	Narrows  bool // judged on the newest version
	internal bool // an effect's or a fact's own event: its name is made, not declared

	decode       func([]byte) (any, error)
	decodeStored func([]byte) (any, error)
	clone        func(any) any
	subjects     subjectFields
}

// AnyEvent is an [Event] of any payload, for lists of events. Only Event implements it.
type AnyEvent interface {
	// Info is the declaration; nil for the zero Event.
	Info() *EventInfo

	event()
}

// Event is something that may be proposed, with its payload type. The zero Event is refused by Build. Safe for
// concurrent use.
type Event[P any] struct{ info *EventInfo }

// EventOption refines an event.
type EventOption func(*EventInfo)

// Narrowing says that the event is judged on the newest version, whatever version it was based on, because it only
// narrows what happens: cancel, ask again (law 6).
func Narrowing() EventOption { return func(i *EventInfo) { i.Narrows = true } }

// NewEvent declares an event. The name is also the tool name that a model sees. String fields, and slices of
// strings, of P with the tag about:"KIND" name the subjects of the facts that guards read.
func NewEvent[P any](name string, opts ...EventOption) Event[P] {
	t := reflect.TypeFor[P]()
	i := &EventInfo{Name: name, Payload: t, subjects: findSubjects(t), clone: cloner[P](t)}
	i.decode = func(raw []byte) (any, error) { return guard.Decode[P](raw) }
	i.decodeStored = func(raw []byte) (any, error) { return guard.DecodeStored[P](raw) }
	for _, o := range opts {
		o(i)
	}
	return Event[P]{i}
}

// Info is the declaration; nil for the zero Event.
func (e Event[P]) Info() *EventInfo { return e.info }

func (e Event[P]) event() {}

// With is the proposal of this event with this payload. It counts as the model's until As says otherwise.
func (e Event[P]) With(p P) Proposal { return Proposal{event: e.info, payload: p, actor: guard.Model} }

// Decode makes a proposal of the model's from raw JSON, strictly; errors wrap [guard.ErrForm].
func (i *EventInfo) Decode(raw []byte) (Proposal, error) {
	p, err := i.decode(raw)
	if err != nil {
		return Proposal{}, err
	}
	return Proposal{event: i, payload: p, actor: guard.Model, checked: true}, nil
}

func changedEvent[T any](fact *guard.FactInfo) *EventInfo {
	e := NewEvent[Changed[T]](fact.Name + ".changed")
	e.info.internal = true
	return e.info
}

// Changed is the payload of an edge that evidence drives.
type Changed[T any] struct {
	Subject string `json:"subject"`
	Is      T      `json:"is"`
}

// about is the subject of the evidence.
func (c Changed[T]) about() string { return c.Subject }
