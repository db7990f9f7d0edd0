package pebblestore

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"

	"github.com/pawlgo/pawl/store"
)

// First bytes of the key spaces.
const (
	taskSpace     = 't'
	onceSpace     = 'k'
	dueSpace      = 'd'
	readySpace    = 'o'
	heldSpace     = 'h'
	indexSpace    = 'x'
	resourceSpace = 'r'
	metaSpace     = 'm'
)

// Kinds of rows in a task's space, after its 00.
const (
	effectRow  = 1
	recordRow  = 2
	attemptRow = 3
)

var (
	identityKey = []byte("mid")
	clockKey    = []byte("mclock")
)

// appendTask appends the prefix of a task's rows of a kind.
func appendTask(b []byte, task string, kind byte) []byte {
	b = append(b, taskSpace)
	b = append(b, task...)
	return append(b, 0, kind)
}

func appendEffect(b []byte, task, effect string) []byte {
	return append(appendTask(b, task, effectRow), effect...)
}

func appendAttempt(b []byte, task string, n uint64) []byte {
	return binary.BigEndian.AppendUint64(appendTask(b, task, attemptRow), ^n)
}

func appendOnce(b []byte, task, name string) []byte {
	b = append(b, onceSpace)
	b = append(b, task...)
	h := sha256.Sum256([]byte(name))
	return append(append(b, 0), h[:16]...)
}

func appendInstant(b []byte, at store.Micros) []byte {
	return binary.BigEndian.AppendUint64(b, uint64(at))
}

func appendDue(b []byte, m *store.Meta, task string) []byte {
	return append(appendInstant(append(b, dueSpace), m.Wake), task...)
}

// appendTurn appends the key that says when the effect can be claimed next.
func appendTurn(b []byte, e *store.Effect) []byte {
	space := byte(readySpace)
	if e.Status == store.Sent && e.Hold > 0 {
		space = heldSpace
	}
	b = appendInstant(append(b, space), e.Next())
	b = append(append(b, e.Task...), 0)
	return append(b, e.ID...)
}

func appendState(b []byte, m *store.Meta, task string) []byte {
	b = append(b, indexSpace, 's')
	b = append(append(b, m.Machine...), 0)
	b = append(append(b, m.State...), 0)
	return append(appendInstant(b, m.Since), task...)
}

func appendOwner(b []byte, m *store.Meta, task string) []byte {
	b = append(b, indexSpace, 'o')
	b = append(append(b, m.Owner...), 0)
	if m.Final {
		return append(append(b, 1), task...)
	}
	return append(append(b, 0), task...)
}

func appendWaits(b []byte, m *store.Meta, task string) []byte {
	b = append(b, indexSpace, 'w')
	b = append(append(b, m.WaitsFor...), 0)
	return append(appendInstant(b, m.Since), task...)
}

func appendResource(b []byte, name string) []byte { return append(append(b, resourceSpace), name...) }

// indexPrefix is the part of the index that answers a query, up to the part store.Query.Key orders by.
func indexPrefix(q *store.Query) []byte {
	switch {
	case q.WaitsFor != "":
		return append(append([]byte("xw"), q.WaitsFor...), 0)
	case q.Owner != "":
		return append(append([]byte("xo"), q.Owner...), 0)
	}
	return []byte("xs")
}

// indexScope narrows the prefix to what the query selects.
func indexScope(prefix []byte, q *store.Query) []byte {
	scope := bytes.Clone(prefix)
	if prefix[1] == 's' && q.Machine != "" {
		scope = append(append(scope, q.Machine...), 0)
		if q.State != "" {
			scope = append(append(scope, q.State...), 0)
		}
	}
	return scope
}

// after is the smallest key above every key that begins with prefix.
func after(prefix []byte) []byte {
	end := bytes.Clone(prefix)
	for i := len(end) - 1; i >= 0; i-- {
		if end[i]++; end[i] != 0 {
			return end[:i+1]
		}
	}
	return nil
}

// indexedTask is the task in an index key; false if the key is none.
func indexedTask(key []byte) (string, bool) {
	if len(key) < 3 || key[0] != indexSpace {
		return "", false
	}
	skip := map[byte]struct{ names, fixed int }{'s': {2, 8}, 'o': {1, 1}, 'w': {1, 8}}
	shape, ok := skip[key[1]]
	if !ok {
		return "", false
	}
	rest := key[2:]
	for range shape.names {
		i := bytes.IndexByte(rest, 0)
		if i < 0 {
			return "", false
		}
		rest = rest[i+1:]
	}
	if len(rest) <= shape.fixed {
		return "", false
	}
	return string(rest[shape.fixed:]), true
}

// turn takes the key of a due or ready row apart: instant, task, and the effect if there is one.
func turn(key []byte) (at store.Micros, task, effect string, ok bool) {
	if len(key) < 10 {
		return 0, "", "", false
	}
	at = store.Micros(binary.BigEndian.Uint64(key[1:]))
	rest := key[9:]
	if key[0] == dueSpace {
		return at, string(rest), "", true
	}
	i := bytes.IndexByte(rest, 0)
	if i < 0 {
		return 0, "", "", false
	}
	return at, string(rest[:i]), string(rest[i+1:]), true
}
