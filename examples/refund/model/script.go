package model

import (
	"bytes"
	"context"
	"slices"
	"sync"
)

// Script is a model that gives the same answers every time: the first to the first question, and so on. It is
// safe for concurrent use.
type Script struct {
	mu       sync.Mutex
	answers  []string
	requests []Request
}

// NewScript makes a script of answers, whatever they are: a script also plays models that misbehave.
func NewScript(answers ...string) *Script { return &Script{answers: slices.Clone(answers)} }

// Complete returns the next answer, or ErrExhausted. A bad request or a context that is done uses none up.
func (s *Script) Complete(ctx context.Context, r Request) ([]byte, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if err := r.check(); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.answers) == 0 {
		return nil, ErrExhausted
	}
	answer := s.answers[0]
	r.Schema = bytes.Clone(r.Schema)
	s.answers, s.requests = s.answers[1:], append(s.requests, r)
	return []byte(answer), nil
}

// Requests lists the questions that were answered, in order.
func (s *Script) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.requests)
}

// Left is how many answers are left.
func (s *Script) Left() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.answers)
}
