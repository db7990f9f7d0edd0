package shop_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlgo/pawl/examples/refund/money"
	"github.com/pawlgo/pawl/examples/refund/shop"
)

const asChild = "SHOP_TEST_AS_CHILD"

// TestMain lets this test binary be the child process that shop.Launch starts.
func TestMain(m *testing.M) {
	switch os.Getenv(asChild) {
	case "main":
		if err := shop.Main(context.Background(), os.Stdin, os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	case "silent": // never gets ready
		_, _ = io.Copy(io.Discard, os.Stdin)
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func child(t *testing.T, kind string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	require.NoError(t, err)
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), asChild+"="+kind)
	return cmd
}

var (
	noon   = time.Date(2026, 1, 5, 12, 0, 0, 0, time.UTC)
	secret = []byte("0123456789abcdef")
)

func eur(minor int64) money.Money { return money.Money{Minor: minor, Currency: "EUR"} }

func config(dir string) shop.Config {
	return shop.Config{
		Dir: dir,
		Orders: []shop.Order{
			{ID: "123", Owner: "alice", Total: eur(4300), Payee: "alice_card"},
			{ID: "124", Owner: "bob", Total: eur(1000), Payee: "bob_card"},
		},
		Policy:  shop.Policy{Version: "v7"},
		Webhook: shop.Webhook{Secret: secret, Backoff: time.Nanosecond},
		Now:     func() time.Time { return noon },
	}
}

func whole() shop.RefundRequest {
	return shop.RefundRequest{OrderID: "123", Amount: eur(4300), Payee: "alice_card"}
}

func part(minor int64) shop.RefundRequest {
	return shop.RefundRequest{OrderID: "123", Amount: eur(minor), Payee: "alice_card"}
}

// open serves a shop until the test ends or the returned function is called.
func open(t *testing.T, c shop.Config) (*shop.Client, func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	ready, served := make(chan string, 1), make(chan error, 1)
	c.Ready = func(url string) { ready <- url }
	go func() { served <- shop.Serve(ctx, c) }()
	stopped := false
	stop := func() {
		if !stopped {
			stopped = true
			cancel()
			require.NoError(t, <-served)
		}
	}
	select {
	case url := <-ready:
		t.Cleanup(stop)
		client, err := shop.NewClient(url, time.Minute)
		require.NoError(t, err)
		return client, stop
	case err := <-served:
		cancel()
		require.NoError(t, err)
		return nil, nil
	}
}

// serveError is for configurations and ledgers that must not serve.
func serveError(c shop.Config) error {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	c.Ready = func(string) { cancel() }
	return shop.Serve(ctx, c)
}

func at(t *testing.T, handler http.HandlerFunc) *shop.Client {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	client, err := shop.NewClient(server.URL, time.Minute)
	require.NoError(t, err)
	return client
}

func requireRefusal(t *testing.T, err error, code string) {
	t.Helper()
	require.ErrorIs(t, err, shop.ErrDeclined)
	require.NotErrorIs(t, err, shop.ErrNotSent)
	var refusal *shop.Refusal
	require.ErrorAs(t, err, &refusal)
	require.Equal(t, code, refusal.Code, refusal.Message)
}

func requireUnknown(t *testing.T, err error) {
	t.Helper()
	require.Error(t, err)
	require.NotErrorIs(t, err, shop.ErrDeclined)
	require.NotErrorIs(t, err, shop.ErrNotSent)
}

func ledgerPath(dir string) string { return filepath.Join(dir, shop.LedgerFile) }
