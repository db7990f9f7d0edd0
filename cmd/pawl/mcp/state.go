package mcp

import (
	"context"
	"errors"

	"github.com/google/jsonschema-go/jsonschema"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/pawlgo/pawl/guard"
	"github.com/pawlgo/pawl/machine"
	"github.com/pawlgo/pawl/machine/workingstate"
	"github.com/pawlgo/pawl/resume"
)

// agent is the working state of a call's agent.
func (s *Server) agent(c call) (workingstate.Agent, *Refusal) {
	a, err := workingstate.NewAgent(s.o.Committer, c.agent)
	if err != nil {
		return a, refuse(workingstate.CodeUnknownAgent, "%v", err)
	}
	a, err = a.As(c.who, guard.Model).Keyed(c.meta.key).During(c.meta.run, c.meta.model)
	if err != nil {
		return a, refuse("invalid", "%v", err)
	}
	return a, nil
}

// started does something with the agent's working state, and begins it when there is none yet, unless this server only reads.
func started[T any](ctx context.Context, s *Server, a workingstate.Agent, do func() (T, error)) (T, error) {
	out, err := do()
	if !errors.Is(err, resume.ErrNoTask) || s.o.ReadOnly {
		return out, err
	}
	begun, e := a.Start(ctx, s.o.WorkingState)
	if e != nil || !begun {
		return out, errors.Join(err, e)
	}
	return do()
}

// change is a tool that changes the working state: it is an event of the machine, and its arguments are the event's payload.
func (s *Server) change(event machine.AnyEvent, title, text string, input, output *jsonschema.Schema) tool {
	name := event.Info().Name
	return tool{
		name: name, title: title, text: text, scope: Write, input: input, output: output,
		hints: sdk.ToolAnnotations{DestructiveHint: new(true), OpenWorldHint: new(false)},
		run: func(ctx context.Context, c call) (any, *Refusal, error) {
			a, refusal := s.agent(c)
			if refusal != nil {
				return nil, refusal, nil
			}
			out, err := started(ctx, s, a, func() (machine.Outcome, error) { return a.Call(ctx, name, c.raw) })
			switch {
			case errors.Is(err, resume.ErrNoTask):
				return nil, unknownAgent(c), nil
			case err != nil:
				return nil, nil, err
			case out.Kind != machine.Committed:
				return nil, refuseOutcome(out), nil
			}
			return out.Returned, nil, nil
		},
	}
}

func unknownAgent(c call) *Refusal {
	return refuse(workingstate.CodeUnknownAgent, "there is no working state of agent %s for this connection", c.agent)
}

// stateTools are the tools of the working state.
func (s *Server) stateTools() []tool {
	return []tool{s.stateSet(), s.stateClear(), s.stateHandoff(), s.stateClearHandoff(), s.stateGet()}
}

func keySchema() *jsonschema.Schema {
	return pattern(text("like stop_loss.2317", workingstate.MaxKey), workingstate.KeyPattern)
}

func reasonSchema() *jsonschema.Schema {
	return text("why, in one line of at most 200 characters", 0)
}

// expectations guard a change against what was written since it was read.
func expectations() []property {
	return []property{
		optional("expected_value", text("change it only if the key still holds this value", 0)),
		optional("expected_version", integer("change it only if the key was last written by this version", 0, 0)),
		optional("expected_record_version", expectedRecord()),
	}
}

func expectedRecord() *jsonschema.Schema {
	return integer("change it only if the whole record is still at this version", 0, 0)
}

func recordVersion() *jsonschema.Schema {
	return integer("of the record after this change", 1, 0)
}

func (s *Server) stateSet() tool {
	input := object(append([]property{
		required("key", keySchema()),
		required("value", text("what holds now, one line of at most 400 characters, always as text: \"262\"", 0)),
		required("reason", reasonSchema()),
		optional("ttl_hours", hours()),
		optional("expect_absent", flag("set it only if the key holds nothing now"))}, expectations()...)...)
	output := answer(
		required("version", recordVersion()),
		required("key", text("", 0)),
		required("value", text("as it is stored", 0)),
		required("superseded", orNull(text("what was stored before; null for a new key", 0))),
		required("truncated", flag("value or reason was cut to its limit")),
		optional("expires_at", instant("left out when it holds until it is changed")),
		required("swept", list(text("an expired key that had to go to make room", 0))))
	return s.change(workingstate.SetKey, "Set what holds",
		"Writes one rule or commitment of yours that holds from now on, across wake-ups. This table is the only authority on what holds; what you say in a reply or a log is not. Give expected_value when you change what you have read, so that nobody's newer word is lost.",
		input, output)
}

