package canon_test

import (
	"encoding/json"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlgo/pawl/internal/canon"
)

// TestEqual compares what would be stored.
func TestEqual(t *testing.T) {
	require.True(t, canon.Equal(map[string]int{"a": 1, "b": 2}, json.RawMessage(`{ "b": 2, "a": 1 }`)))
	require.True(t, canon.Equal([]int(nil), []int{}))
	require.False(t, canon.Equal("12", "1"))
	require.False(t, canon.Equal("", "12"))
	require.False(t, canon.Equal(math.NaN(), math.NaN()), "what has no form equals nothing")
	require.False(t, canon.Equal(1, "\xff"))
}

func TestSize(t *testing.T) {
	n, err := canon.Size(map[string]int{"a": 1})
	require.NoError(t, err)
	require.Equal(t, len(`{"a":1}`), n)
	_, err = canon.Size("\xff")
	require.Error(t, err)
}

// TestDeep: around a value of the greatest depth there is room for a number of levels, and no more.
func TestDeep(t *testing.T) {
	nest := func(n int) any {
		var v any = "x"
		for range n {
			v = []any{v}
		}
		return v
	}
	_, err := canon.AppendDeep(nil, nest(canon.DefaultDepth+2), 2)
	require.NoError(t, err)
	_, err = canon.AppendDeep(nil, nest(canon.DefaultDepth+3), 2)
	require.Error(t, err)
	b, err := canon.AppendDeep(nil, nil, 2)
	require.NoError(t, err)
	require.Equal(t, "null", string(b))
}

// TestVerbatim: bytes that Append made before are put in as they are, and read back.
func TestVerbatim(t *testing.T) {
	type entry struct {
		Raw  json.RawMessage `json:"raw,omitempty" canon:"verbatim"`
		Same json.RawMessage `json:"same"`
	}
	b, err := canon.Append(nil, entry{Raw: []byte(`{"b":1, "a":2}`), Same: []byte(`{"b":1, "a":2}`)})
	require.NoError(t, err)
	require.Equal(t, `{"raw":{"b":1, "a":2},"same":{"a":2,"b":1}}`, string(b))
	b, err = canon.Append(nil, entry{})
	require.NoError(t, err)
	require.Equal(t, `{"same":null}`, string(b))
	var e entry
	require.NoError(t, canon.Decode([]byte(`{"raw":[1],"same":2}`), &e, canon.Limits{}))
	require.Equal(t, `[1]`, string(e.Raw))
	require.Error(t, canon.Decode([]byte(`{"raw":[1,],"same":2}`), &e, canon.Limits{}), "reading is as strict as ever")
	require.Error(t, canon.Decode([]byte(strings.Repeat("[", 99)), &e, canon.Limits{}))
}
