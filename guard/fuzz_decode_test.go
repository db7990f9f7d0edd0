package guard

import (
	"bytes"
	"encoding/json"
	"io"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlgo/pawl/internal/canon"
)

// FuzzDecode holds what decoding promises: it never panics; what it accepts, encoding/json accepts and
// its canonical bytes decode to the same value again; and an object with one key twice is not accepted. Its seeds are in testdata/fuzz.
func FuzzDecode(f *testing.F) {
	f.Fuzz(func(t *testing.T, raw []byte) {
		decodeHoldsItsPromise[decodePayload](t, raw)
		decodeHoldsItsPromise[json.RawMessage](t, raw)
		money, again := decodeHoldsItsPromise[map[string]decodeMoney](t, raw)
		require.Equal(t, money, again)
		value, valueAgain := decodeHoldsItsPromise[any](t, raw)
		require.Equal(t, value, valueAgain)
	})
}

// decodeHoldsItsPromise returns the value, and what comes back after encoding it.
func decodeHoldsItsPromise[T any](t *testing.T, raw []byte) (v, again T) {
	v, err := Decode[T](raw)
	if err != nil {
		require.ErrorIs(t, err, ErrForm)
		require.Zero(t, v)
		return v, v
	}
	require.True(t, json.Valid(raw), "%q", raw)
	require.False(t, decodeHasTwins(t, raw), "accepted one key twice: %q", raw)
	encoded, err := canon.Append(nil, v)
	require.NoError(t, err, "%q is accepted and cannot be encoded", raw)
	again, err = DecodeStored[T](encoded)
	require.NoError(t, err, "%q", encoded)
	twice, err := canon.Append(nil, again)
	require.NoError(t, err)
	require.Equal(t, string(encoded), string(twice))
	return v, again
}

// decodeHasTwins says whether an object of raw, valid JSON, has a key twice; by encoding/json's tokens, not our parser.
func decodeHasTwins(t *testing.T, raw []byte) bool {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var open []map[string]bool // nil for an array
	isKey := false
	for {
		token, err := d.Token()
		if err == io.EOF {
			return false
		}
		require.NoError(t, err)
		inObject := len(open) > 0 && open[len(open)-1] != nil
		if s, ok := token.(string); ok && inObject && isKey {
			if open[len(open)-1][s] {
				return true
			}
			open[len(open)-1][s] = true
			isKey = false
			continue
		}
		switch token {
		case json.Delim('{'):
			open = append(open, map[string]bool{})
		case json.Delim('['):
			open = append(open, nil)
		case json.Delim('}'), json.Delim(']'):
			open = open[:len(open)-1]
		}
		isKey = len(open) > 0 && open[len(open)-1] != nil
	}
}
