package model_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlgo/pawl/examples/refund/model"
	"github.com/pawlgo/pawl/examples/refund/model/modeltest"
)

var (
	_ model.Model = (*model.Script)(nil)
	_ model.Model = (*model.OpenAI)(nil)
)

const (
	key    = "test-key"
	answer = `{"event":"ask_again","payload":{"text":"Shall I refund 43.00 EUR?"}}`
)

var request = model.Request{
	System: "You interpret what a customer says.",
	View:   "The customer said: \"continue with yesterday's one\" <&>",
	Name:   "interpret_reply",
	Schema: json.RawMessage(`{"type":"object","properties":{"event":{"type":"string"}},"required":["event"],"additionalProperties":false}`),
}

func client(t *testing.T, s *modeltest.Server) *model.OpenAI {
	t.Helper()
	m, err := model.NewOpenAI(model.Config{BaseURL: s.URL, Model: "small", APIKey: key})
	require.NoError(t, err)
	return m
}

func TestOpenAIAsksAndHandsOverTheBytes(t *testing.T) {
	for _, content := range []string{answer, "not JSON at all", " {\"a\":1,\"a\":2} ", `{"text":"ü 😀"}`} {
		s := modeltest.Start(t, key, "small", modeltest.Script(modeltest.Answer{Content: content}))
		got, err := client(t, s).Complete(t.Context(), request)
		require.NoError(t, err)
		require.Equal(t, content, string(got))
		require.Equal(t, []modeltest.Question{{
			Model: "small", System: request.System, User: request.View, Name: request.Name, Schema: request.Schema,
		}}, s.Questions())
	}
	bare := request
	bare.System = ""
	s := modeltest.Start(t, key, "small", modeltest.Script(modeltest.Answer{Content: answer}))
	_, err := client(t, s).Complete(t.Context(), bare)
	require.NoError(t, err)
	require.Empty(t, s.Questions()[0].System)
}

func TestOpenAITakesNothingFromTheEnvironment(t *testing.T) {
	elsewhere := httptest.NewServer(http.NotFoundHandler())
	defer elsewhere.Close()
	t.Setenv("OPENAI_API_KEY", "from-the-environment")
	t.Setenv("OPENAI_ADMIN_KEY", "from-the-environment")
	t.Setenv("OPENAI_BASE_URL", elsewhere.URL)
	t.Setenv("OPENAI_CUSTOM_HEADERS", "Authorization: from-the-environment")
	s := modeltest.Start(t, key, "small", modeltest.Script(modeltest.Answer{Content: answer}))
	_, err := client(t, s).Complete(t.Context(), request)
	require.NoError(t, err)

	keyless, err := model.NewOpenAI(model.Config{BaseURL: s.URL, Model: "small"})
	require.NoError(t, err)
	_, err = keyless.Complete(t.Context(), request)
	require.ErrorContains(t, err, "401")
	require.Equal(t, []string{`not authorized with ""`}, s.Bad())
}

func TestOpenAIAnswersThatAreNone(t *testing.T) {
	choice := `{"index":0,"message":{"role":"assistant","content":"{}"},"finish_reason":"stop"}`
	for name, c := range map[string]struct {
		answer modeltest.Answer
		want   error
	}{
		"refusal":           {modeltest.Answer{Refusal: "I cannot help with that."}, model.ErrRefused},
		"cut off":           {modeltest.Answer{Content: answer, Finish: "length"}, model.ErrNoAnswer},
		"filtered":          {modeltest.Answer{Content: answer, Finish: "content_filter"}, model.ErrNoAnswer},
		"empty":             {modeltest.Answer{}, model.ErrNoAnswer},
		"no choices":        {modeltest.Answer{Raw: `{"id":"x","object":"chat.completion","choices":[]}`}, model.ErrNoAnswer},
		"two choices":       {modeltest.Answer{Raw: `{"id":"x","choices":[` + choice + "," + choice + `]}`}, model.ErrNoAnswer},
		"another object":    {modeltest.Answer{Raw: `{"hello":"world"}`}, model.ErrNoAnswer},
		"one byte too many": {modeltest.Answer{Content: strings.Repeat("x", model.MaxAnswer+1)}, model.ErrTooLong},
	} {
		t.Run(name, func(t *testing.T) {
			s := modeltest.Start(t, key, "small", modeltest.Script(c.answer))
			got, err := client(t, s).Complete(t.Context(), request)
			require.ErrorIs(t, err, c.want)
			require.Nil(t, got)
			require.Len(t, s.Questions(), 1)
		})
	}
	s := modeltest.Start(t, key, "small", modeltest.Script(modeltest.Answer{Content: strings.Repeat("x", model.MaxAnswer)}))
	got, err := client(t, s).Complete(t.Context(), request)
	require.NoError(t, err)
	require.Len(t, got, model.MaxAnswer)
}

