package mcp

import (
	"context"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	projection "github.com/pawlgo/pawl/context"
	"github.com/pawlgo/pawl/machine"
)

type historyArguments struct {
	Task  string `json:"task_id" validate:"min=1,max=128"`
	Limit *int   `json:"limit" validate:"omitnil,min=1,max=100"`
}

type historyAnswer struct {
	OK      bool              `json:"ok"`
	Entries []projection.Past `json:"entries"`
	Refused []attempt         `json:"refused"`
}

// attempt is a refused proposal, without its payload.
type attempt struct {
	At      time.Time    `json:"at"`
	Version uint64       `json:"state_version"`
	Event   string       `json:"event,omitempty"`
	Kind    machine.Kind `json:"kind"`
	Code    string       `json:"code,omitempty"`
	Yours   bool         `json:"yours"`
}

func (s *Server) taskHistory() tool {
	return tool{
		name: "task_history", title: "What happened to a task", scope: Read,
		text:  "Lists what was committed to a task, oldest first, and the newest proposals that were refused. Nothing that is not in it has happened.",
		hints: sdk.ToolAnnotations{ReadOnlyHint: true, IdempotentHint: true, DestructiveHint: new(false), OpenWorldHint: new(false)},
		input: object(required("task_id", taskID()), optional("limit", integer("how many of each; 20 when left out", 1, MaxHistory))),
		output: answer(
			required("entries", list(object(
				required("state_version", integer("", 1, 0)),
				required("at", instant("")),
				optional("event", text("left out when only evidence came in", 0)),
				required("by", text("kind of actor", 0)),
				optional("from", text("state before", 0)),
				required("to", text("state after", 0)),
				optional("offers_voided", integer("open questions that it made void", 0, 0))))),
			required("refused", list(object(
				required("at", instant("")),
				required("state_version", integer("where the task stood", 0, 0)),
				optional("event", text("what was proposed", 0)),
				required("kind", text("", 0)),
				optional("code", text("why", 0)),
				required("yours", flag("you proposed it")))))),
		run: s.history,
	}
}

func (s *Server) history(ctx context.Context, c call) (any, *Refusal, error) {
	in, refusal := args[historyArguments](c)
	if refusal != nil {
		return nil, refusal, nil
	}
	limit := DefaultHistory
	if in.Limit != nil {
		limit = *in.Limit
	}
	entries, err := s.o.Tasks.Recent(ctx, in.Task, c.who, limit)
	if err != nil {
		return nil, nil, err
	}
	attempts, err := s.o.Tasks.Attempts(ctx, in.Task, c.who)
	if err != nil {
		return nil, nil, err
	}
	out := historyAnswer{OK: true, Entries: make([]projection.Past, len(entries)), Refused: []attempt{}}
	for i, e := range entries {
		out.Entries[len(entries)-1-i] = projection.PastOf(e)
	}
	for _, a := range attempts[:min(limit, len(attempts))] {
		row := attempt{At: a.At.UTC(), Version: a.Version, Event: a.Event, Kind: a.Kind, Yours: a.Principal == c.who.ID}
		if len(a.Findings) > 0 {
			row.Code = a.Findings[0].Code
		}
		out.Refused = append([]attempt{row}, out.Refused...)
	}
	return out, nil, nil
}
