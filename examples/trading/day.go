package main

import (
	"time"

	"github.com/pawlgo/pawl/examples/trading/desk"
	"github.com/pawlgo/pawl/examples/trading/exchange"
	"github.com/pawlgo/pawl/examples/trading/price"
	"github.com/pawlgo/pawl/examples/trading/trading"
)

// clock is an instant of the day.
func clock(hour, minute int) time.Time {
	return time.Date(2026, time.August, 13, hour, minute, 0, 0, trading.Taipei)
}

var (
	opens  = clock(9, 0)
	closes = clock(13, 30)
	held   = price.Must("2000") // shares
	moved  = price.Must("500")  // that come in from another account

	// mandate is what the operator allows for the day.
	mandate = trading.Mandate{Low: price.Must("235"), High: price.Must("290"), Most: price.Must("3000"), Lot: price.Must("1000")}

	// prices are those of the day.
	prices = []exchange.Tick{
		{At: opens, Symbol: desk.Symbol, Last: price.Must("264")},
		{At: clock(9, 30), Symbol: desk.Symbol, Last: price.Must("266.5")},
		{At: clock(10, 7), Symbol: desk.Symbol, Last: price.Must("261")},
		{At: clock(11, 20), Symbol: desk.Symbol, Last: price.Must("256")},
	}

	// notes are what the agent has written to itself, in prose.
	notes = []note{
		{clock(9, 4), "stop for 2317: 262, exit on break"},
		{clock(9, 20), "thinking about it, 254 would give it more room"},
		{clock(9, 40), "or meet in the middle: 257"},
	}
)

// What the scripted model answers.
const (
	exitIt     = `{"event":"exit_position","payload":{"rule":"stop_loss.2317"}}`
	claimIt    = `{"event":"exit_position","payload":{"rule":"stop_loss.2317","price":"261","quantity":"9000"}}`
	holdIt     = `{"event":"hold","payload":{"text":"266.5 is above the stop"}}`
	holdByNote = `{"event":"hold","payload":{"text":"my last note says 257, and 261 is above it"}}`
	holdOn     = `{"event":"hold","payload":{"text":"above the 254 that stands"}}`
)
