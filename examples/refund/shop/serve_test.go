package shop_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlgo/pawl/examples/refund/shop"
)

func TestConfigurationsThatCannotBe(t *testing.T) {
	for name, spoil := range map[string]func(*shop.Config){
		"no directory":      func(c *shop.Config) { c.Dir = "" },
		"every interface":   func(c *shop.Config) { c.Listen = ":0" },
		"not loopback":      func(c *shop.Config) { c.Listen = "192.0.2.1:0" },
		"no port":           func(c *shop.Config) { c.Listen = "127.0.0.1" },
		"short secret":      func(c *shop.Config) { c.Webhook.Secret = c.Webhook.Secret[:shop.MinSecret-1] },
		"too many attempts": func(c *shop.Config) { c.Webhook.Attempts = shop.MaxAttempts + 1 },
		"negative attempts": func(c *shop.Config) { c.Webhook.Attempts = -1 },
		"negative backoff":  func(c *shop.Config) { c.Webhook.Backoff = -1 },
		"negative timeout":  func(c *shop.Config) { c.Webhook.Timeout = -1 },
		"webhook elsewhere": func(c *shop.Config) { c.Webhook.URL = "http://example.com" },
		"no policy":         func(c *shop.Config) { c.Policy = shop.Policy{} },
		"policy of nothing": func(c *shop.Config) { c.Policy.Ineligible = []string{"999"} },
		"order twice":       func(c *shop.Config) { c.Orders[1].ID = "123" },
		"order without id":  func(c *shop.Config) { c.Orders[0].ID = "" },
		"id too long":       func(c *shop.Config) { c.Orders[0].ID = strings.Repeat("x", shop.MaxID+1) },
		"id with a slash":   func(c *shop.Config) { c.Orders[0].ID = "1/2" },
		"no owner":          func(c *shop.Config) { c.Orders[0].Owner = "" },
		"no payee":          func(c *shop.Config) { c.Orders[0].Payee = "" },
		"no total":          func(c *shop.Config) { c.Orders[0].Total = eur(0) },
		"no currency":       func(c *shop.Config) { c.Orders[0].Total.Currency = "" },
	} {
		cfg := config(t.TempDir())
		spoil(&cfg)
		require.Error(t, serveError(cfg), name)
		require.NoFileExists(t, ledgerPath(cfg.Dir), name)
	}
	cfg := config(t.TempDir())
	cfg.Orders[0].ID = strings.Repeat("x", shop.MaxID)
	cfg.Webhook.Attempts = shop.MaxAttempts
	require.NoError(t, serveError(cfg))
	cfg.Dir = ledgerPath(cfg.Dir) // a file
	require.Error(t, serveError(cfg))
}

func TestRequestsThatAreNone(t *testing.T) {
	cfg := config(t.TempDir())
	urls := make(chan string, 1)
	ctx, cancel := context.WithCancel(t.Context())
	cfg.Ready = func(url string) { urls <- url }
	served := make(chan error, 1)
	go func() { served <- shop.Serve(ctx, cfg) }()
	url := <-urls
	post := func(body string) int {
		req, err := http.NewRequest(http.MethodPost, url+"/payments/refunds", strings.NewReader(body))
		require.NoError(t, err)
		req.Header.Set("Idempotency-Key", "k")
		res, err := http.DefaultClient.Do(req)
		require.NoError(t, err)
		_, _ = io.Copy(io.Discard, res.Body)
		require.NoError(t, res.Body.Close())
		return res.StatusCode
	}
	good := `{"order_id":"123","amount":{"minor":1,"currency":"EUR"},"payee":"alice_card"}`
	padding := strings.Repeat(" ", shop.MaxBody-len(good))
	for _, body := range []string{
		"", "null x", "[]", `"x"`, good[:20], good + good, strings.Replace(good, "1,", "1.5,", 1), strings.Replace(good, "1,", "1e30,", 1),
		strings.Replace(good, "1,", `"1",`, 1), strings.Replace(good, `"payee"`, `"payer"`, 1), good + padding + " ",
	} {
		require.Equal(t, http.StatusBadRequest, post(body), "%.80q", body)
	}
	require.Equal(t, http.StatusCreated, post(good+padding))
	require.Equal(t, http.StatusOK, post(good))
	cancel()
	require.NoError(t, <-served)
}

func TestLaunchKillAndLaunchAgain(t *testing.T) {
	cfg := config(t.TempDir())
	p, err := shop.Launch(t.Context(), child(t, "main"), cfg)
	require.NoError(t, err)
	c, err := shop.NewClient(p.URL, time.Minute)
	require.NoError(t, err)
	refund, err := c.Refund(t.Context(), "k", whole())
	require.NoError(t, err)
	require.NoError(t, p.Kill())
	require.NoError(t, p.Kill())
	_, err = c.Ledger(t.Context())
	require.ErrorIs(t, err, shop.ErrNotSent)
	require.Error(t, p.Stop(t.Context()), "it did not end well")

	p, err = shop.Launch(t.Context(), child(t, "main"), cfg)
	require.NoError(t, err)
	c, err = shop.NewClient(p.URL, time.Minute)
	require.NoError(t, err)
	again, err := c.Refund(t.Context(), "k", whole())
	require.NoError(t, err)
	require.Equal(t, refund, again)
	require.NoError(t, p.Stop(t.Context()))
	require.NoError(t, p.Stop(t.Context()))
}

func TestLaunchThatDoesNotGetReady(t *testing.T) {
	cfg := config(t.TempDir())
	require.NoError(t, os.WriteFile(ledgerPath(cfg.Dir), []byte("{}\n"), 0o600))
	cmd := child(t, "main")
	var said strings.Builder
	cmd.Stderr = &said
	_, err := shop.Launch(t.Context(), cmd, cfg)
	require.ErrorContains(t, err, "did not get ready")
	require.Contains(t, said.String(), "corrupt ledger")
	require.True(t, cmd.ProcessState.Exited())

	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	cmd = child(t, "silent")
	_, err = shop.Launch(ctx, cmd, cfg)
	require.ErrorIs(t, err, context.DeadlineExceeded)
	require.NotNil(t, cmd.ProcessState, "no child is left")

	cmd.Path = "/nowhere"
	_, err = shop.Launch(t.Context(), cmd, cfg)
	require.Error(t, err)
}

func TestMainReadsOneLineOfConfiguration(t *testing.T) {
	for _, in := range []string{"", "{}", "x\n", "{} {}\n", `{"unknown":1}` + "\n", strings.Repeat(" ", 256<<10) + "\n"} {
		err := shop.Main(t.Context(), strings.NewReader(in), io.Discard)
		require.ErrorContains(t, err, "configuration", "%.20q", in)
	}
	// The line itself, at the limit; then the input ends, and with it the shop.
	text := fmt.Sprintf(`{"dir":%q,"orders":[],"policy":{"version":"v7"},"webhook":{"secret":"MDEyMzQ1Njc4OWFiY2RlZg=="}}`, t.TempDir())
	text += strings.Repeat(" ", 256<<10-1-len(text)) + "\n"
	require.NoError(t, shop.Main(t.Context(), strings.NewReader(text), io.Discard))
}
