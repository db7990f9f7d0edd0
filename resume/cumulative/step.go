package cumulative

import (
	"errors"
	"fmt"
	"math"
)

var (
	// ErrStep is wrapped by errors about a [Step] that is none: no operation could be told from its figures.
	ErrStep = errors.New("not a step")
	// ErrMoved is wrapped by errors about a figure that is neither the base nor the target: somebody else changed it.
	ErrMoved = errors.New("the figure moved otherwise")
	// ErrCurrency is wrapped by errors about a figure in another currency: it cannot be compared.
	ErrCurrency = errors.New("the figure is in another currency")
)

// Figure is what a provider reports as the sum so far, in the smallest units of a currency. The zero Figure has no currency and
// compares with nothing.
type Figure struct {
	Minor    int64  `json:"minor"`
	Currency string `json:"currency"`
}

// String is the figure as "7000 EUR": smallest units, then the currency.
func (f Figure) String() string { return fmt.Sprintf("%d %s", f.Minor, f.Currency) }

// Step is one operation on a figure that only grows: from the base, which the provider reported when the effect was intended, by an
// amount, both in the smallest units of one currency. It is part of an effect's arguments, and is stored with them. The zero Step is none.
type Step struct {
	Base     int64  `json:"base"`     // 0 or more
	Amount   int64  `json:"amount"`   // above zero
	Currency string `json:"currency"` // as the provider writes it
}

// Target is the figure once the operation has happened, and it alone. The error wraps [ErrStep]: a base below zero, an amount that is not
// above zero, no currency, or a sum that int64 cannot hold. Guard the edge that emits the effect with it.
func (s Step) Target() (Figure, error) {
	switch {
	case s.Base < 0 || s.Amount <= 0 || s.Currency == "":
		return Figure{}, fmt.Errorf("from %d by %d %q: %w", s.Base, s.Amount, s.Currency, ErrStep)
	case s.Base > math.MaxInt64-s.Amount:
		return Figure{}, fmt.Errorf("from %d by %d: the sum is too large: %w", s.Base, s.Amount, ErrStep)
	}
	return Figure{s.Base + s.Amount, s.Currency}, nil
}

// Happened says what a figure tells of the operation: true at base and amount, false at the base. Anything else is an error that
// wraps [ErrMoved], [ErrCurrency] or [ErrStep]: nobody can tell.
func (s Step) Happened(now Figure) (bool, error) {
	target, err := s.Target()
	switch {
	case err != nil:
		return false, err
	case now.Currency != s.Currency:
		return false, fmt.Errorf("it says %s, and %s was intended: %w", now, s.Currency, ErrCurrency)
	case now == target:
		return true, nil
	case now.Minor == s.Base:
		return false, nil
	}
	return false, fmt.Errorf("it says %s, which is neither %d nor %d: %w", now, s.Base, target.Minor, ErrMoved)
}

// Match says whether a receipt with this figure is one of the operation: what was added since the base must be the amount. The error
// wraps those of Happened, and [ErrMoved] when nothing was added.
func (s Step) Match(after Figure) error {
	happened, err := s.Happened(after)
	if err == nil && !happened {
		err = fmt.Errorf("it still says %s: %w", after, ErrMoved)
	}
	return err
}
