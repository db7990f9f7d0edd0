package store

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"slices"
)

// Changes is what a commit wrote beside its record. The record carries it, so the hash chain covers it and a
// verifier can hold every side row against the commit that must have written it.
type Changes struct {
	Once   []string
	Emit   []Emitted
	Settle []Settle
	Swap   []Swapped
}

// Emitted is an effect as it was emitted; Body is the SHA-256 of its body.
type Emitted struct {
	ID   string
	Body [32]byte
}

// Swapped is a resource as it was swapped: its revision before, and the SHA-256 of its new value.
type Swapped struct {
	Name  string
	Rev   uint64
	Value [32]byte
}

// appendChanges appends the encoding of what c writes beside its record; nothing if it writes nothing.
func (c *Commit) appendChanges(b []byte) []byte {
	if len(c.Once)+len(c.Emit)+len(c.Settle)+len(c.Swap) == 0 {
		return b
	}
	b = slices.Grow(b, c.sizeOfChanges())
	b = binary.AppendUvarint(b, uint64(len(c.Once)))
	for _, name := range c.Once {
		b = appendString(b, name)
	}
	b = binary.AppendUvarint(b, uint64(len(c.Emit)))
	for i := range c.Emit {
		b = appendString(b, c.Emit[i].ID)
		h := sha256.Sum256(c.Emit[i].Body)
		b = append(b, h[:]...)
	}
	b = binary.AppendUvarint(b, uint64(len(c.Settle)))
	for i := range c.Settle {
		b = appendString(b, c.Settle[i].Effect)
		b = binary.AppendUvarint(b, c.Settle[i].Rev)
	}
	b = binary.AppendUvarint(b, uint64(len(c.Swap)))
	for i := range c.Swap {
		b = appendString(b, c.Swap[i].Name)
		b = binary.AppendUvarint(b, c.Swap[i].Rev)
		h := sha256.Sum256(c.Swap[i].Value)
		b = append(b, h[:]...)
	}
	return b
}

// sizeOfChanges is the most that their encoding takes.
func (c *Commit) sizeOfChanges() int {
	n := 4 * binary.MaxVarintLen64
	for _, name := range c.Once {
		n += binary.MaxVarintLen64 + len(name)
	}
	for i := range c.Emit {
		n += binary.MaxVarintLen64 + len(c.Emit[i].ID) + sha256.Size
	}
	for i := range c.Settle {
		n += 2*binary.MaxVarintLen64 + len(c.Settle[i].Effect)
	}
	for i := range c.Swap {
		n += 2*binary.MaxVarintLen64 + len(c.Swap[i].Name) + sha256.Size
	}
	return n
}

// ParseChanges decodes Record.Changes. ErrCorrupt if they are no encoding that a store made.
func ParseChanges(b []byte) (Changes, error) {
	var c Changes
	if len(b) == 0 {
		return c, nil
	}
	r := reader{b: b}
	for range r.count() {
		c.Once = append(c.Once, r.string())
	}
	for range r.count() {
		c.Emit = append(c.Emit, Emitted{ID: r.string(), Body: r.hash()})
	}
	for range r.count() {
		c.Settle = append(c.Settle, Settle{Effect: r.string(), Rev: r.uvarint()})
	}
	for range r.count() {
		c.Swap = append(c.Swap, Swapped{Name: r.string(), Rev: r.uvarint(), Value: r.hash()})
	}
	if r.bad || len(r.b) != 0 {
		return Changes{}, errors.Join(errors.New("changes of a record"), ErrCorrupt)
	}
	return c, nil
}

func appendString(b []byte, s string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(s))), s...)
}

// reader takes an encoding apart; once something is missing it is bad and gives zeros.
type reader struct {
	b   []byte
	bad bool
}

func (r *reader) take(n uint64) []byte {
	if r.bad || n > uint64(len(r.b)) {
		r.bad = true
		return nil
	}
	out := r.b[:n:n]
	r.b = r.b[n:]
	return out
}

func (r *reader) uvarint() uint64 {
	v, n := binary.Uvarint(r.b)
	if n <= 0 {
		r.bad = true
		return 0
	}
	r.take(uint64(n))
	return v
}

// count is a number of things of at least one byte each, so a forged one cannot make us loop.
func (r *reader) count() uint64 {
	n := r.uvarint()
	if n > uint64(len(r.b)) {
		r.bad = true
	}
	if r.bad {
		return 0
	}
	return n
}

func (r *reader) bytes() []byte  { return r.take(r.uvarint()) }
func (r *reader) string() string { return string(r.bytes()) }

func (r *reader) hash() (h [32]byte) {
	copy(h[:], r.take(32))
	return h
}

func (r *reader) uint64() uint64 {
	if b := r.take(8); b != nil {
		return binary.BigEndian.Uint64(b)
	}
	return 0
}
