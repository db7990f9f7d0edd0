package days

import (
	"encoding/binary"
	"fmt"
	"hash/fnv"
)

// chance makes the choices of what answers by itself: each depends on the seed and on what is asked, and on nothing else, so that
// the order in which things are asked does not matter.
type chance uint64

// roll is a number below 100 for a question.
func (c chance) roll(format string, args ...any) int { return int(c.number(format, args...) % 100) }

func (c chance) number(format string, args ...any) uint64 {
	h := fnv.New64a()
	var seed [8]byte
	binary.LittleEndian.PutUint64(seed[:], uint64(c))
	h.Write(seed[:])
	fmt.Fprintf(h, format, args...)
	x := h.Sum64() // mixed once more: the low bits of FNV are weak
	x ^= x >> 33
	x *= 0xff51afd7ed558ccd
	return x ^ x>>33
}
