// Package canon is the one JSON encoding of everything that is compared, hashed or stored: one value
// has one encoding, and bytes with two possible readings are refused.
//
// Encoding: map keys and the keys of raw JSON are sorted bytewise, struct fields come in declaration
// order, there is no insignificant space, strings carry only the escapes that JSON demands, a nil
// slice is [] and a nil map {}, and a method with a pointer receiver counts whether or not the value
// is addressable. Decoding takes all that encoding gives and is strict about everything else. What
// Decode would refuse, Append refuses too: stored bytes must load.
package canon

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"reflect"
	"sync"
)

// Append appends the canonical JSON of v to dst. It honours json tags (name, "-", omitempty, omitzero,
// string), json.Marshaler and encoding.TextMarshaler. It fails, with the path of the value in the
// message, for what has no canonical form: NaN and infinities, invalid UTF-8, nesting deeper than
// DefaultDepth (so also cycles), map keys that are equal or differ only by case, a marshaler that
// gives null, and types that JSON cannot hold. It is safe for concurrent use.
//
// A struct field of type json.RawMessage with the tag canon:"verbatim" is appended as it is: it must hold what Append
// made.
func Append(dst []byte, v any) ([]byte, error) { return AppendDeep(dst, v, 0) }

// AppendDeep is Append that lets values nest deeper than DefaultDepth by a number of levels: for what is put around
// values that were appended before.
func AppendDeep(dst []byte, v any, levels int) ([]byte, error) {
	if v == nil {
		return append(dst, "null"...), nil
	}
	rv := reflect.ValueOf(v)
	return codecOf(rv.Type()).append(dst, rv, -levels)
}

var buffers = sync.Pool{New: func() any { return new([]byte) }}

// Bytes is Append into bytes of their own, no more than are needed.
func Bytes(v any) ([]byte, error) {
	buf := buffers.Get().(*[]byte)
	defer buffers.Put(buf)
	b, err := Append((*buf)[:0], v)
	if err != nil {
		return nil, err
	}
	*buf = b
	return bytes.Clone(b), nil
}

// Digest is DigestBytes of the canonical JSON of v. It fails where Append does.
func Digest(v any) (string, error) {
	buf := buffers.Get().(*[]byte)
	defer buffers.Put(buf)
	b, err := Append((*buf)[:0], v)
	if err != nil {
		return "", err
	}
	*buf = b
	return DigestBytes(b), nil
}

// DigestBytes is the first 16 bytes of the SHA-256 of b, as 32 lower-case hexadecimal digits.
func DigestBytes(b []byte) string {
	var text [2 * digestSize]byte
	return string(AppendDigest(text[:0], b))
}

// digestSize is how many bytes of a SHA-256 a digest keeps.
const digestSize = 16

// AppendDigest appends DigestBytes of b to dst.
func AppendDigest(dst, b []byte) []byte {
	sum := sha256.Sum256(b)
	return hex.AppendEncode(dst, sum[:digestSize])
}

// Size is the length of the canonical JSON of v. It fails where Append does.
func Size(v any) (int, error) {
	buf := buffers.Get().(*[]byte)
	defer buffers.Put(buf)
	b, err := Append((*buf)[:0], v)
	if err != nil {
		return 0, err
	}
	*buf = b
	return len(b), nil
}

// Equal tells whether two values have the same canonical JSON; values that have none are equal to nothing.
func Equal(a, b any) bool {
	buf := buffers.Get().(*[]byte)
	defer buffers.Put(buf)
	x, err := Append((*buf)[:0], a)
	if err != nil {
		return false
	}
	both, err := Append(x, b)
	if err != nil {
		return false
	}
	*buf = both
	return bytes.Equal(both[:len(x)], both[len(x):])
}
