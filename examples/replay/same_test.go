package replay

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestNumbersMayDifferByHalfACentAndNothingElse(t *testing.T) {
	is := map[string]any{"paid": json.Number("52.03"), "of": []string{"a", "b"}, "open": true, "none": nil}
	for want, equal := range map[string]bool{
		`{"paid":52.03,"of":["a","b"],"open":true,"none":null}`:              true,
		`{"paid":52.029999999999745,"of":["a","b"],"open":true,"none":null}`: true,
		`{"paid":52.035,"of":["a","b"],"open":true,"none":null}`:             true,
		`{"paid":52.0351,"of":["a","b"],"open":true,"none":null}`:            false,
		`{"paid":52.04,"of":["a","b"],"open":true,"none":null}`:              false,
		`{"paid":"52.03","of":["a","b"],"open":true,"none":null}`:            false,
		`{"paid":52.03,"of":["b","a"],"open":true,"none":null}`:              false,
		`{"paid":52.03,"of":["a"],"open":true,"none":null}`:                  false,
		`{"paid":52.03,"of":["a","b"],"open":false,"none":null}`:             false,
		`{"paid":52.03,"of":["a","b"],"open":true}`:                          false,
		`{"paid":52.03,"of":["a","b"],"open":true,"none":null,"more":1}`:     false,
		`{"paid":52.03,"of":["a","b"],"open":true,"nothing":null}`:           false,
	} {
		got, err := same(is, json.RawMessage(want))
		require.NoError(t, err)
		require.Equal(t, equal, got, want)
	}
	_, err := same(is, json.RawMessage(`{`))
	require.Error(t, err)
}
