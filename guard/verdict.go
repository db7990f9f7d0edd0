package guard

import (
	"maps"
	"slices"
)

type kind int8

const (
	nothing kind = iota
	deny
	unknown
	ask
	allow
)

// Verdict is what a guard says: allow, deny, unknown (names what is missing) or ask (gives the question). The zero
// Verdict denies. A value; safe for concurrent use.
type Verdict struct {
	kind    kind
	code    string
	text    string
	missing []Key
	details map[string]any
}

// Codes that the framework itself gives; a guard's own codes stand beside them. All are stable and stored.
const (
	CodeUnknown      = "unknown"       // a fact is unknown or stale
	CodeAsk          = "ask"           // a person must be asked
	CodeGuardFault   = "guard_fault"   // the guard panicked, or looked at what it had not declared
	CodeNamesNothing = "names_nothing" // the proposal is about nothing of the kind that the guard is about
)

// stuck verdicts say nothing about the world: the guard is at fault, or had nothing to judge. They deny, and Not
// cannot turn them into an allowance.
func (v Verdict) stuck() bool {
	return v.kind == nothing || v.kind == deny && (v.code == CodeGuardFault || v.code == CodeNamesNothing)
}

// Allow lets the proposal pass this guard.
func Allow() Verdict { return Verdict{kind: allow} }

// Deny refuses. The code is stable and stored; the text is fixed prose that the model may read.
func Deny(code, text string) Verdict { return Verdict{kind: deny, code: code, text: text} }

// Ask refuses for now and gives the question that would decide it.
func Ask(question string) Verdict { return Verdict{kind: ask, code: CodeAsk, text: question} }

// Missing refuses until the named facts are known.
func Missing(keys ...Key) Verdict {
	return Verdict{kind: unknown, code: CodeUnknown, missing: keys}
}

// With adds a detail that the proposer may read, as data: the text stays fixed prose.
func (v Verdict) With(name string, value any) Verdict {
	d := maps.Clone(v.details)
	if d == nil {
		d = map[string]any{}
	}
	d[name] = value
	v.details = d
	return v
}

// Allowed tells whether the guard lets the proposal pass.
func (v Verdict) Allowed() bool { return v.kind == allow }

// Denied tells whether it refuses on what is known.
func (v Verdict) Denied() bool { return v.kind == deny || v.kind == nothing }

// Unknown tells whether it could not decide; Missing names why.
func (v Verdict) Unknown() bool { return v.kind == unknown }

// Asks tells whether a person must be asked; Text is the question.
func (v Verdict) Asks() bool { return v.kind == ask }

// Code is the stable reason; "" when allowed.
func (v Verdict) Code() string { return v.code }

// Text is the reason in words, or the question.
func (v Verdict) Text() string {
	if v.kind != unknown {
		return v.text
	}
	b := append(make([]byte, 0, 128), "needs "...)
	for i, k := range v.missing {
		if i > 0 {
			b = append(b, ", "...)
		}
		b = k.append(b)
	}
	return string(b)
}

// Missing are the facts that a verdict of unknown waits for.
func (v Verdict) Missing() []Key { return v.missing }

// Details of a refusal, for the proposer.
func (v Verdict) Details() map[string]any { return v.details }

// Both is the Kleene and: denied when one denies, else unknown when one is unknown, else asks when one asks. Of
// several that deny, the first gives the reason, unless a guard is at fault; what is missing is gathered from all.
// Of none it allows.
func Both(verdicts ...Verdict) Verdict {
	worst := Allow()
	for _, v := range verdicts {
		if v.kind < worst.kind || v.stuck() && !worst.stuck() {
			worst = v
		}
	}
	return gathered(worst, verdicts)
}

// Either is the Kleene or: allowed when one allows, whatever the others do not know. Of several that deny, the first
// gives the reason, unless a guard is at fault. Of none it denies (none_of).
func Either(verdicts ...Verdict) Verdict {
	if len(verdicts) == 0 {
		return Deny("none_of", "there is nothing that could hold")
	}
	best := verdicts[0]
	for _, v := range verdicts[1:] {
		if v.kind > best.kind && !(v.kind == deny && best.stuck()) || v.stuck() && best.Denied() && !best.stuck() {
			best = v
		}
	}
	return gathered(best, verdicts)
}

// gathered adds to a verdict of unknown what the others miss.
func gathered(v Verdict, all []Verdict) Verdict {
	if v.kind != unknown || len(all) < 2 {
		return v
	}
	most := 0
	for _, o := range all {
		most += len(o.missing)
	}
	missing := make([]Key, 0, most)
	for _, o := range all {
		for _, k := range o.missing {
			if !slices.Contains(missing, k) {
				missing = append(missing, k)
			}
		}
	}
	if len(missing) == len(v.missing) {
		return v
	}
	return Missing(missing...)
}