func TestOpenAIResponsesAtTheLimit(t *testing.T) {
	head := `{"choices":[{"index":0,"message":{"role":"assistant","content":"{}"},"finish_reason":"stop"}]}`
	padded := func(size int) modeltest.Answer {
		return modeltest.Answer{Raw: head + strings.Repeat(" ", size-len(head))}
	}
	s := modeltest.Start(t, key, "small", modeltest.Script(padded(model.MaxResponse), padded(model.MaxResponse+1)))
	m := client(t, s)
	_, err := m.Complete(t.Context(), request)
	require.NoError(t, err)
	_, err = m.Complete(t.Context(), request)
	require.ErrorAs(t, err, new(*http.MaxBytesError))
}

func TestOpenAIRetriesOnce(t *testing.T) {
	s := modeltest.Start(t, key, "small", modeltest.Script(modeltest.Answer{Status: 503}, modeltest.Answer{Content: answer}))
	got, err := client(t, s).Complete(t.Context(), request)
	require.NoError(t, err)
	require.Equal(t, answer, string(got))
	require.Len(t, s.Questions(), 2)

	s = modeltest.Start(t, key, "small", func(modeltest.Question) modeltest.Answer { return modeltest.Answer{Status: 503} })
	_, err = client(t, s).Complete(t.Context(), request)
	require.ErrorContains(t, err, "503")
	require.Len(t, s.Questions(), 1+model.MaxRetries)

	s = modeltest.Start(t, key, "small", modeltest.Script())
	_, err = client(t, s).Complete(t.Context(), request)
	require.ErrorContains(t, err, `400 Bad Request: "the test says so"`)
	require.Len(t, s.Questions(), 1, "a definite refusal is not retried")
}

func TestOpenAIErrorsKeepTheKey(t *testing.T) {
	s := modeltest.Start(t, "another-key", "small", modeltest.Script())
	_, err := client(t, s).Complete(t.Context(), request)
	require.ErrorContains(t, err, "401")
	require.NotContains(t, err.Error(), key)
	require.Len(t, s.Bad(), 1)
}

func TestOpenAIGivesUpInTime(t *testing.T) {
	for name, begin := range map[string]string{"before the header": "", "within the body": `{"choices":`} {
		t.Run(name, func(t *testing.T) {
			web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				_ = json.NewDecoder(r.Body).Decode(new(any)) // only then is the client's leaving noticed
				if begin != "" {
					_, _ = io.WriteString(w, begin)
					_ = http.NewResponseController(w).Flush()
				}
				<-r.Context().Done()
			}))
			defer web.Close()
			m, err := model.NewOpenAI(model.Config{BaseURL: web.URL, Model: "small", Timeout: 10 * time.Millisecond})
			require.NoError(t, err)
			_, err = m.Complete(t.Context(), request)
			require.ErrorIs(t, err, context.DeadlineExceeded)
		})
	}
}

func TestOpenAIFollowsNoRedirect(t *testing.T) {
	s := modeltest.Start(t, key, "small", modeltest.Script(modeltest.Answer{Content: answer}))
	web := httptest.NewServer(http.RedirectHandler(s.URL+"/chat/completions", http.StatusTemporaryRedirect))
	defer web.Close()
	m, err := model.NewOpenAI(model.Config{BaseURL: web.URL, Model: "small", APIKey: key})
	require.NoError(t, err)
	_, err = m.Complete(t.Context(), request)
	require.ErrorContains(t, err, "not followed")
	require.Empty(t, s.Questions())
}

