package main

import (
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/pawlgo/pawl/examples/trading/exchange"
	"github.com/pawlgo/pawl/examples/trading/price"
	"github.com/pawlgo/pawl/examples/trading/trading"
)

// note is a line of prose that an agent has left for itself.
type note struct {
	at   time.Time
	text string
}

func (n note) String() string { return at(n.at) + " " + n.text }

// at is an instant as the story writes it.
func at(t time.Time) string { return t.In(trading.Taipei).Format("15:04") }

// pages are the notes as the agent finds them.
func pages(notes []note) string {
	lines := make([]string, len(notes))
	for i, n := range notes {
		lines[i] = n.String()
	}
	return strings.Join(lines, "\n")
}

var number = regexp.MustCompile(`\b[0-9]{3}\b`)

// lastNumber is how an agent without anything better finds its stop: the last line that was written by then, and in it the last number
// that looks like a price. Nothing says which line is in force.
func lastNumber(notes []note, now time.Time) (price.Decimal, bool) {
	var found string
	for _, n := range notes {
		if hits := number.FindAllString(n.text, -1); len(hits) > 0 && !n.at.After(now) {
			found = hits[len(hits)-1]
		}
	}
	stop, err := price.Parse(found)
	return stop, err == nil
}

// byNotes is the same day of an agent that goes by its notes: the price at which it sold, if it did, and what it saw on the way.
func byNotes(notes []note, day []exchange.Tick) (sold price.Decimal, told []string) {
	for _, t := range day {
		stop, has := lastNumber(notes, t.At)
		switch {
		case !has:
			told = append(told, fmt.Sprintf("%s price %s: no number in the notes, it holds", at(t.At), t.Last))
		case t.Last.Cmp(stop) > 0:
			told = append(told, fmt.Sprintf("%s price %s: the last number in the notes is %s, it holds", at(t.At), t.Last, stop))
		default:
			return t.Last, append(told, fmt.Sprintf("%s price %s: the last number in the notes is %s, it sells", at(t.At), t.Last, stop))
		}
	}
	return sold, told
}
