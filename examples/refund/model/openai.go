package model

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"time"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/shared"
)

const (
	// DefaultTimeout is how long one Complete may take, its retry included.
	DefaultTimeout = 60 * time.Second
	// MaxRetries is how often a request that failed on the way, or with 408, 409, 429 or 5xx, is sent again.
	MaxRetries = 1
	// MaxResponse is the longest response that is read from a server, in bytes: the answer and what is around it.
	MaxResponse = 1 << 20

	dialTimeout   = 5 * time.Second
	maxRetryDelay = 5 * time.Second
)

// Config names a server and a model.
type Config struct {
	// BaseURL is what stands before /chat/completions, such as https://api.openai.com/v1; required.
	BaseURL string
	// Model is the server's name for the model; required.
	Model string
	// APIKey is sent as a bearer token, over https or to loopback only; empty sends none.
	APIKey string
	// Timeout bounds one Complete; 0 means DefaultTimeout.
	Timeout time.Duration
}

// OpenAI asks a server that speaks the OpenAI chat-completions protocol, for structured output that follows
// the request's schema strictly, at temperature 0. Of the environment it reads
// the proxy settings only. It is safe for concurrent use.
type OpenAI struct {
	model   string
	timeout time.Duration
	chat    openai.ChatCompletionService
}

// NewOpenAI checks the configuration; it connects to nothing.
func NewOpenAI(c Config) (*OpenAI, error) {
	u, err := url.Parse(c.BaseURL)
	if err != nil {
		return nil, fmt.Errorf("model: base URL: %w", err)
	}
	switch {
	case u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.RawQuery != "" || u.User != nil:
		return nil, fmt.Errorf("model: %q is not a base URL such as https://HOST/v1", u.Redacted())
	case c.APIKey != "" && u.Scheme == "http" && !loopback(u.Hostname()):
		return nil, fmt.Errorf("model: the API key does not go to %s over plain http", u.Host)
	case c.Model == "":
		return nil, errors.New("model: no model is named")
	case c.Timeout < 0:
		return nil, fmt.Errorf("model: a timeout of %s", c.Timeout)
	case c.Timeout == 0:
		c.Timeout = DefaultTimeout
	}
	// The service on its own, since openai.NewClient takes keys, URLs and headers from the environment.
	options := []option.RequestOption{
		option.WithBaseURL(c.BaseURL),
		option.WithHTTPClient(newHTTPClient()),
		option.WithMaxRetries(MaxRetries),
		option.WithMaxRetryDelay(maxRetryDelay),
	}
	if c.APIKey != "" {
		options = append(options, option.WithAPIKey(c.APIKey))
	}
	return &OpenAI{model: c.Model, timeout: c.Timeout, chat: openai.NewChatCompletionService(options...)}, nil
}

// Complete asks once, and once more when the first attempt failed on the way. Beyond the errors of this
// package it returns those of the network, of ctx, and of the server.
func (o *OpenAI) Complete(ctx context.Context, r Request) ([]byte, error) {
	if err := r.check(); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, o.timeout)
	defer cancel()
	var messages []openai.ChatCompletionMessageParamUnion
	if r.System != "" {
		messages = append(messages, openai.SystemMessage(r.System))
	}
	completion, err := o.chat.New(ctx, openai.ChatCompletionNewParams{
		Model:       o.model,
		Messages:    append(messages, openai.UserMessage(r.View)),
		Temperature: openai.Float(0),
		ResponseFormat: openai.ChatCompletionNewParamsResponseFormatUnion{
			OfJSONSchema: &shared.ResponseFormatJSONSchemaParam{
				JSONSchema: shared.ResponseFormatJSONSchemaJSONSchemaParam{
					Name: r.Name, Schema: r.Schema, Strict: openai.Bool(true),
				},
			},
		},
	})
	if err != nil {
		return nil, explain(err)
	}
	return answerOf(completion)
}

// explain adds what the server says about a request, which the client library leaves out of its error. What
// it says about credentials stays out.
func explain(err error) error {
	var answer *openai.Error
	if errors.As(err, &answer) && answer.Message != "" &&
		answer.StatusCode != http.StatusUnauthorized && answer.StatusCode != http.StatusForbidden {
		return fmt.Errorf("model: %w: %.300q", err, answer.Message)
	}
	return fmt.Errorf("model: %w", err)
}

func answerOf(c *openai.ChatCompletion) ([]byte, error) {
	if len(c.Choices) != 1 {
		return nil, fmt.Errorf("%w: %d choices", ErrNoAnswer, len(c.Choices))
	}
	choice := c.Choices[0]
	switch content := choice.Message.Content; {
	case choice.Message.Refusal != "":
		return nil, fmt.Errorf("%w: %.200q", ErrRefused, choice.Message.Refusal)
	case choice.FinishReason != "stop":
		return nil, fmt.Errorf("%w: it ended with %.40q", ErrNoAnswer, choice.FinishReason)
	case content == "":
		return nil, fmt.Errorf("%w: it is empty", ErrNoAnswer)
	case len(content) > MaxAnswer:
		return nil, fmt.Errorf("%w: %d bytes where %d are the most", ErrTooLong, len(content), MaxAnswer)
	default:
		return []byte(content), nil
	}
}

// newHTTPClient leaves the time that an answer takes to the context of Complete.
func newHTTPClient() *http.Client {
	return &http.Client{
		Transport: bounded{&http.Transport{
			Proxy:               http.ProxyFromEnvironment,
			DialContext:         (&net.Dialer{Timeout: dialTimeout}).DialContext,
			TLSHandshakeTimeout: dialTimeout,
			ForceAttemptHTTP2:   true,
		}},
		CheckRedirect: func(req *http.Request, _ []*http.Request) error {
			return fmt.Errorf("the server redirects to %s, which is not followed", req.URL.Host)
		},
	}
}

// bounded limits every response body, since the client library reads all that a server sends.
type bounded struct{ http.RoundTripper }

func (b bounded) RoundTrip(r *http.Request) (*http.Response, error) {
	res, err := b.RoundTripper.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	res.Body = http.MaxBytesReader(nil, res.Body, MaxResponse)
	return res, nil
}

func loopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}
