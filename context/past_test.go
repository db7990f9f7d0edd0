package projection_test

import (
	"encoding/json"
	"reflect"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	projection "github.com/pawlgo/pawl/context"
	"github.com/pawlgo/pawl/guard"
	"github.com/pawlgo/pawl/machine"
)

// fill puts a canary into every text below a value.
func fill(v reflect.Value) {
	switch v.Kind() {
	case reflect.String:
		v.SetString("CANARY")
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem())
	case reflect.Slice:
		if v.Type().Elem().Kind() == reflect.Uint8 {
			v.Set(reflect.ValueOf([]byte(`"CANARY"`)).Convert(v.Type()))
			return
		}
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		fill(v.Index(0))
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Field(i).CanSet() {
				fill(v.Field(i))
			}
		}
	}
}

// TestPastDoesNotLeak: of an entry that holds a canary everywhere, a model sees what happened and nothing that it was about.
func TestPastDoesNotLeak(t *testing.T) {
	var e machine.Entry
	fill(reflect.ValueOf(&e).Elem())
	e.Version, e.At, e.Event, e.Actor, e.From, e.To = 4, noon.UnixMicro(), "agree", guard.Model, stateWaiting, stateSending
	raw, err := json.Marshal(e)
	require.NoError(t, err)
	require.Contains(t, string(raw), "CANARY")
	require.Equal(t, projection.Past{Version: 4, At: noon, Event: "agree", By: "model", From: stateWaiting, To: stateSending, Voided: 1}, projection.PastOf(e))
	raw, err = json.Marshal(projection.PastOf(e))
	require.NoError(t, err)
	require.NotContains(t, string(raw), "CANARY")
	require.Equal(t, time.UTC, projection.PastOf(e).At.Location())
}
