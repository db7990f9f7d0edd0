package shop_test

import (
	"bytes"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlgo/pawl/examples/refund/shop"
)

func TestTheLedgerOutlivesTheProcess(t *testing.T) {
	dir := t.TempDir()
	c, stop := open(t, config(dir))
	first, err := c.Refund(t.Context(), "k1", part(4000))
	require.NoError(t, err)
	require.NoError(t, c.MovePolicy(t.Context(), shop.Policy{Version: "v8", Ineligible: []string{"123"}}))
	require.NoError(t, c.MarkHandled(t.Context(), "124", "phone"))
	stop()

	c, _ = open(t, config(dir))
	again, err := c.Refund(t.Context(), "k1", part(4000))
	require.NoError(t, err)
	require.Equal(t, first, again)
	_, err = c.Refund(t.Context(), "k2", part(301))
	requireRefusal(t, err, shop.CodeAboveRemainder)
	second, err := c.Refund(t.Context(), "k2", part(300))
	require.NoError(t, err)
	require.Equal(t, "re_2", second.ID)
	e, err := c.Eligibility(t.Context(), "123")
	require.NoError(t, err)
	require.Equal(t, "v8", e.PolicyVersion)
	require.False(t, e.Eligible)
	order, err := c.Order(t.Context(), "124")
	require.NoError(t, err)
	require.Equal(t, shop.Handled, order.Status)
}

// written returns a directory with three refunds in its ledger, and the ledger's bytes.
func written(t *testing.T) (string, []byte) {
	t.Helper()
	dir := t.TempDir()
	c, stop := open(t, config(dir))
	for _, key := range []string{"k1", "k2", "k3"} {
		_, err := c.Refund(t.Context(), key, part(1000))
		require.NoError(t, err)
	}
	stop()
	content, err := os.ReadFile(ledgerPath(dir))
	require.NoError(t, err)
	require.Equal(t, 3, bytes.Count(content, []byte("\n")))
	return dir, content
}

func TestATornLastLineIsCutOff(t *testing.T) {
	dir, content := written(t)
	two := bytes.LastIndexByte(content[:len(content)-1], '\n') + 1
	for _, size := range []int{two, two + 1, (two + len(content)) / 2, len(content) - 1} {
		require.NoError(t, os.WriteFile(ledgerPath(dir), content[:size], 0o600))
		require.NoError(t, serveError(config(dir)))
		left, err := os.ReadFile(ledgerPath(dir))
		require.NoError(t, err)
		require.Equal(t, content[:two], left, "cut at %d", size)
	}
	c, _ := open(t, config(dir))
	_, found, err := c.FindRefund(t.Context(), "k3")
	require.NoError(t, err)
	require.False(t, found)
	r, err := c.Refund(t.Context(), "k3", part(1000))
	require.NoError(t, err)
	require.Equal(t, "re_3", r.ID)
}

func TestEveryChangedByteIsCorruption(t *testing.T) {
	dir, content := written(t)
	for i := range len(content) - 1 { // without its last line end the last line is torn
		changed := bytes.Clone(content)
		changed[i] ^= 1
		require.NoError(t, os.WriteFile(ledgerPath(dir), changed, 0o600))
		require.ErrorIs(t, serveError(config(dir)), shop.ErrCorrupt, "byte %d", i)
		left, err := os.ReadFile(ledgerPath(dir))
		require.NoError(t, err)
		require.Equal(t, changed, left, "what is refused is left alone")
	}
}

func TestLinesThatDoNotBelongAreCorruption(t *testing.T) {
	dir, content := written(t)
	lines := bytes.SplitAfter(content, []byte("\n"))
	for name, changed := range map[string][]byte{
		"first gone": bytes.Join([][]byte{lines[1], lines[2]}, nil),
		"swapped":    bytes.Join([][]byte{lines[1], lines[0], lines[2]}, nil),
		"repeated":   bytes.Join([][]byte{lines[0], lines[1], lines[2], lines[2]}, nil),
		"empty line": append(bytes.Clone(content), '\n'),
		"not ours":   append(bytes.Clone(content), "{}\n"...),
		"two values": append(bytes.Clone(content), "{} {}\n"...),
	} {
		require.NoError(t, os.WriteFile(ledgerPath(dir), changed, 0o600))
		require.ErrorIs(t, serveError(config(dir)), shop.ErrCorrupt, name)
	}
	require.NoError(t, os.WriteFile(ledgerPath(dir), content, 0o600))
	cfg := config(dir)
	cfg.Orders = cfg.Orders[1:]
	require.ErrorIs(t, serveError(cfg), shop.ErrCorrupt)
	cfg = config(dir)
	cfg.Orders[0].Total = eur(2999)
	require.ErrorIs(t, serveError(cfg), shop.ErrCorrupt)
	cfg.Orders[0].Total = eur(3000)
	require.NoError(t, serveError(cfg))
}
