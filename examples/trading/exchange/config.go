package exchange

import (
	"errors"
	"fmt"
	"time"

	"github.com/pawlgo/pawl/examples/trading/price"
)

// Tick is the price of an instrument from an instant on.
type Tick struct {
	At     time.Time     `json:"at"`
	Symbol string        `json:"symbol"`
	Last   price.Decimal `json:"last"`
}

// Config is a day at the exchange. It is JSON, since a parent process hands it to a child.
type Config struct {
	// Now is the time to begin with.
	Now time.Time `json:"now"`
	// Opens and Closes bound the hours of trading; at the very instant of Closes nothing trades any more.
	Opens  time.Time `json:"opens"`
	Closes time.Time `json:"closes"`
	// Prices are the day's prices, each instrument's in order of time.
	Prices []Tick `json:"prices"`
	// Positions are what the account holds, by instrument.
	Positions map[string]price.Decimal `json:"positions"`
	// Cash is what the account can pay with.
	Cash price.Decimal `json:"cash"`
}

func (c Config) check() error {
	if !c.Opens.Before(c.Closes) {
		return errors.New("exchange: it closes before it opens")
	}
	last := map[string]time.Time{}
	for _, t := range c.Prices {
		if t.Symbol == "" || t.Last.Sign() <= 0 || !t.At.After(last[t.Symbol]) {
			return fmt.Errorf("exchange: the price of %q at %s is none, or not in order", t.Symbol, t.At.Format(time.RFC3339))
		}
		last[t.Symbol] = t.At
	}
	return nil
}
