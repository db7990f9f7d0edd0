package machine

import (
	"errors"
	"reflect"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/pawlgo/pawl/guard"
)

// EffectKind is the kind of subject of receipts: the key of an intent.
const EffectKind = "effect"

// EffectInfo is the declaration of an effect as data. Read it only.
type EffectInfo struct {
	Name    string
	Args    reflect.Type
	Receipt *guard.FactInfo
	Within  time.Duration // how long after its commit an intent may still be sent; 0 is for ever
	While   []guard.Guard // what must still hold whenever it is sent; see SendWhile
	// Retention is how long the provider honours the key; 0 is DefaultKeyRetention, below 0 not at all.
	Retention time.Duration

	receipt           any // the guard.Fact of its type
	confirmed, failed *EventInfo
	decodeStored      func([]byte) (any, error)
	match             func(args, receipt any) error
}

// AnyEffect is an [Effect] of any types. Only Effect implements it.
type AnyEffect interface {
	// Info is the declaration; nil for the zero Effect.
	Info() *EffectInfo

	effect()
}

// Effect is a wish to act on the world: arguments E, and R the receipt that proves that it happened (law 8). The zero
// Effect is refused by Build. Safe for concurrent use.
type Effect[E, R any] struct{ info *EffectInfo }

// Settled is the payload of an effect's own events.
type Settled struct {
	Key    string `json:"key" about:"effect"`
	Reason string `json:"reason,omitempty"`
}

// EffectOption refines an effect.
type EffectOption[E, R any] func(*EffectInfo)

// Matching says what a receipt must agree with: amount, currency, payee. An error refuses the receipt
// (receipt_differs), and the intent stays unsettled until somebody has looked.
func Matching[E, R any](match func(E, R) error) EffectOption[E, R] {
	return func(i *EffectInfo) {
		i.match = func(args, receipt any) error { return match(args.(E), receipt.(R)) }
	}
}

// SendWithin bounds how long after its commit an intent may be sent. Later one that surely was not sent fails, and one that may have
// been is only looked up: it is not sent again, even where the provider has nothing under its key.
func SendWithin[E, R any](d time.Duration) EffectOption[E, R] {
	return func(i *EffectInfo) { i.Within = d }
}

// SendWhile says what must still hold whenever an intent is sent: right before, each fact that the guards read and that has an observer
// is observed again. When it no longer holds, an intent that surely was not sent fails, and one that may have been is only looked up;
// while it cannot be told, nothing is sent. The guards see no principal.
func SendWhile[E, R any](guards ...guard.Guard) EffectOption[E, R] {
	return func(i *EffectInfo) { i.While = append(i.While, guards...) }
}

// DefaultKeyRetention is how long a provider is taken to honour an idempotency key when the effect does not say.
const DefaultKeyRetention = 24 * time.Hour

// KeysKept says for how long after the first attempt the provider honours the idempotency key. Only within that time is an effect
// that it surely does not have sent again; later it could happen twice (case B009), and is only looked up.
func KeysKept[E, R any](d time.Duration) EffectOption[E, R] {
	return func(i *EffectInfo) { i.Retention = d }
}

// TriedOnce says that the provider honours no key: what may have been sent is never sent again.
func TriedOnce[E, R any]() EffectOption[E, R] {
	return func(i *EffectInfo) { i.Retention = -1 }
}

// MayRepeat tells whether an effect that was first sent then, and that the provider surely does not have, may be sent again.
func (i *EffectInfo) MayRepeat(first, now time.Time) bool {
	if i.Retention == 0 {
		return now.Sub(first) < DefaultKeyRetention
	}
	return now.Sub(first) < i.Retention
}

// NewEffect declares an effect. The receipt must be a fact About [EffectKind], so that an older payment of the same order
// never proves this one.
func NewEffect[E, R any](name string, receipt guard.Fact[R], opts ...EffectOption[E, R]) Effect[E, R] {
	confirmed, failed := NewEvent[Settled](name+".confirmed").info, NewEvent[Settled](name+".failed").info
	confirmed.internal, failed.internal = true, true
	info := &EffectInfo{Name: name, Args: reflect.TypeFor[E](), Receipt: receipt.Info(), receipt: receipt, confirmed: confirmed, failed: failed}
	info.decodeStored = func(raw []byte) (any, error) { return guard.DecodeStored[E](raw) }
	for _, o := range opts {
		o(info)
	}
	return Effect[E, R]{info}
}

// Info is the declaration; nil for the zero Effect.
func (e Effect[E, R]) Info() *EffectInfo { return e.info }

func (e Effect[E, R]) effect() {}

