package replay

import (
	"slices"
	"strings"
)

// binding is where in a recorded conversation a write was listed, and what the customer said to that.
type binding struct {
	listed int // index of the assistant's message; -1 when no message names what the write is about
	reply  int // index of the customer's next message
}

// bindingOf finds the last message of the assistant that names all that a write is about, and that the customer has answered
// before the write. A recording holds no structured listings, so that this is the most that can be said for its consent.
func bindingOf(events []Event, write int, subjects []string) binding {
	reply := -1
	for i := write - 1; i >= 0; i-- {
		switch e := events[i]; {
		case e.Type == Customer:
			reply = i
		case e.Type == Assistant && reply >= 0 && names(e, subjects):
			return binding{i, reply}
		}
	}
	return binding{-1, -1}
}

func names(e Event, subjects []string) bool {
	for _, s := range subjects {
		if !slices.Contains(e.IDs, s) && !strings.Contains(e.Text, s) {
			return false
		}
	}
	return len(subjects) > 0
}

// How a recorded write stands with the customer's consent.
type consent string

const (
	bound    consent = "bound"       // listed, and answered with an explicit yes
	askAgain consent = "asked again" // listed, and answered with a yes among other words: the machine asks once more
	unlisted consent = "not listed"  // no message that the customer has answered names what was written
	noYes    consent = "no yes"      // listed, and the answer is no clear yes
)

// unbound tells whether nothing that the customer said agrees to the write.
func (c consent) unbound() bool { return c == unlisted || c == noYes }

// consentOf judges a write by what was recorded; heard is whether the machine itself took the words for a yes.
func consentOf(events []Event, b binding, heard bool) consent {
	switch {
	case heard:
		return bound
	case b.listed < 0:
		return unlisted
	case events[b.reply].Consent == "strict":
		return askAgain
	}
	return noYes
}