func (s *Server) stateClear() tool {
	input := object(append([]property{required("key", keySchema()), required("reason", reasonSchema())}, expectations()...)...)
	output := answer(
		required("version", recordVersion()),
		required("key", text("", 0)),
		required("retired_value", text("", 0)),
		required("truncated", flag("the reason was cut to its limit")))
	return s.change(workingstate.ClearKey, "Retire what no longer holds", "Retires one key that no longer holds, with a reason.", input, output)
}

func (s *Server) stateHandoff() tool {
	input := object(
		required("note", text("what the next wake-up must know; alone it is a plain note of at most 1200 characters", 0)),
		optional("status", oneOf("makes it a report: continue needs next_steps, complete needs evidence, blocked needs blocker",
			string(workingstate.Continue), string(workingstate.Complete), string(workingstate.Blocked))),
		optional("next_steps", text("with continue", 0)),
		optional("evidence", text("with complete: what shows that it is done", 0)),
		optional("blocker", text("with blocked: what exactly is in the way", 0)),
		optional("proof", text("with complete, where a verifier is set up: the id of the proof, such as a test run", workingstate.MaxProofID)),
		optional("ttl_hours", hours()),
		optional("expected_record_version", expectedRecord()))
	output := answer(
		required("version", recordVersion()),
		required("truncated", flag("a plain note was cut to its limit")),
		required("superseded", orNull(text("the note before; null when there was none", 0))),
		optional("expires_at", instant("left out when it holds until it is replaced")),
		optional("verified_by", text("who accepted the proof", 0)))
	return s.change(workingstate.LeaveHandoff, "Leave a handoff",
		"Replaces the one note that your next wake-up finds. As a report it cannot claim what it cannot show: complete needs evidence and has no next steps.",
		input, output)
}

func (s *Server) stateClearHandoff() tool {
	input := object(required("reason", reasonSchema()), optional("expected_record_version", expectedRecord()))
	output := answer(
		required("version", recordVersion()),
		required("retired_note", text("", 0)),
		required("truncated", flag("the reason was cut to its limit")))
	return s.change(workingstate.RetireHandoff, "Clear the handoff", "Removes the handoff once it is done with, with a reason.", input, output)
}

func (s *Server) stateGet() tool {
	limit := integer("changes of the history", 1, workingstate.MaxHistory)
	limit.Default = number(workingstate.DefaultHistory)
	return tool{
		name: "working_state_get", title: "Read the working state", scope: Read,
		text:  "Reads all that is stored, what has expired included and marked, with the newest changes. Read before you change what somebody else may have changed.",
		hints: sdk.ToolAnnotations{ReadOnlyHint: true, IdempotentHint: true, DestructiveHint: new(false), OpenWorldHint: new(false)},
		input: object(optional("history_limit", limit)),
		output: answer(
			required("version", integer("of the record", 0, 0)),
			required("states", &jsonschema.Schema{Type: "object", AdditionalProperties: heldSchema()}),
			required("handoff", &jsonschema.Schema{OneOf: []*jsonschema.Schema{{Type: "null"}, noteSchema()}}),
			required("history", list(anyObject("a change: ts, op, key, value, prev_value, reason, version")))),
		run: s.get,
	}
}

// held are what entries and handoffs have in common.
func held(members ...property) *jsonschema.Schema {
	return object(append(members,
		required("version", integer("the change that wrote it", 0, 0)),
		required("updated_at", instant("")),
		required("updated_by", text("", 0)),
		optional("expires_at", instant("left out when it does not expire")),
		required("expired", flag("it holds no longer")))...)
}

func heldSchema() *jsonschema.Schema {
	return held(required("value", text("", 0)), required("reason", text("", 0)))
}

func noteSchema() *jsonschema.Schema {
	members := []property{required("note", text("", 0))}
	for _, name := range []string{"status", "next_steps", "evidence", "blocker", "proof", "verified_by"} {
		members = append(members, optional(name, text("", 0)))
	}
	return held(members...)
}

func (s *Server) get(ctx context.Context, c call) (any, *Refusal, error) {
	history, err := workingstate.DecodeGet(c.raw)
	if err != nil {
		return nil, refuseForm(err), nil
	}
	a, refusal := s.agent(c)
	if refusal != nil {
		return nil, refusal, nil
	}
	r, err := started(ctx, s, a, func() (workingstate.Report, error) { return a.Get(ctx, history) })
	switch {
	case errors.Is(err, resume.ErrNoTask):
		return nil, unknownAgent(c), nil
	case err != nil:
		return nil, nil, err
	}
	return getAnswer{true, r}, nil, nil
}

// getAnswer is a report with the member by which every answer says that it is none of a refusal.
type getAnswer struct {
	OK bool `json:"ok"`
	workingstate.Report
}
