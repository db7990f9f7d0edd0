package mcp

import (
	"context"
	"slices"
	"strings"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/pawlgo/pawl/guard"
	"github.com/pawlgo/pawl/machine"
	"github.com/pawlgo/pawl/machine/workingstate"
	"github.com/pawlgo/pawl/resume"
)

// The values of which.
const (
	whichWaiting = "waiting" // what waits for the agent
	whichOwned   = "owned"   // what the agent is the owner of
)

type findArguments struct {
	Which   *string `json:"which" validate:"omitnil,oneof=waiting owned"`
	Machine *string `json:"machine" validate:"omitnil,max=64"`
	State   *string `json:"state" validate:"omitnil,max=64"`
	Limit   *int    `json:"limit" validate:"omitnil,min=1,max=100"`
}

type findAnswer struct {
	OK    bool        `json:"ok"`
	Tasks []foundTask `json:"tasks"`
	More  int         `json:"more"`
}

type foundTask struct {
	Task     string        `json:"task_id"`
	Machine  string        `json:"machine"`
	State    machine.State `json:"state"`
	WaitsFor string        `json:"waits_for,omitempty"`
	Since    time.Time     `json:"since"`
	Final    bool          `json:"final"`
}

func (s *Server) taskFind() tool {
	return tool{
		name: "task_find", title: "Find tasks", scope: Read,
		text:  "Lists the tasks that wait for you, or that are yours. When somebody says \"continue with yesterday's one\" and more than one fits, ask which; do not guess.",
		hints: sdk.ToolAnnotations{ReadOnlyHint: true, IdempotentHint: true, DestructiveHint: new(false), OpenWorldHint: new(false)},
		input: object(
			optional("which", oneOf("waiting, when left out: what waits for you; owned: what is yours, unfinished ones first", whichWaiting, whichOwned)),
			optional("machine", text("only tasks of this machine", guard.MaxName)),
			optional("state", text("only tasks in this state", guard.MaxName)),
			optional("limit", integer("how many; 20 when left out", 1, MaxFound))),
		output: answer(
			required("tasks", list(object(
				required("task_id", text("the argument of the other task tools", 0)),
				required("machine", text("what kind of task it is", 0)),
				required("state", text("where it stands", 0)),
				optional("waits_for", text("you, role/NAME or somebody else; left out when nobody is waited for", 0)),
				required("since", instant("when it came into this state")),
				required("final", flag("it has ended"))))),
			required("more", integer("how many more there are", 0, 0))),
		run: s.find,
	}
}

func (s *Server) find(ctx context.Context, c call) (any, *Refusal, error) {
	in, refusal := args[findArguments](c)
	if refusal != nil {
		return nil, refusal, nil
	}
	search := s.o.Tasks.Waiting
	if in.Which != nil && *in.Which == whichOwned {
		search = s.o.Tasks.Owned
	}
	found, err := search(ctx, c.who)
	if err != nil {
		return nil, nil, err
	}
	out := findAnswer{OK: true, Tasks: []foundTask{}}
	limit := DefaultFound
	if in.Limit != nil {
		limit = *in.Limit
	}
	for _, f := range found {
		switch {
		case !in.wants(f):
		case len(out.Tasks) == limit:
			out.More++
		default:
			out.Tasks = append(out.Tasks, foundTask{f.Task, f.Machine, f.State, party(c.who, f.WaitsFor), f.Since, f.Final})
		}
	}
	return out, nil, nil
}

// wants leaves out the working state: it has tools of its own.
func (in findArguments) wants(f resume.Found) bool {
	return f.Machine != workingstate.Name && !strings.HasPrefix(f.Task, resume.Reserved) &&
		(in.Machine == nil || *in.Machine == f.Machine) && (in.State == nil || *in.State == string(f.State))
}

// party names who is waited for without naming another person.
func party(who guard.Principal, waitsFor string) string {
	role, isRole := strings.CutPrefix(waitsFor, "role/")
	switch {
	case waitsFor == "":
		return ""
	case waitsFor == "user/"+who.ID, isRole && slices.Contains(who.Roles, role):
		return "you"
	case isRole:
		return waitsFor
	}
	return "somebody else"
}
