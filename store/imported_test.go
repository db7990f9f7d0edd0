package store_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlgo/pawl/store"
)

// TestImportedMarks: a mark is read as it was written, and what is no mark is not taken for one that is counted.
func TestImportedMarks(t *testing.T) {
	for _, m := range []store.Imported{{Tip: store.Tip{Version: 1}}, {Tip: store.Tip{Version: store.MaxVersion, Hash: [32]byte{1, 31: 9}}, Parts: 7, Counted: true}} {
		got, err := store.ReadImported(m.Encode())
		require.NoError(t, err)
		require.Equal(t, m, got)
		require.Equal(t, !m.Counted, got.Uncounted())
	}
	none, err := store.ReadImported(nil)
	require.NoError(t, err)
	require.False(t, none.Uncounted())
	for _, bad := range []string{"{", "null", "{}", `{"version":0,"counted":true}`, `{"version":1,"hash":"00","counted":true}`, `{"version":1,"more":1}`, `{"version":1,"parts":-1}`} {
		_, err := store.ReadImported([]byte(bad))
		require.ErrorIs(t, err, store.ErrCorrupt, bad)
	}
}
