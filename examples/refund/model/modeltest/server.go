// Package modeltest has a local server that speaks as much of the OpenAI chat-completions protocol as the
// refund example uses, and is strict about it: what a real server would refuse, it refuses.
package modeltest

import (
	"encoding/json"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"
)

// Question is what a client asked.
type Question struct {
	Model  string
	System string // empty if there was no system message
	User   string
	Name   string          // of the schema
	Schema json.RawMessage // which CheckStrict accepts
}

// Answer is what the server says to one question. Exactly one choice is given, unless Raw or Status says otherwise.
type Answer struct {
	// Content is the text of the answer.
	Content string
	// Refusal, if not empty, is given instead of Content.
	Refusal string
	// Finish is the finish reason; empty means "stop".
	Finish string
	// Status, if not zero, is an HTTP status to fail with; the client is told to retry at once.
	Status int
	// Raw, if not empty, is the whole body instead of a completion.
	Raw string
}

// Server is a running server; it ends with its test. It is safe for concurrent use.
type Server struct {
	// URL is the base URL for a client; it ends with /v1.
	URL string

	key    string
	model  string
	answer func(Question) Answer

	mu        sync.Mutex
	questions []Question
	bad       []string
}

// Start serves one model, under one API key, on loopback. It asks answer for each well-formed question; calls
// come one at a time. When the test ends and a request came that was not well-formed, the test fails, unless
// Bad has been called.
func Start(t testing.TB, key, model string, answer func(Question) Answer) *Server {
	t.Helper()
	s := &Server{key: key, model: model, answer: answer}
	web := httptest.NewServer(s)
	s.URL = web.URL + "/v1"
	t.Cleanup(func() {
		web.Close()
		for _, reason := range s.Bad() {
			t.Errorf("modeltest: a bad request: %s", reason)
		}
	})
	return s
}

// Script gives answers in order, whatever is asked, and then fails with 400.
func Script(answers ...Answer) func(Question) Answer {
	return func(Question) Answer {
		if len(answers) == 0 {
			return Answer{Status: http.StatusBadRequest}
		}
		next := answers[0]
		answers = answers[1:]
		return next
	}
}

// Questions lists the well-formed questions so far, those that were failed with a Status included.
func (s *Server) Questions() []Question {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.questions)
}

// Bad says why requests were not well-formed, and forgets it.
func (s *Server) Bad() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	bad := s.bad
	s.bad = nil
	return bad
}

// ServeHTTP implements http.Handler.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	question, status, err := s.read(r)
	if err != nil {
		s.bad = append(s.bad, err.Error())
		fail(w, status, err.Error())
		return
	}
	s.questions = append(s.questions, question)
	switch a := s.answer(question); {
	case a.Status != 0:
		fail(w, a.Status, "the test says so")
	case a.Raw != "":
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, a.Raw)
	default:
		s.complete(w, a)
	}
}

func (s *Server) complete(w http.ResponseWriter, a Answer) {
	message := map[string]any{"role": "assistant", "content": a.Content, "refusal": nil}
	if a.Refusal != "" {
		message["content"], message["refusal"] = nil, a.Refusal
	}
	if a.Finish == "" {
		a.Finish = "stop"
	}
	write(w, http.StatusOK, map[string]any{
		"id": fmt.Sprintf("chatcmpl-%d", len(s.questions)), "object": "chat.completion", "created": 0, "model": s.model,
		"choices": []any{map[string]any{"index": 0, "message": message, "logprobs": nil, "finish_reason": a.Finish}},
		"usage":   map[string]any{"prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0},
	})
}

// read checks a request from the outside in, and returns the status that a real server gives.
func (s *Server) read(r *http.Request) (Question, int, error) {
	if r.URL.Path != "/v1/chat/completions" {
		return Question{}, http.StatusNotFound, fmt.Errorf("no path %s", r.URL.Path)
	}
	if r.Method != http.MethodPost {
		return Question{}, http.StatusMethodNotAllowed, fmt.Errorf("method %s", r.Method)
	}
	if r.Header.Get("Authorization") != "Bearer "+s.key {
		return Question{}, http.StatusUnauthorized, fmt.Errorf("not authorized with %q", r.Header.Get("Authorization"))
	}
	if kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || kind != "application/json" {
		return Question{}, http.StatusUnsupportedMediaType, fmt.Errorf("content type %q", r.Header.Get("Content-Type"))
	}
	var b body
	dec := json.NewDecoder(r.Body)
	dec.DisallowUnknownFields()
	if err := dec.Decode(&b); err != nil {
		return Question{}, http.StatusBadRequest, err
	}
	if b.Model != s.model {
		return Question{}, http.StatusNotFound, fmt.Errorf("no model %q", b.Model)
	}
	question, err := b.question()
	return question, http.StatusBadRequest, err
}

func fail(w http.ResponseWriter, status int, message string) {
	w.Header().Set("Retry-After-Ms", "1")
	write(w, status, map[string]any{"error": map[string]any{
		"message": message, "type": "invalid_request_error", "param": nil, "code": nil,
	}})
}

func write(w http.ResponseWriter, status int, value any) {
	text, err := json.Marshal(value)
	if err != nil {
		panic(err) // maps of strings, numbers and nil
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(text) // a client that is gone needs no answer
}
