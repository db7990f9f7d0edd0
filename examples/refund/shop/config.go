package shop

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"time"
)

// Defaults and limits of a Config.
const (
	DefaultListen   = "127.0.0.1:0"
	DefaultAttempts = 5
	MaxAttempts     = 10
	DefaultBackoff  = 50 * time.Millisecond
	DefaultTimeout  = 5 * time.Second
	MinSecret       = 16 // bytes
)

// Config says what the shop is. It is JSON, but for its functions, since a parent process hands it to a child.
type Config struct {
	// Dir holds the ledger and is created if need be; required. One process at a time.
	Dir string `json:"dir"`
	// Listen is a loopback address; empty means DefaultListen, a port that is free.
	Listen string `json:"listen,omitempty"`
	// Orders are what the order service knows; required to contain every order that the ledger names.
	Orders []Order `json:"orders"`
	// Policy is in force until the ledger says otherwise; required.
	Policy Policy `json:"policy"`
	// ClockOffset is added to the machine's clock; it may be negative, and is not part of the ledger.
	ClockOffset time.Duration `json:"clock_offset_ns,omitempty"`
	// Webhook says how refunds are announced.
	Webhook Webhook `json:"webhook"`
	// Now is the machine's clock; nil means time.Now. Used concurrently.
	Now func() time.Time `json:"-"`
	// Ready, if not nil, is called once with the shop's URL, when it answers there.
	Ready func(url string) `json:"-"`
}

// Webhook says where and how refunds are announced.
type Webhook struct {
	// URL is a loopback http URL; empty means nobody, until Client.RegisterWebhook says whom.
	URL string `json:"url,omitempty"`
	// Secret signs; at least MinSecret bytes; required.
	Secret []byte `json:"secret"`
	// Attempts is how often an event is tried per registration, 1 to MaxAttempts; 0 means DefaultAttempts.
	Attempts int `json:"attempts,omitempty"`
	// Backoff is the pause after the first failed attempt, doubled after each; 0 means DefaultBackoff.
	Backoff time.Duration `json:"backoff_ns,omitempty"`
	// Timeout bounds one attempt; 0 means DefaultTimeout.
	Timeout time.Duration `json:"timeout_ns,omitempty"`
}

func (c Config) withDefaults() Config {
	if c.Listen == "" {
		c.Listen = DefaultListen
	}
	if c.Webhook.Attempts == 0 {
		c.Webhook.Attempts = DefaultAttempts
	}
	if c.Webhook.Backoff == 0 {
		c.Webhook.Backoff = DefaultBackoff
	}
	if c.Webhook.Timeout == 0 {
		c.Webhook.Timeout = DefaultTimeout
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Ready == nil {
		c.Ready = func(string) {}
	}
	return c
}

// check leaves orders and policy to openWorld.
func (c Config) check() error {
	host, _, err := net.SplitHostPort(c.Listen)
	switch {
	case c.Dir == "":
		return errors.New("shop: no directory for the ledger")
	case err != nil:
		return fmt.Errorf("shop: listen: %w", err)
	case !loopback(host):
		return fmt.Errorf("shop: listen: %q is not loopback, and the admin calls know no authentication", host)
	case len(c.Webhook.Secret) < MinSecret:
		return fmt.Errorf("shop: the webhook secret has %d bytes, and needs %d", len(c.Webhook.Secret), MinSecret)
	case c.Webhook.Attempts < 1 || c.Webhook.Attempts > MaxAttempts:
		return fmt.Errorf("shop: %d webhook attempts where 1 to %d are allowed", c.Webhook.Attempts, MaxAttempts)
	case c.Webhook.Backoff < 0 || c.Webhook.Timeout < 0:
		return errors.New("shop: a negative webhook backoff or timeout")
	}
	return checkWebhookURL(c.Webhook.URL)
}

func checkWebhookURL(text string) error {
	if text == "" {
		return nil
	}
	u, err := url.Parse(text)
	if err != nil {
		return fmt.Errorf("shop: webhook: %w", err)
	}
	if u.Scheme != "http" || !loopback(u.Hostname()) {
		return fmt.Errorf("shop: webhook: %.200q is not an http URL on loopback", text)
	}
	return nil
}

func loopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}
