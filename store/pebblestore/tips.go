package pebblestore

import (
	"hash/maphash"
	"sync"

	"github.com/pawlgo/pawl/store"
)

// tips are the durable tips of tasks that have no unsettled effect, so that the tip alone tells everything about the task: its
// newest record can be got by its key. A tip lies in one line of the processor's cache, where an entry takes four or five. A task
// has two places, and the tip that it finds there goes when both are taken.
//
// A task is known by 128 bits of two hashes under seeds of this process, so that nobody can make two tasks that share them.
type tips struct {
	seeds [2]maphash.Seed
	mask  uint64
	locks [tipLocks]struct {
		sync.Mutex
		_ [56]byte // keeps two of them on two cache lines
	}
	slots []tipSlot
}

const (
	tipLocks = 256
	slotSize = 64 // bytes
)

// tipSlot is free if its version is zero.
type tipSlot struct {
	name [2]uint64
	tip  store.Tip
	_    [slotSize - 16 - 40]byte
}

// newTips remembers about that many.
func newTips(most int) *tips {
	n := 2
	for n < 2*most {
		n *= 2
	}
	return &tips{seeds: [2]maphash.Seed{maphash.MakeSeed(), maphash.MakeSeed()}, mask: uint64(n - 1), slots: make([]tipSlot, n)}
}

// find locks the two places of a task; the caller unlocks them.
func (t *tips) find(task string) (name [2]uint64, places []tipSlot, locked *sync.Mutex) {
	name = [2]uint64{maphash.String(t.seeds[0], task), maphash.String(t.seeds[1], task)}
	i := name[0] & t.mask &^ 1
	locked = &t.locks[i/2%tipLocks].Mutex
	locked.Lock()
	return name, t.slots[i : i+2], locked
}

// get is the durable tip of a task, if it is remembered.
func (t *tips) get(task string) (store.Tip, bool) {
	name, places, locked := t.find(task)
	defer locked.Unlock()
	for i := range places {
		if p := &places[i]; p.name == name && p.tip.Version > 0 {
			return p.tip, true
		}
	}
	return store.Tip{}, false
}

// put says what the durable head of a task, which is locked, has become.
func (t *tips) put(task string, h *head) {
	name, places, locked := t.find(task)
	defer locked.Unlock()
	p := &places[name[1]&1]
	for i := range places {
		if places[i].name == name {
			p = &places[i]
			break
		}
		if places[i].tip.Version == 0 {
			p = &places[i]
		}
	}
	if h.tip.Version > 0 && !h.erased && !h.unsettled {
		*p = tipSlot{name: name, tip: h.tip}
	} else if p.name == name {
		*p = tipSlot{}
	}
}