func TestNewOpenAIRefuses(t *testing.T) {
	for name, c := range map[string]model.Config{
		"no URL":             {Model: "m"},
		"no scheme":          {Model: "m", BaseURL: "127.0.0.1/v1"},
		"another scheme":     {Model: "m", BaseURL: "ftp://localhost/v1"},
		"a query":            {Model: "m", BaseURL: "https://localhost/v1?key=x"},
		"a password":         {Model: "m", BaseURL: "https://user:secret@localhost/v1"},
		"no model":           {BaseURL: "https://localhost/v1"},
		"a negative timeout": {Model: "m", BaseURL: "https://localhost/v1", Timeout: -1},
		"a key in clear":     {Model: "m", BaseURL: "http://192.0.2.1/v1", APIKey: key},
	} {
		_, err := model.NewOpenAI(c)
		require.Error(t, err, name)
		require.NotContains(t, err.Error(), "secret", name)
		require.NotContains(t, err.Error(), key, name)
	}
	for _, c := range []model.Config{
		{Model: "m", BaseURL: "http://192.0.2.1/v1"},
		{Model: "m", BaseURL: "https://192.0.2.1/v1", APIKey: key},
		{Model: "m", BaseURL: "http://[::1]:1/v1", APIKey: key},
	} {
		_, err := model.NewOpenAI(c)
		require.NoError(t, err)
	}
}

// badRequests are refused by every model before anything is sent or used up.
func badRequests() map[string]model.Request {
	bad := map[string]model.Request{}
	spoil := func(name string, f func(*model.Request)) { r := request; f(&r); bad[name] = r }
	spoil("no view", func(r *model.Request) { r.View = "" })
	spoil("no schema", func(r *model.Request) { r.Schema = nil })
	spoil("schema null", func(r *model.Request) { r.Schema = json.RawMessage("null") })
	spoil("schema true", func(r *model.Request) { r.Schema = json.RawMessage("true") })
	spoil("schema cut", func(r *model.Request) { r.Schema = r.Schema[:20] })
	spoil("no name", func(r *model.Request) { r.Name = "" })
	spoil("name with a space", func(r *model.Request) { r.Name = "a b" })
	spoil("name too long", func(r *model.Request) { r.Name = strings.Repeat("n", 65) })
	spoil("too long", func(r *model.Request) {
		r.View = strings.Repeat("x", model.MaxPrompt+1-len(r.System)-len(r.Schema))
	})
	return bad
}

func TestBadRequests(t *testing.T) {
	s := modeltest.Start(t, key, "small", modeltest.Script())
	script := model.NewScript(answer)
	for name, r := range badRequests() {
		_, err := client(t, s).Complete(t.Context(), r)
		require.ErrorIs(t, err, model.ErrRequest, name)
		_, err = script.Complete(t.Context(), r)
		require.ErrorIs(t, err, model.ErrRequest, name)
	}
	require.Empty(t, s.Questions())
	require.Equal(t, 1, script.Left())

	most := request
	most.Name = strings.Repeat("n", 64)
	most.View = strings.Repeat("x", model.MaxPrompt-len(most.System)-len(most.Schema))
	_, err := script.Complete(t.Context(), most)
	require.NoError(t, err)
}

func TestScript(t *testing.T) {
	s := model.NewScript("one", "")
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := s.Complete(gone, request)
	require.ErrorIs(t, err, context.Canceled)
	require.Equal(t, 2, s.Left())

	second := request
	second.View = "and now?"
	second.Schema = json.RawMessage(`{}`)
	first, err := s.Complete(t.Context(), request)
	require.NoError(t, err)
	require.Equal(t, "one", string(first))
	empty, err := s.Complete(t.Context(), second)
	require.NoError(t, err)
	require.Empty(t, empty)
	_, err = s.Complete(t.Context(), request)
	require.ErrorIs(t, err, model.ErrExhausted)

	copy(second.Schema, "xx")
	require.Equal(t, "{}", string(s.Requests()[1].Schema), "what was recorded is a copy")
	require.Equal(t, request, s.Requests()[0])
	require.Len(t, s.Requests(), 2)
}
