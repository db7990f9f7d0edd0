// Package anthropic asks a model through Anthropic's Messages API, with nothing but net/http: how a client that is not
// part of pawl becomes the Model of a [projection.Loop].
package anthropic

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"

	projection "github.com/pawlgo/pawl/context"
)

// Limits of one call.
const (
	MaxTokens   = 1024    // tokens of an answer
	MaxResponse = 1 << 20 // bytes of a response that are read
)

// version of the protocol that is spoken.
const version = "2023-06-01"

var (
	// ErrServer is wrapped when the server did not answer with a message.
	ErrServer = errors.New("anthropic: no message")
	// ErrCutOff says that the answer ran into MaxTokens: half an answer is none.
	ErrCutOff = errors.New("anthropic: the answer was cut off")
)

// Client calls one model of one server. The zero Client is unusable. Safe for concurrent use.
type Client struct {
	BaseURL string // like https://api.anthropic.com, without a slash at the end
	Model   string
	Key     string
	HTTP    *http.Client // nil: http.DefaultClient, with the deadline of the context
}

// request is the body of a call, as far as it is used here.
type request struct {
	Model      string          `json:"model"`
	MaxTokens  int             `json:"max_tokens"`
	System     []text          `json:"system"`
	Messages   []message       `json:"messages"`
	Tools      json.RawMessage `json:"tools"`
	ToolChoice toolChoice      `json:"tool_choice"`
}

type text struct {
	Type  string `json:"type"`
	Text  string `json:"text"`
	Cache *cache `json:"cache_control,omitempty"`
}

type cache struct {
	Type string `json:"type"`
}

type message struct {
	Role    string `json:"role"`
	Content string `json:"content"`
}

type toolChoice struct {
	Type            string `json:"type"`
	DisableParallel bool   `json:"disable_parallel_tool_use"`
}

// Answer shows the view and gives the raw message that came back, for [projection.View.Read]. The part of the view that is
// the same for every task goes into the system prompt and is marked for the cache; every open answer is a tool, and the
// model must use exactly one. Nothing is read out of the message here.
func (c *Client) Answer(ctx context.Context, v projection.View) ([]byte, error) {
	body, err := json.Marshal(request{
		Model: c.Model, MaxTokens: MaxTokens,
		System:     []text{{"text", v.Markdown()[:v.Head()], &cache{"ephemeral"}}},
		Messages:   []message{{"user", v.Markdown()[v.Head():]}},
		Tools:      v.AnthropicTools(false),
		ToolChoice: toolChoice{"any", true},
	})
	if err != nil {
		return nil, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.BaseURL+"/v1/messages", bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Anthropic-Version", version)
	req.Header.Set("X-Api-Key", c.Key)
	return c.send(req)
}

func (c *Client) send(req *http.Request) ([]byte, error) {
	client := c.HTTP
	if client == nil {
		client = http.DefaultClient
	}
	resp, err := client.Do(req)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrServer, err)
	}
	defer func() { _ = resp.Body.Close() }()
	raw, err := io.ReadAll(io.LimitReader(resp.Body, MaxResponse+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("%w: %w", ErrServer, err)
	case len(raw) > MaxResponse:
		return nil, fmt.Errorf("%w: more than %d bytes", ErrServer, MaxResponse)
	case resp.StatusCode != http.StatusOK:
		return nil, fmt.Errorf("%w: status %d: %.200q", ErrServer, resp.StatusCode, raw)
	}
	var head struct {
		Type       string `json:"type"`
		StopReason string `json:"stop_reason"`
	}
	if err := json.Unmarshal(raw, &head); err != nil || head.Type != "message" {
		return nil, fmt.Errorf("%w: %.200q", ErrServer, raw)
	}
	if head.StopReason == "max_tokens" {
		return nil, ErrCutOff
	}
	return raw, nil
}
