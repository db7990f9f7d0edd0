package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/google/jsonschema-go/jsonschema"

	projection "github.com/pawlgo/pawl/context"
	"github.com/pawlgo/pawl/machine"
)

type projectArguments struct {
	Task     string `json:"task_id" validate:"min=1,max=128"`
	Decision string `json:"decision" validate:"min=1,max=64"`
}

type projectAnswer struct {
	OK       bool         `json:"ok"`
	Task     string       `json:"task_id"`
	Version  uint64       `json:"state_version"`
	Decision string       `json:"decision"`
	View     string       `json:"view"`
	Prompt   string       `json:"prompt"`
	Answers  []openAnswer `json:"answers"`
}

type openAnswer struct {
	Event  string          `json:"event"`
	Means  string          `json:"means"`
	Schema json.RawMessage `json:"schema"`
}

// text is what the model reads: the view, and how to answer it here.
func (a projectAnswer) text() string {
	return fmt.Sprintf("%s\n\nAnswer with task_propose: task_id %s, state_version %d, decision %s, and the event and payload of one answer.",
		a.Prompt, a.Task, a.Version, a.Decision)
}

func taskID() *jsonschema.Schema {
	return pattern(text("as task_find gives it", machine.MaxTaskID), `^[A-Za-z0-9._:-]+$`)
}

func (s *Server) decisionNames() *jsonschema.Schema {
	var names []string
	for _, d := range s.o.Decisions {
		names = append(names, d.Name())
	}
	return oneOf("which decision; task_report says which arise now", names...)
}

func (s *Server) taskProject() tool {
	return tool{
		name: "task_project", title: "See what a decision needs", scope: Read,
		text:  "Shows what one decision about a task needs, and the answers that are open. What has gone stale is first asked for again, by the service. Answer with task_propose, from what is shown and nothing else.",
		hints: observes(),
		input: object(required("task_id", taskID()), required("decision", s.decisionNames())),
		output: answer(
			required("task_id", text("for task_propose", 0)),
			required("state_version", integer("for task_propose", 1, 0)),
			required("decision", text("for task_propose", 0)),
			required("view", text("digest of what was shown; it stands in the history with your answer", 0)),
			required("prompt", text("what the decision needs, as Markdown", 0)),
			required("answers", list(object(
				required("event", text("for task_propose", 0)),
				required("means", text("when it is the right one", 0)),
				required("schema", anyObject("JSON Schema of its payload")))))),
		run: s.project,
	}
}

func (s *Server) project(ctx context.Context, c call) (any, *Refusal, error) {
	in, refusal := args[projectArguments](c)
	if refusal != nil {
		return nil, refusal, nil
	}
	d := s.decision(in.Decision)
	if d == nil {
		return nil, refuse("unknown_decision", "there is no decision %.80q", in.Decision), nil
	}
	session, err := s.o.Tasks.Resume(ctx, in.Task, c.who)
	if err != nil {
		return nil, nil, err
	}
	view, err := session.Project(ctx, d)
	switch {
	case errors.Is(err, projection.ErrNotNow):
		r := refuse(CodeNotNow, "the decision %s does not arise in state %s", in.Decision, session.State())
		r.Version = session.Version()
		return nil, r, nil
	case errors.Is(err, projection.ErrOtherMachine):
		return nil, refuse(CodeOtherTask, "the decision %s is not about tasks of machine %s", in.Decision, session.Snapshot().Machine), nil
	case err != nil:
		return nil, nil, err
	}
	s.views.keep(c.who.ID, view)
	out := projectAnswer{OK: true, Task: view.Task(), Version: view.Version(), Decision: view.Decision(), View: view.Digest(),
		Prompt: view.Markdown(), Answers: []openAnswer{}}
	for _, t := range view.Tools() {
		out.Answers = append(out.Answers, openAnswer{t.Name, t.Description, t.Schema})
	}
	return out, nil, nil
}

func (s *Server) decision(name string) *projection.Decision {
	for _, d := range s.o.Decisions {
		if d.Name() == name {
			return d
		}
	}
	return nil
}
