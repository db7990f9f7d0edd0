package guard

import (
	"fmt"
	"reflect"
	"regexp"
	"time"
	"unicode/utf8"
)

// Limits of declarations and keys.
const (
	MaxName    = 64  // bytes of a fact's, event's, state's, effect's or machine's name
	MaxSubject = 256 // bytes of a subject's id
	MaxRef     = 256 // bytes of an observation's reference
)

var namePattern = regexp.MustCompile(`^[a-z][a-z0-9_]{0,63}$`)

// CheckName says whether a name may be declared: a lower-case letter, then at most 63 lower-case letters,
// digits and underscores. Names are stored, shown to models as tool names, and written in tables.
func CheckName(name string) error {
	if !namePattern.MatchString(name) {
		return fmt.Errorf("name %.80q must be a lower-case letter and at most %d more of a-z, 0-9 and _", name, MaxName-1)
	}
	return nil
}

// Order says how observations of a fact are put in order, so that late and shuffled ones end in the same facts.
type Order string

// The orders. The zero Order means [BySourceTime].
const (
	BySourceTime Order = "source_time" // the source's own time; the default
	BySequence   Order = "sequence"    // a number that the source raises with every change
	ByArrival    Order = "arrival"     // the last one to come in counts
)

// FactInfo is the declaration of a fact as data. Read it only.
type FactInfo struct {
	Name     string
	Source   string        // the one authority that may evidence it
	About    string        // kind of subject; "" is the task itself
	MaxAge   time.Duration // how old evidence may be; 0 only when Lasting or Volatile
	Lasting  bool          // never goes stale
	Volatile bool          // observed for the commit that uses it, never kept in the snapshot
	Hidden   bool          // must not be shown to a model
	Dated    bool          // an observation without its source's time is none
	Order    Order
	Type     reflect.Type

	decode       func([]byte) (any, error)
	decodeStored func([]byte) (any, error)
	own          func(v any, raw []byte) (any, error)
	same         func(a, b any) bool
}

// Decode reads a value of the fact from JSON, strictly; errors wrap [ErrForm].
func (i *FactInfo) Decode(raw []byte) (any, error) { return i.decode(raw) }

// DecodeStored reads a value that was stored before.
func (i *FactInfo) DecodeStored(raw []byte) (any, error) { return i.decodeStored(raw) }

// Same tells whether two values of the fact are equal.
func (i *FactInfo) Same(a, b any) bool { return i.same(a, b) }

// Faults are what is wrong with the declaration; Build reports them with all others.
func (i *FactInfo) Faults() []string {
	var out []string
	if err := CheckName(i.Name); err != nil {
		out = append(out, err.Error())
	}
	if i.Source == "" {
		out = append(out, "has no authority: declare it with From")
	}
	switch ages := btoi(i.MaxAge != 0) + btoi(i.Lasting) + btoi(i.Volatile); {
	case ages == 0:
		out = append(out, "never goes stale: give it MaxAge, Volatile or Lasting")
	case ages > 1:
		out = append(out, "has more than one of MaxAge, Volatile and Lasting")
	case i.MaxAge < 0:
		out = append(out, "has a negative MaxAge")
	}
	if i.Order != BySourceTime && i.Order != BySequence && i.Order != ByArrival {
		out = append(out, fmt.Sprintf("has the unknown order %q", i.Order))
	}
	if len(i.Source) > MaxName || !utf8.ValidString(i.Source) {
		out = append(out, fmt.Sprintf("has an authority of %d bytes: at most %d of UTF-8", len(i.Source), MaxName))
	}
	return out
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

// AnyFact is a [Fact] of any type, for lists of facts. Only Fact implements it.
type AnyFact interface {
	// Info is the declaration; nil for the zero Fact.
	Info() *FactInfo
	// Subject is the id set by Of, or "".
	Subject() string

	fact()
}

// Fact is one thing that a task may believe, kept per subject, with the authority behind it. The zero Fact is
// unusable and Build says so. Safe for concurrent use.
type Fact[T any] struct {
	info    *FactInfo
	subject string
}

// FactOption refines the declaration of a fact.
type FactOption func(*FactInfo)

// MaxAge bounds how old evidence may be when a guard looks at it, counted from the source's own time.
func MaxAge(d time.Duration) FactOption { return func(i *FactInfo) { i.MaxAge = d } }

// Lasting says that the fact never goes stale: a receipt, a date of birth.
func Lasting() FactOption { return func(i *FactInfo) { i.Lasting = true } }

// Volatile keeps the fact out of the snapshot: it is observed for the commit that uses it and kept in the
// history entry of that commit.
func Volatile() FactOption { return func(i *FactInfo) { i.Volatile = true } }

// About says what kind of thing the fact is about. The subject's id is taken from the field that carries the
// tag about:"KIND" in the payload or in the task's data. Without About a fact is about the task itself.
func About(kind string) FactOption { return func(i *FactInfo) { i.About = kind } }

// Hidden keeps the fact's value away from models: no decision may show it.
func Hidden() FactOption { return func(i *FactInfo) { i.Hidden = true } }

// Dated refuses an observation that does not carry its source's own time (undated), pulled or pushed. Without it such an
// observation counts as of when it came in, which is right for an answer to a question of ours, and a guess for a webhook
// that may have been on its way for days (field case B076).
func Dated() FactOption { return func(i *FactInfo) { i.Dated = true } }

// Ordered says how observations are put in order. A figure that only grows, such as all that was refunded of a payment, is its own
// sequence: with BySequence and the figure as Seq, deliveries in any order and any number end at the largest, and nothing is
// summed up (field case B078).
func Ordered(o Order) FactOption { return func(i *FactInfo) { i.Order = o } }

// NewFact declares a fact. Faults of the declaration are reported by Build, with all others.
func NewFact[T any](name string, from Source, opts ...FactOption) Fact[T] {
	i := &FactInfo{Name: name, Source: from.name, Order: BySourceTime, Type: reflect.TypeFor[T]()}
	i.decode = func(raw []byte) (any, error) { return Decode[T](raw) }
	i.decodeStored = func(raw []byte) (any, error) { return DecodeStored[T](raw) }
	i.own = ownFor[T](i)
	i.same = sameFor[T]()
	for _, o := range opts {
		o(i)
	}
	return Fact[T]{info: i}
}

// Info is the declaration; nil for the zero Fact.
func (f Fact[T]) Info() *FactInfo { return f.info }

// Subject is the id set by Of, or "".
func (f Fact[T]) Subject() string { return f.subject }

func (f Fact[T]) fact() {}

// Of is the same fact about a named subject, whatever payload and data name.
func (f Fact[T]) Of(subject string) Fact[T] { return Fact[T]{f.info, subject} }

// Looker is where facts can be looked up: a [Scene] or [Case] inside a guard, [Facts] of a snapshot outside.
type Looker interface {
	look(i *FactInfo, subject string) (*Entry, bool)
}

// Get is the value, when it is known and, inside a guard, fresh enough; else the zero value. Inside a guard, and in what
// makes an effect or an offer, a miss is remembered and makes the verdict unknown, so the bool may be ignored there.
func (f Fact[T]) Get(l Looker) (T, bool) {
	if e, ok := l.look(f.info, f.subject); ok {
		v, isT := e.Value.(T)
		return v, isT
	}
	var none T
	return none, false
}
