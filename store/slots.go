package store

import (
	"crypto/sha256"
	"encoding/binary"
)

// Slots is a range of slots: From included, To not. The zero value means all of them. Workers share the tasks of a
// store by slots, and stores share the tasks of a fleet by them.
type Slots struct{ From, To uint16 }

// SlotOf is the slot of a task: the first 12 bits of the SHA-256 of its id.
func SlotOf(task string) uint16 {
	h := sha256.Sum256([]byte(task))
	return binary.BigEndian.Uint16(h[:]) >> 4
}

// Has says whether the task's slot lies in the range.
func (s Slots) Has(task string) bool {
	if s == (Slots{}) {
		return true
	}
	slot := SlotOf(task)
	return s.From <= slot && slot < s.To
}

// Check refuses an empty range and one beyond MaxSlot.
func (s Slots) Check() error {
	if s != (Slots{}) && (s.From >= s.To || s.To > MaxSlot) {
		return invalid("slots %d to %d", s.From, s.To)
	}
	return nil
}
