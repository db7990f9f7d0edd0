package modeltest

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
)

// body is the request that a client of structured output sends.
type body struct {
	Model          string       `json:"model"`
	Messages       []message    `json:"messages"`
	Temperature    *json.Number `json:"temperature"`
	ResponseFormat struct {
		Type       string `json:"type"`
		JSONSchema struct {
			Name   string          `json:"name"`
			Strict bool            `json:"strict"`
			Schema json.RawMessage `json:"schema"`
		} `json:"json_schema"`
	} `json:"response_format"`
}

type message struct {
	Role    string `json:"role"`
	Content string `json:"content"`
}

var schemaName = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)

// question returns what was asked: an optional system message and one user message, answered at temperature 0
// under a strict schema.
func (b body) question() (Question, error) {
	format := b.ResponseFormat
	q := Question{Model: b.Model, Name: format.JSONSchema.Name, Schema: format.JSONSchema.Schema}
	messages := b.Messages
	if len(messages) == 2 && messages[0].Role == "system" {
		q.System, messages = messages[0].Content, messages[1:]
	}
	if len(messages) != 1 || messages[0].Role != "user" || messages[0].Content == "" {
		return Question{}, errors.New("the messages are not an optional system message and one user message")
	}
	q.User = messages[0].Content
	if b.Temperature == nil || b.Temperature.String() != "0" {
		return Question{}, errors.New("the temperature is not 0")
	}
	if format.Type != "json_schema" || !format.JSONSchema.Strict {
		return Question{}, errors.New("the response format is not a strict json_schema")
	}
	if !schemaName.MatchString(q.Name) {
		return Question{}, fmt.Errorf("schema name %q", q.Name)
	}
	return q, CheckStrict(q.Schema)
}
