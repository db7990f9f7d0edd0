// Package model is how the refund example asks a language model: one interface, a script that plays one, and
// any server that speaks the OpenAI chat-completions protocol with structured output.
//
// What a model answers is a proposal in raw bytes. Nothing here reads it, repairs it or believes it.
package model

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
)

// Limits of a request and its answer, in bytes.
const (
	MaxPrompt = 64 << 10 // System, View and Schema together
	MaxAnswer = 64 << 10
)

var (
	// ErrRequest says that a request cannot be put to any model; nothing was sent.
	ErrRequest = errors.New("model: bad request")
	// ErrRefused says that the model declined to answer.
	ErrRefused = errors.New("model: refused to answer")
	// ErrNoAnswer says that there is no whole answer: no choice, an empty one, or one that was cut off.
	ErrNoAnswer = errors.New("model: no answer")
	// ErrTooLong says that an answer has more than MaxAnswer bytes.
	ErrTooLong = errors.New("model: answer too long")
	// ErrExhausted says that a Script has no answer left.
	ErrExhausted = errors.New("model: the script has no answer left")
)

// Request is one question to a model.
type Request struct {
	// System says what the model is there for; it may be empty.
	System string
	// View is what the model is shown; required.
	View string
	// Schema is the JSON Schema of the answer, an object; required.
	Schema json.RawMessage
	// Name names the schema: 1 to 64 bytes of [A-Za-z0-9_-].
	Name string
}

// Model answers questions. Implementations are safe for concurrent use, return a slice that belongs to the
// caller, and return an error instead of a partial answer.
type Model interface {
	Complete(ctx context.Context, r Request) ([]byte, error)
}

var schemaName = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)

func (r Request) check() error {
	var object map[string]json.RawMessage
	switch {
	case r.View == "":
		return fmt.Errorf("%w: an empty view", ErrRequest)
	case len(r.System)+len(r.View)+len(r.Schema) > MaxPrompt:
		return fmt.Errorf("%w: more than %d bytes", ErrRequest, MaxPrompt)
	case !schemaName.MatchString(r.Name):
		return fmt.Errorf("%w: schema name %.80q", ErrRequest, r.Name)
	case json.Unmarshal(r.Schema, &object) != nil || object == nil:
		return fmt.Errorf("%w: the schema is not a JSON object", ErrRequest)
	}
	return nil
}