// Confirmed is the event by which an intent ends well: it needs the receipt. Each state in which an intent can be
// unsettled has an edge for it.
func (e Effect[E, R]) Confirmed() Event[Settled] { return Event[Settled]{e.declared().confirmed} }

// Failed is the event by which an intent ends without having happened: a definite refusal, or never sent. Each state in
// which an intent can be unsettled has an edge for it.
func (e Effect[E, R]) Failed() Event[Settled] { return Event[Settled]{e.declared().failed} }

// Receipt is the fact that proves it.
func (e Effect[E, R]) Receipt() guard.Fact[R] {
	r, _ := e.declared().receipt.(guard.Fact[R])
	return r
}

// declared is the declaration; one without events and receipt for the zero Effect, which Build refuses.
func (e Effect[E, R]) declared() *EffectInfo {
	if e.info == nil {
		return &EffectInfo{}
	}
	return e.info
}

// ConfirmedBy tells which key of the effect an entry of the history confirms.
func (i *EffectInfo) ConfirmedBy(e Entry) (key string, ok bool) {
	if e.Event != i.confirmed.Name {
		return "", false
	}
	v, err := i.confirmed.decodeStored(e.Payload)
	s, ok := v.(Settled)
	return s.Key, ok && err == nil
}

const idleSuffix = "_idle"

// Idle is a guard: no intent of this effect is without an outcome.
func (e Effect[E, R]) Idle() guard.Guard {
	name := e.info.Name
	return guard.New(name+idleSuffix, func(s *guard.Scene) guard.Verdict {
		if s.Unsettled(name) > 0 {
			return guard.Deny(CodeUnderWay, "an earlier "+name+" has no outcome yet")
		}
		return guard.Allow()
	})
}

// Confirm is the controller's proposal that ends an intent with its receipt.
func (i *EffectInfo) Confirm(key string) Proposal {
	return Proposal{event: i.confirmed, payload: Settled{Key: key}, actor: guard.Worker, checked: true}
}

// Fail is the controller's proposal that ends an intent that surely did not happen. The reason is cut to [MaxReason].
func (i *EffectInfo) Fail(key, reason string) Proposal {
	return Proposal{event: i.failed, payload: Settled{key, clip(reason, MaxReason)}, actor: guard.Worker, checked: true}
}

// IntentStatus says how far an effect has come in the task's own record. What a worker did meanwhile, sent or unknown,
// stands in the store's effect row until evidence settles it.
type IntentStatus string

// The statuses of an intent.
const (
	Intended  IntentStatus = "intent"
	Confirmed IntentStatus = "confirmed"
	Failed    IntentStatus = "failed"
	Withdrawn IntentStatus = "withdrawn" // taken back before it was sent
)

// Intent is one effect of one commit.
type Intent struct {
	Effect    string       `json:"effect"`
	Key       string       `json:"key"` // stable, and stored with the intent: the provider's idempotency key
	Operation uint64       `json:"operation"`
	Args      any          `json:"args"`
	Status    IntentStatus `json:"status"`
	Since     uint64       `json:"since"`             // the version that intended it
	Settled   uint64       `json:"settled,omitempty"` // the version that settled it
	At        time.Time    `json:"at"`
	Holds     []Hold       `json:"holds,omitempty"` // what it takes of shared resources until it is settled
}

// Unsettled tells whether the intent has no outcome yet.
func (i Intent) Unsettled() bool { return i.Status == Intended }

// Job is what an effect's handler gets.
type Job[E any] struct {
	Task    string
	Key     string // send it to the provider as the idempotency key
	Args    E
	Attempt int // 1 for the first
}

// Class says what is known after an attempt that gave no receipt. The zero Class is ClassUncertain: an error that says
// nothing about itself may have happened.
type Class int

// The classes.
const (
	ClassUncertain Class = iota // it may have happened: looked up, never sent again blindly
	ClassNotSent                // nothing left this process: sent again later
	ClassRefused                // the provider definitely refused it
)

type classified struct {
	error
	class Class
}

func (c classified) Unwrap() error { return c.error }

// NotSent marks a handler's error as one before anything left: the intent is tried again.
func NotSent(err error) error { return classified{err, ClassNotSent} }

// Declined marks a handler's error as a definite refusal by the provider.
func Declined(err error) error { return classified{err, ClassRefused} }

// ClassOf is what a handler's error says about itself.
func ClassOf(err error) Class {
	var c classified
	if errors.As(err, &c) {
		return c.class
	}
	return ClassUncertain
}

// clip cuts a text to at most n bytes of whole characters, and drops what is no UTF-8.
func clip(s string, n int) string {
	s = strings.ToValidUTF8(s, "")
	if len(s) <= n {
		return s
	}
	for !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}
