package mcp

import (
	"context"
	"encoding/json"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	projection "github.com/pawlgo/pawl/context"
	"github.com/pawlgo/pawl/guard"
	"github.com/pawlgo/pawl/machine"
)

type proposeArguments struct {
	Task     string          `json:"task_id" validate:"min=1,max=128"`
	Version  uint64          `json:"state_version" validate:"min=1"`
	Decision string          `json:"decision" validate:"min=1,max=64"`
	Event    string          `json:"event" validate:"min=1,max=64"`
	Payload  json.RawMessage `json:"payload"`
}

type proposeAnswer struct {
	OK       bool            `json:"ok"`
	Task     string          `json:"task_id"`
	Version  uint64          `json:"state_version"`
	State    machine.State   `json:"state"`
	Event    string          `json:"event"`
	Replayed bool            `json:"replayed"`
	Returned json.RawMessage `json:"returned,omitempty"`
	Offers   []offered       `json:"offers"`
	Effects  []string        `json:"effects"`
}

func (s *Server) taskPropose() tool {
	return tool{
		name: "task_propose", title: "Propose an answer", scope: Write,
		text:  "Proposes one answer to what task_project showed. It is checked against evidence and may be refused; then nothing has changed, and the refusal says what is missing and what is open. It never confirms for a person: what needs a person's word waits for it.",
		hints: sdk.ToolAnnotations{DestructiveHint: new(true), IdempotentHint: true, OpenWorldHint: new(true)},
		input: object(
			required("task_id", taskID()),
			required("state_version", integer("the one that task_project showed", 1, 0)),
			required("decision", s.decisionNames()),
			required("event", text("one of the answers that were open", guard.MaxName)),
			required("payload", anyObject("the event's payload, in the schema that task_project showed; {} when it carries nothing"))),
		output: answer(
			required("task_id", text("the task", 0)),
			required("state_version", integer("the new version", 1, 0)),
			required("state", text("where the task stands now", 0)),
			required("event", text("what was committed", 0)),
			required("replayed", flag("the same proposal had been committed before; nothing happened again")),
			optional("returned", anyObject("what the task answers")),
			required("offers", list(object(required("event", text("", 0)), required("question", text("what a person is asked now", 0)), required("expires", instant(""))))),
			required("effects", list(text("an effect that is intended now; it has not happened before its receipt is observed", 0)))),
		run: s.propose,
	}
}

func (s *Server) propose(ctx context.Context, c call) (any, *Refusal, error) {
	in, refusal := args[proposeArguments](c)
	if refusal != nil {
		return nil, refusal, nil
	}
	if len(c.meta.written()) > machine.MaxRevision {
		return nil, refuse("invalid", "_meta %q and %q have more than %d bytes together", MetaRun, MetaModel, machine.MaxRevision), nil
	}
	session, err := s.o.Tasks.Resume(ctx, in.Task, c.who)
	if err != nil {
		return nil, nil, err
	}
	view, shown := s.views.find(c.who.ID, in.Task, in.Version, in.Decision)
	if !shown {
		r := refuse(CodeNotShown, "version %d of this task was not shown to you here for %.80q: call task_project, and answer what it shows", in.Version, in.Decision)
		r.Version = session.Version()
		return nil, r, nil
	}
	session.Wrote(c.meta.written())
	output, err := json.Marshal(map[string]any{"event": in.Event, "payload": in.Payload})
	if err != nil {
		return nil, nil, err
	}
	out, err := session.Answer(ctx, view, output)
	if err != nil {
		return nil, nil, err
	}
	if err := out.Err(); err != nil {
		return nil, refuseAnswer(view, out, in), nil
	}
	return committed(out), nil, nil
}

// written is the revision for the history: which wake-up, and which model.
func (m meta) written() string {
	switch {
	case m.run == "":
		return m.model
	case m.model == "":
		return "run=" + m.run
	}
	return "run=" + m.run + " " + m.model
}

func committed(out machine.Outcome) proposeAnswer {
	a := proposeAnswer{OK: true, Task: out.Task, Version: out.Version, State: out.State, Event: out.Event, Replayed: out.Replayed,
		Returned: out.Returned, Offers: []offered{}, Effects: []string{}}
	for _, o := range out.Offers {
		a.Offers = append(a.Offers, offered{o.Event, o.Question, o.Expires})
	}
	for _, i := range out.Intents {
		a.Effects = append(a.Effects, i.Effect)
	}
	return a
}

// refuseAnswer says of a refusal only what the view may show.
func refuseAnswer(view projection.View, out machine.Outcome, in proposeArguments) *Refusal {
	told, ok := view.Refusal(out.Err())
	if !ok {
		return refuse(out.Code(), "refused")
	}
	r := &Refusal{Code: told.Code, Text: told.Text, Missing: told.Needs, Permitted: told.Allowed, Question: told.Ask, Version: out.Version}
	if r.Code == "" {
		r.Code = string(out.Kind)
	}
	if len(told.Details) > 0 {
		r.with("says", told.Details)
	}
	if out.Version != in.Version {
		r.Permitted = nil // what was open at the version that was shown
		r.Text += "; the task has moved: call task_project again"
	}
	return r
}
