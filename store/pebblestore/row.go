package pebblestore

import (
	"encoding/binary"
	"hash/crc32"

	"github.com/pawlgo/pawl/store"
)

// rowFormat is the format byte of every row that is no record.
const rowFormat = 1

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// sealRow appends the CRC-32C over key and value; the value begins at start.
func sealRow(b []byte, start int, key []byte) []byte {
	sum := crc32.Update(crc32.Checksum(key, castagnoli), castagnoli, b[start:])
	return binary.BigEndian.AppendUint32(b, sum)
}

// openRow checks a sealed row and returns what follows its format byte.
func openRow(key, value []byte) ([]byte, error) {
	if len(value) < 5 {
		return nil, rowFault(key, "row is truncated")
	}
	body := value[:len(value)-4]
	sum := crc32.Update(crc32.Checksum(key, castagnoli), castagnoli, body)
	if sum != binary.BigEndian.Uint32(value[len(body):]) {
		return nil, rowFault(key, "checksum of a row does not match")
	}
	if body[0] != rowFormat {
		return nil, &store.NewerError{Task: taskOf(key), Format: int(body[0]), Known: rowFormat}
	}
	return body[1:], nil
}

// taskOf is the task whose row the key names, or the key itself.
func taskOf(key []byte) string {
	if n := split(key); n > 2 && key[0] == taskSpace {
		return string(key[1 : n-1])
	}
	return string(key)
}

func rowFault(key []byte, what string) error {
	return &store.CorruptError{Task: taskOf(key), What: what}
}

// appendEffectRow appends the stored form of an effect.
func appendEffectRow(b []byte, key []byte, e *store.Effect) []byte {
	start := len(b)
	b = append(b, rowFormat, byte(e.Status))
	b = binary.BigEndian.AppendUint64(b, e.Version)
	b = binary.BigEndian.AppendUint64(b, e.Rev)
	b = binary.BigEndian.AppendUint64(b, uint64(e.Ready))
	b = binary.BigEndian.AppendUint64(b, uint64(e.Hold))
	b = binary.BigEndian.AppendUint16(b, uint16(len(e.Holder)))
	b = append(b, e.Holder...)
	b = append(b, e.Body...)
	return sealRow(b, start, key)
}

// parseEffect decodes an effect's row; its body is a copy.
func parseEffect(task string, key, value []byte) (store.Effect, error) {
	b, err := openRow(key, value)
	if err != nil {
		return store.Effect{}, err
	}
	const fixed = 1 + 4*8 + 2
	if len(b) < fixed || len(b) < fixed+int(binary.BigEndian.Uint16(b[fixed-2:])) {
		return store.Effect{}, rowFault(key, "row of an effect is malformed")
	}
	e := store.Effect{
		Task:    task,
		ID:      string(key[split(key)+1:]),
		Status:  store.Status(b[0]),
		Version: binary.BigEndian.Uint64(b[1:]),
		Rev:     binary.BigEndian.Uint64(b[9:]),
		Ready:   store.Micros(binary.BigEndian.Uint64(b[17:])),
		Hold:    store.Micros(binary.BigEndian.Uint64(b[25:])),
	}
	n := int(binary.BigEndian.Uint16(b[33:]))
	e.Holder = string(b[fixed : fixed+n])
	e.Body = append([]byte(nil), b[fixed+n:]...)
	if e.Status < store.Intent || e.Status > store.Unknown {
		return store.Effect{}, &store.NewerError{Task: task, Version: e.Version, Format: int(e.Status), Known: int(store.Unknown)}
	}
	return e, nil
}

func appendAttemptRow(b []byte, key []byte, a *store.Attempt) []byte {
	start := len(b)
	b = append(b, rowFormat)
	b = binary.BigEndian.AppendUint64(b, uint64(a.At))
	b = binary.BigEndian.AppendUint64(b, uint64(a.Count))
	b = append(b, a.Body...)
	return sealRow(b, start, key)
}

func parseAttempt(key, value []byte) (store.Attempt, error) {
	b, err := openRow(key, value)
	if err != nil {
		return store.Attempt{}, err
	}
	if len(b) < 16 {
		return store.Attempt{}, rowFault(key, "row of an attempt is malformed")
	}
	return store.Attempt{
		At:    store.Micros(binary.BigEndian.Uint64(b)),
		Count: int(binary.BigEndian.Uint64(b[8:])),
		Body:  append([]byte(nil), b[16:]...),
	}, nil
}

// appendNumbered appends a row that holds a number and bytes: a resource, a used-up name, the clock.
func appendNumbered(b []byte, key []byte, n uint64, rest []byte) []byte {
	start := len(b)
	b = append(b, rowFormat)
	b = binary.BigEndian.AppendUint64(b, n)
	b = append(b, rest...)
	return sealRow(b, start, key)
}

// parseNumbered decodes such a row; the bytes point into value.
func parseNumbered(key, value []byte) (n uint64, rest []byte, err error) {
	b, err := openRow(key, value)
	if err != nil {
		return 0, nil, err
	}
	if len(b) < 8 {
		return 0, nil, rowFault(key, "row is malformed")
	}
	return binary.BigEndian.Uint64(b), b[8:], nil
}
