package desk

import (
	"strconv"
	"sync"
	"time"

	"github.com/pawlgo/pawl/guard"
	"github.com/pawlgo/pawl/machine"
)

// talk is what the channel knows of the order of its messages: which question it showed last, until the customer writes. A channel
// that has forgotten it, after a restart, vouches for nothing, and the question is asked once more.
type talk struct {
	mu    sync.Mutex
	count int
	offer string // whose question the last message put, and no other; "" when there is none
	last  guard.Shown
}

// showed notes that a message was delivered, with the questions of these offers.
func (t *talk) showed(offers []machine.OpenOffer, at time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.count++
	if t.offer = ""; len(offers) == 1 {
		t.offer, t.last = offers[0].ID, guard.Shown{Message: "message/" + strconv.Itoa(t.count), At: at}
	}
}

// before is the message that put the question of the offer, when it is the last that was shown and the customer writes for the first
// time since.
func (t *talk) before(offer string) *guard.Shown {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.offer != offer {
		return nil
	}
	shown := t.last
	t.offer = ""
	return &shown
}
