package replay

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"
)

func TestStream(t *testing.T) {
	files := fstest.MapFS{
		"three.jsonl":  {Data: []byte("{\"run\":\"a\"}\n\n{\"run\":\"b\"}\n{\"run\":\"c\"}")},
		"broken.jsonl": {Data: []byte("{\"run\":\"a\"}\n{\"run\":")},
		"long.jsonl":   {Data: []byte(`{"run":"` + strings.Repeat("x", maxLine) + `"}`)},
	}
	var seen atomic.Int64
	count := func(context.Context, Run) error { seen.Add(1); return nil }

	require.NoError(t, stream(t.Context(), files, "three.jsonl", 2, count))
	require.Equal(t, int64(3), seen.Load())
	require.NoError(t, stream(t.Context(), files, "missing.jsonl", 2, count))
	require.Equal(t, int64(3), seen.Load())
	require.ErrorContains(t, stream(t.Context(), files, "broken.jsonl", 2, count), "broken.jsonl")
	require.Error(t, stream(t.Context(), files, "long.jsonl", 2, count))

	stop := errors.New("stop")
	err := stream(t.Context(), files, "three.jsonl", 1, func(context.Context, Run) error { return stop })
	require.ErrorIs(t, err, stop)
}
