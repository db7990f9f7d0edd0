package guard

import (
	"fmt"
	"math/bits"
)

// The codes of a [Collar] that denies.
const (
	CodeOutsideCollar = "outside_collar" // the price is too far from the reference
	CodeNoReference   = "no_reference"   // the reference is no price
)

// MaxBasisPoints is the widest collar in parts of ten thousand: the whole reference.
const MaxBasisPoints = 10_000

// Collar bounds how far a price may lie from a reference, in whole numbers of the same unit: cents, ticks. Both bounds hold where both
// are given; the zero Collar lets nothing pass.
type Collar struct {
	BasisPoints int64 // parts of ten thousand of the reference, 1 to MaxBasisPoints; 0 is no bound
	Units       int64 // above zero; 0 is no bound
}

// Check judges a price, which may not be below zero, against a reference, which must be above. What lies exactly on the bound passes.
func (c Collar) Check(price, reference int64) Verdict {
	switch {
	case c == Collar{} || c.BasisPoints < 0 || c.BasisPoints > MaxBasisPoints || c.Units < 0:
		return Deny(CodeOutsideCollar, "the collar is not set")
	case reference <= 0:
		return Deny(CodeNoReference, fmt.Sprintf("the reference is %d", reference))
	case price < 0:
		return Deny(CodeOutsideCollar, fmt.Sprintf("the price is %d", price))
	}
	apart := uint64(max(price-reference, reference-price))
	switch {
	case c.Units > 0 && apart > uint64(c.Units):
		return Deny(CodeOutsideCollar, fmt.Sprintf("%d is %d away from the reference %d, at most %d", price, apart, reference, c.Units))
	case c.BasisPoints > 0 && exceeds(apart, MaxBasisPoints, uint64(reference), uint64(c.BasisPoints)):
		return Deny(CodeOutsideCollar, fmt.Sprintf("%d is further from the reference %d than %d parts of %d", price, reference, c.BasisPoints, MaxBasisPoints))
	}
	return Allow()
}

// exceeds tells whether a times b is more than x times y, whatever their size.
func exceeds(a, b, x, y uint64) bool {
	high, low := bits.Mul64(a, b)
	most, rest := bits.Mul64(x, y)
	return high > most || high == most && low > rest
}

// Collared is a guard: one fact, a price, lies within the collar around another, the reference. Each is unknown until it is observed; give
// the reference the shortest age that the market allows. When the proposal is about several subjects, the price of each must lie
// around the reference of the same subject, and around that of each when the reference is about another kind of thing; when it is about
// none it denies (names_nothing). The bounds stand in the guard's name, so another collar is another definition.
func Collared(price, reference Fact[int64], within Collar) Guard {
	name := named(price) + "_within" + within.bounds() + "_of_" + named(reference)
	return New(name, func(s *Scene) Verdict {
		prices, lacking := s.each(price.info, price.subject)
		if lacking != "" {
			return Deny(CodeNamesNothing, "the proposal names no "+lacking)
		}
		var verdicts []Verdict
		for _, id := range prices {
			around := []string{id}
			if !sameSubject(price, reference) {
				if around, lacking = s.each(reference.info, reference.subject); lacking != "" {
					return Deny(CodeNamesNothing, "the proposal names no "+lacking)
				}
			}
			for _, about := range around {
				verdicts = append(verdicts, within.judge(s, price.Of(id), reference.Of(about)))
			}
		}
		return Both(verdicts...)
	}, price, reference)
}

func (c Collar) judge(s *Scene, price, reference Fact[int64]) Verdict {
	p, known := price.Get(s)
	r, also := reference.Get(s)
	if !known || !also {
		return Verdict{} // what is missing makes it unknown
	}
	return c.Check(p, r)
}

// sameSubject tells whether two facts are about whatever the proposal names of one kind.
func sameSubject(a, b Fact[int64]) bool {
	return a.info != nil && b.info != nil && a.subject == "" && b.subject == "" && a.info.About != "" && a.info.About == b.info.About
}

// each are the subjects that a fact is judged about: the one that is named, or those of its kind that the proposal names. lacking is the
// kind of which it names none.
func (s *Scene) each(info *FactInfo, subject string) (ids []string, lacking string) {
	if subject != "" || info == nil || info.About == "" {
		return []string{subject}, ""
	}
	if ids = s.Subjects(info.About); len(ids) == 0 {
		return nil, info.About
	}
	return ids, ""
}

func (c Collar) bounds() (text string) {
	if c.BasisPoints != 0 {
		text += fmt.Sprintf("_%dbp", c.BasisPoints)
	}
	if c.Units != 0 {
		text += fmt.Sprintf("_%d", c.Units)
	}
	return text
}
