package shop

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"sync"
	"time"
)

// SignatureHeader is the header that carries a webhook's timestamp and signature.
const SignatureHeader = "Shop-Signature"

// Sign returns the value of SignatureHeader for a body sent at a time: "t=UNIX,v1=HEX", where HEX is the
// HMAC-SHA256 of "UNIX.BODY" under secret.
func Sign(secret, body []byte, at time.Time) string {
	mac := hmac.New(sha256.New, secret)
	fmt.Fprintf(mac, "%d.%s", at.Unix(), body)
	return fmt.Sprintf("t=%d,v1=%s", at.Unix(), hex.EncodeToString(mac.Sum(nil)))
}

// herald delivers the world's pending events, one at a time and oldest first.
type herald struct {
	world  *world
	config Webhook
	client *http.Client
	wake   chan struct{} // holds one: something changed

	mu    sync.Mutex
	url   string
	tries map[string]int // by event, since the last registration
}

func newHerald(w *world, config Webhook) *herald {
	return &herald{
		world: w, config: config, url: config.URL, tries: map[string]int{}, wake: make(chan struct{}, 1),
		client: &http.Client{
			Transport:     &http.Transport{DisableKeepAlives: true},
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
	}
}

// register directs all events to url from now on, and starts to count their attempts anew; empty stops them.
func (h *herald) register(url string) error {
	if err := checkWebhookURL(url); err != nil {
		return refuse(CodeMalformed, "%v", err)
	}
	h.mu.Lock()
	h.url = url
	clear(h.tries)
	h.mu.Unlock()
	h.notify()
	return nil
}

func (h *herald) notify() {
	select {
	case h.wake <- struct{}{}:
	default: // somebody said so already
	}
}

// run delivers until ctx is done.
func (h *herald) run(ctx context.Context) {
	for ctx.Err() == nil {
		event, url, ok := h.next()
		if !ok {
			h.wait(ctx, nil)
			continue
		}
		err := h.post(ctx, url, event)
		if err == nil {
			err = h.world.acknowledge(event.ID)
		}
		if err != nil {
			timer := time.NewTimer(h.failed(event.ID))
			h.wait(ctx, timer.C)
			timer.Stop()
		}
	}
}

func (h *herald) wait(ctx context.Context, due <-chan time.Time) {
	select {
	case <-ctx.Done():
	case <-h.wake:
	case <-due:
	}
}

func (h *herald) next() (Event, string, bool) {
	events := h.world.pending()
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, e := range events {
		if h.url != "" && h.tries[e.ID] < h.config.Attempts {
			return e, h.url, true
		}
	}
	return Event{}, "", false
}

// failed counts an attempt and returns the pause before the next.
func (h *herald) failed(event string) time.Duration {
	h.mu.Lock()
	defer h.mu.Unlock()
	pause := h.config.Backoff << h.tries[event]
	h.tries[event]++
	return pause
}

func (h *herald) post(ctx context.Context, url string, event Event) error {
	ctx, cancel := context.WithTimeout(ctx, h.config.Timeout)
	defer cancel()
	body, err := json.Marshal(event)
	if err != nil {
		return err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(body))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set(SignatureHeader, Sign(h.config.Secret, body, h.world.clock.now()))
	res, err := h.client.Do(req)
	if err != nil {
		return err
	}
	if err := res.Body.Close(); err != nil {
		return err
	}
	if res.StatusCode < 200 || res.StatusCode > 299 {
		return fmt.Errorf("shop: webhook answered %s", res.Status)
	}
	return nil
}
