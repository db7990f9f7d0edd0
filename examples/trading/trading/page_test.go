package trading_test

import (
	"flag"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlgo/pawl/examples/trading/trading"
)

var pages = flag.Bool("pages", false, "rewrite the page of the machine under docs/machines")

// TestPage: the page that a reviewer reads is the one that the code makes.
func TestPage(t *testing.T) {
	const file, again = "../../../docs/machines/trading.md", "run go test ./examples/trading/trading -run '^TestPage$' -pages and look at the difference"
	if *pages {
		require.NoError(t, os.WriteFile(file, []byte(trading.Machine.Markdown()), 0o644))
	}
	want, err := os.ReadFile(file)
	require.NoError(t, err, again)
	require.Equal(t, string(want), trading.Machine.Markdown(), again)
}
