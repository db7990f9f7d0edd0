package shop_test

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlgo/pawl/examples/refund/shop"
)

func TestNotSent(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	require.NoError(t, listener.Close()) // nobody listens there now
	c, err := shop.NewClient("http://"+listener.Addr().String(), 0)
	require.NoError(t, err)
	_, err = c.Refund(t.Context(), "k", whole())
	require.ErrorIs(t, err, shop.ErrNotSent)
	require.NotErrorIs(t, err, shop.ErrDeclined)

	requests := atomic.Int64{}
	c = at(t, func(http.ResponseWriter, *http.Request) { requests.Add(1) })
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = c.Refund(ctx, "k", whole())
	require.ErrorIs(t, err, shop.ErrNotSent)
	require.ErrorIs(t, err, context.Canceled)
	require.Zero(t, requests.Load())
}

// A connection that is accepted and closed unread may have carried the request, for all the client can see.
func TestAcceptedAndClosedIsUnknown(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer listener.Close()
	accepted := make(chan int, 1)
	go func() {
		n := 0
		for {
			conn, err := listener.Accept()
			if err != nil {
				accepted <- n
				return
			}
			n++
			_ = conn.Close()
		}
	}()
	c, err := shop.NewClient("http://"+listener.Addr().String(), 0)
	require.NoError(t, err)
	_, err = c.Refund(t.Context(), "k", whole())
	requireUnknown(t, err)
	require.NoError(t, listener.Close())
	require.Equal(t, 1, <-accepted, "it was sent once")
}

func TestAnswersThatProveNothing(t *testing.T) {
	refund := `{"id":"re_1","key":"k","order_id":"123","amount":{"minor":4300,"currency":"EUR"},"payee":"alice_card","at":"2026-01-05T12:00:00Z"}`
	for name, a := range map[string]struct {
		status int
		body   string
	}{
		"empty":                      {200, ""},
		"no JSON":                    {200, "<html>"},
		"cut":                        {200, refund[:40]},
		"two values":                 {200, refund + "{}"},
		"unknown field":              {200, `{"ok":true}`},
		"other key":                  {200, strings.Replace(refund, `"k"`, `"K"`, 1)},
		"other order":                {200, strings.Replace(refund, `"123"`, `"124"`, 1)},
		"other amount":               {200, strings.Replace(refund, `4300`, `4301`, 1)},
		"other payee":                {200, strings.Replace(refund, `alice_card`, `bob_card`, 1)},
		"no id":                      {200, strings.Replace(refund, `re_1`, ``, 1)},
		"accepted":                   {202, refund},
		"500":                        {500, `{"code":"internal","message":"x"}`},
		"503 with a refusal":         {503, `{"code":"no_order","message":"x"}`},
		"404 of another server":      {404, "404 page not found\n"},
		"400 of another code":        {400, `{"code":"no_order","message":"x"}`},
		"409 of an unknown code":     {409, `{"code":"busy","message":"x"}`},
		"408":                        {408, `{"code":"malformed","message":"x"}`},
		"429":                        {429, ""},
		"redirect":                   {307, ""},
		"too long":                   {200, refund + strings.Repeat(" ", shop.MaxAnswer+1-len(refund))},
		"too long a refusal to read": {404, `{"code":"no_order","message":"` + strings.Repeat("x", shop.MaxAnswer) + `"}`},
	} {
		t.Run(name, func(t *testing.T) {
			requests := atomic.Int64{}
			c := at(t, func(w http.ResponseWriter, r *http.Request) {
				requests.Add(1)
				w.Header().Set("Location", "/payments/refunds")
				w.WriteHeader(a.status)
				_, _ = io.WriteString(w, a.body)
			})
			r, err := c.Refund(t.Context(), "k", whole())
			requireUnknown(t, err)
			require.Zero(t, r)
			require.Equal(t, int64(1), requests.Load())
		})
	}
	for name, body := range map[string]string{
		"the refund": refund, "at the limit": refund + strings.Repeat(" ", shop.MaxAnswer-len(refund)),
	} {
		c := at(t, func(w http.ResponseWriter, r *http.Request) { _, _ = io.WriteString(w, body) })
		_, err := c.Refund(t.Context(), "k", whole())
		require.NoError(t, err, name)
	}
}

// Only the shop's own 404 says that nothing was refunded.
func TestAbsentIsSaidByTheShopAlone(t *testing.T) {
	for _, body := range []string{"404 page not found\n", `{"code":"no_order","message":"x"}`, `{}`} {
		c := at(t, func(w http.ResponseWriter, r *http.Request) {
			w.WriteHeader(http.StatusNotFound)
			_, _ = io.WriteString(w, body)
		})
		_, found, err := c.FindRefund(t.Context(), "k")
		require.Error(t, err)
		require.False(t, found)
	}
	c := at(t, func(w http.ResponseWriter, r *http.Request) { _, _ = io.WriteString(w, `{"id":"re_1","key":"other"}`) })
	_, found, err := c.FindRefund(t.Context(), "k")
	requireUnknown(t, err)
	require.False(t, found)
}

func TestEmptyAnswersAreNoFacts(t *testing.T) {
	c := at(t, func(w http.ResponseWriter, r *http.Request) { _, _ = io.WriteString(w, `{}`) })
	_, err := c.Eligibility(t.Context(), "123")
	requireUnknown(t, err)
	_, err = c.Order(t.Context(), "123")
	requireUnknown(t, err)
	_, err = c.Ledger(t.Context())
	requireUnknown(t, err)
}

func TestTheClientsOwnTimeout(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }))
	defer server.Close()
	c, err := shop.NewClient(server.URL, 10*time.Millisecond)
	require.NoError(t, err)
	_, err = c.Eligibility(t.Context(), "123")
	require.ErrorIs(t, err, context.DeadlineExceeded)
	_, err = c.Ledger(t.Context())
	requireUnknown(t, err)
}

func TestNewClientTakesTheURLOfAShop(t *testing.T) {
	for _, base := range []string{"", "127.0.0.1:80", "https://127.0.0.1", "http://", "http://127.0.0.1/x", "http://127.0.0.1?x=1", "http://[::1"} {
		_, err := shop.NewClient(base, 0)
		require.Error(t, err, base)
	}
	_, err := shop.NewClient("http://127.0.0.1:1", -time.Second)
	require.Error(t, err)
}
