package workingstate

import (
	"bytes"
	"encoding/json"
	"errors"
	"strconv"
	"strings"

	"github.com/pawlgo/pawl/guard"
)

// GetArguments are the arguments of working_state_get.
type GetArguments struct {
	HistoryLimit *HistoryLimit `json:"history_limit"`
}

// HistoryLimit is how many changes are wanted. In JSON it is an integer, or a text that is one; a text or a number that is
// none, or is below zero, is taken as [DefaultHistory], as it always was; other JSON is refused.
type HistoryLimit int

var errLimit = errors.New("want an integer, or a text that is one")

// UnmarshalJSON takes a number or a text.
func (n *HistoryLimit) UnmarshalJSON(raw []byte) error {
	text := string(raw)
	switch {
	case bytes.HasPrefix(raw, []byte{'"'}):
		if err := json.Unmarshal(raw, &text); err != nil {
			return errLimit
		}
	case strings.Trim(text, "0123456789.+-eE") != "":
		return errLimit
	}
	v, err := strconv.ParseUint(strings.TrimSpace(text), 10, 64)
	switch {
	case errors.Is(err, strconv.ErrRange):
		v = MaxHistory
	case err != nil:
		v = DefaultHistory
	}
	*n = HistoryLimit(min(max(v, 1), MaxHistory))
	return nil
}

// JSONSchema describes what is accepted.
func (n HistoryLimit) JSONSchema() json.RawMessage {
	return json.RawMessage(`{"type":["integer","string"],"description":"how many changes of the history, 1 to 100; 20 when left out"}`)
}

// DecodeGet reads the arguments of working_state_get strictly, and gives the history that is wanted, for [Agent.Get]. No
// bytes are no arguments. Errors wrap [guard.ErrForm].
func DecodeGet(raw []byte) (history int, err error) {
	if len(raw) == 0 {
		raw = []byte(`{}`)
	}
	args, err := guard.Decode[GetArguments](raw)
	if err != nil || args.HistoryLimit == nil {
		return DefaultHistory, err
	}
	return int(*args.HistoryLimit), nil
}
