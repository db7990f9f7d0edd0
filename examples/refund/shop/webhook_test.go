package shop_test

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlgo/pawl/examples/refund/shop"
)

// call is one webhook that arrived.
type call struct {
	event     shop.Event
	signature string
	raw       []byte
}

// receiver hands over each webhook, and answers the statuses in turn, then 204.
func receiver(t *testing.T, statuses ...int) (string, <-chan call) {
	t.Helper()
	var mu sync.Mutex
	calls := make(chan call, 100)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		raw, _ := io.ReadAll(r.Body)
		mu.Lock()
		status := http.StatusNoContent
		if len(statuses) > 0 {
			status, statuses = statuses[0], statuses[1:]
		}
		mu.Unlock()
		w.Header().Set("Location", "/elsewhere")
		w.WriteHeader(status)
		c := call{signature: r.Header.Get(shop.SignatureHeader), raw: raw}
		if json.Unmarshal(raw, &c.event) == nil && r.URL.Path == "/hook" && r.Method == http.MethodPost {
			calls <- c
		}
	}))
	t.Cleanup(server.Close)
	return server.URL + "/hook", calls
}

func TestSignature(t *testing.T) {
	// printf '1767614400.{"id":"evt_re_1"}' | openssl dgst -sha256 -hmac 0123456789abcdef
	require.Equal(t, "t=1767614400,v1=3d68816afd0cdb3e7e5a324f1ed828f65658d8100c474821a3c8eb00447ffac1", shop.Sign(secret, []byte(`{"id":"evt_re_1"}`), noon))
}

func TestWebhookIsSignedOverItsRawBody(t *testing.T) {
	url, calls := receiver(t)
	cfg := config(t.TempDir())
	cfg.Webhook.URL, cfg.ClockOffset = url, time.Hour
	c, _ := open(t, cfg)
	refund, err := c.Refund(t.Context(), "k", whole())
	require.NoError(t, err)

	got := <-calls
	require.Equal(t, shop.Event{ID: "evt_re_1", Type: "refund.succeeded", Refund: refund}, got.event)
	at := strconv.FormatInt(noon.Add(time.Hour).Unix(), 10)
	mac := hmac.New(sha256.New, secret)
	mac.Write([]byte(at + "."))
	mac.Write(got.raw)
	require.Equal(t, "t="+at+",v1="+hex.EncodeToString(mac.Sum(nil)), got.signature)
}

func TestWebhookIsTriedUntilAcknowledgedAndThenNeverAgain(t *testing.T) {
	url, calls := receiver(t, 500, 307, 404)
	cfg := config(t.TempDir())
	cfg.Webhook.URL = url
	c, stop := open(t, cfg)
	_, err := c.Refund(t.Context(), "k1", part(1))
	require.NoError(t, err)
	first := <-calls
	for range 3 {
		again := <-calls
		require.Equal(t, first.raw, again.raw)
	}
	_, err = c.Refund(t.Context(), "k2", part(1))
	require.NoError(t, err)
	require.Equal(t, "evt_re_2", (<-calls).event.ID)
	stop()

	c, _ = open(t, cfg)
	_, err = c.Refund(t.Context(), "k3", part(1))
	require.NoError(t, err)
	// A webhook can be told and its acknowledgement not yet be durable when the shop stops; then it comes twice.
	next := <-calls
	if next.event.ID == "evt_re_2" {
		next = <-calls
	}
	require.Equal(t, "evt_re_3", next.event.ID)
}

func TestWebhookAttemptsAreBounded(t *testing.T) {
	url, calls := receiver(t, 500, 500, 500)
	cfg := config(t.TempDir())
	cfg.Webhook.URL, cfg.Webhook.Attempts = url, 2
	c, _ := open(t, cfg)
	_, err := c.Refund(t.Context(), "k1", part(1))
	require.NoError(t, err)
	require.Equal(t, "evt_re_1", (<-calls).event.ID)
	require.Equal(t, "evt_re_1", (<-calls).event.ID)
	_, err = c.Refund(t.Context(), "k2", part(1)) // wakes the sender: a third attempt would come before this
	require.NoError(t, err)
	require.Equal(t, "evt_re_2", (<-calls).event.ID)
	require.Equal(t, "evt_re_2", (<-calls).event.ID)

	require.NoError(t, c.RegisterWebhook(t.Context(), url))
	require.Equal(t, "evt_re_1", (<-calls).event.ID)
}

func TestWebhookWaitsForSomebodyToRegister(t *testing.T) {
	c, _ := open(t, config(t.TempDir()))
	for _, key := range []string{"k1", "k2"} {
		_, err := c.Refund(t.Context(), key, part(1))
		require.NoError(t, err)
	}
	url, calls := receiver(t)
	require.NoError(t, c.RegisterWebhook(t.Context(), url))
	require.Equal(t, "evt_re_1", (<-calls).event.ID)
	require.Equal(t, "evt_re_2", (<-calls).event.ID)

	require.NoError(t, c.RegisterWebhook(t.Context(), ""))
	_, err := c.Refund(t.Context(), "k3", part(1))
	require.NoError(t, err)
	other, otherCalls := receiver(t)
	require.NoError(t, c.RegisterWebhook(t.Context(), other))
	require.Equal(t, "evt_re_3", (<-otherCalls).event.ID)
	require.Empty(t, calls)
}

func TestWebhooksStayOnLoopback(t *testing.T) {
	c, _ := open(t, config(t.TempDir()))
	for _, url := range []string{"http://example.com/hook", "https://127.0.0.1/hook", "http://192.0.2.1/", "ftp://localhost", "hook", "http://[::1"} {
		requireRefusal(t, c.RegisterWebhook(t.Context(), url), shop.CodeMalformed)
	}
	for _, url := range []string{"http://localhost:1/hook", "http://[::1]:1/", "http://127.0.0.2:1"} {
		require.NoError(t, c.RegisterWebhook(t.Context(), url))
	}
}
