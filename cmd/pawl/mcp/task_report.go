package mcp

import (
	"context"
	"slices"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/pawlgo/pawl/guard"
	"github.com/pawlgo/pawl/machine"
	"github.com/pawlgo/pawl/resume"
)

type taskArguments struct {
	Task string `json:"task_id" validate:"min=1,max=128"`
}

// reportAnswer says where a task stands. It holds no value of a fact, no reference, no key of an effect and no person: what
// of the data a model may see is declared in a decision (law 10), and task_project shows it.
type reportAnswer struct {
	OK          bool           `json:"ok"`
	Task        string         `json:"task_id"`
	Machine     string         `json:"machine"`
	State       machine.State  `json:"state"`
	Version     uint64         `json:"state_version"`
	Since       time.Time      `json:"since"`
	Final       bool           `json:"final"`
	Waiting     *waiting       `json:"waiting,omitempty"`
	Facts       []factStatus   `json:"facts"`
	Changed     []string       `json:"changed"`
	Effects     []effectStatus `json:"effects"`
	NotHappened []string       `json:"not_happened"`
	Offers      []offered      `json:"offers"`
	Permitted   []string       `json:"permitted"`
	Decisions   []string       `json:"decisions"`
}

type waiting struct {
	For     string    `json:"for"`
	Since   time.Time `json:"since"`
	Until   time.Time `json:"until"`
	Overdue bool      `json:"overdue"`
}

type factStatus struct {
	Fact   string `json:"fact"`
	Status string `json:"status"`
}

type effectStatus struct {
	Effect string `json:"effect"`
	Status string `json:"status"`
}

type offered struct {
	Event    string    `json:"event"`
	Question string    `json:"question"`
	Expires  time.Time `json:"expires"`
}

// The statuses of facts, the worst first.
var statuses = []string{"not_known", "needs_reverification", "verified"}

func (s *Server) taskReport() tool {
	return tool{
		name: "task_report", title: "Where a task stands", scope: Read,
		text:  "Says where a task stands, who is waited for, which facts are verified, what has not happened, and what may be proposed now. What has gone stale is first asked for again, by the service. Values are not in it: task_project shows what a decision needs.",
		hints: observes(),
		input: object(required("task_id", taskID())),
		output: answer(
			required("task_id", text("the task", 0)),
			required("machine", text("what kind of task it is", 0)),
			required("state", text("where it stands", 0)),
			required("state_version", integer("rises by one with each commit", 1, 0)),
			required("since", instant("when it came into this state")),
			required("final", flag("it has ended")),
			optional("waiting", object(
				required("for", text("you, owner, role/NAME or somebody else", 0)),
				required("since", instant("")), required("until", instant("when the wait ends by itself")),
				required("overdue", flag("the time is over, and the task will move by itself")))),
			required("facts", list(object(required("fact", text("", 0)), required("status", oneOf("", statuses...))))),
			required("changed", list(text("a fact that has another value than before", 0))),
			required("effects", list(object(required("effect", text("", 0)), required("status", text("intent, sent, unknown, confirmed or failed; unknown may have happened", 0))))),
			required("not_happened", list(text("an effect that surely has not happened", 0))),
			required("offers", list(object(required("event", text("", 0)), required("question", text("as it was put, word for word", 0)), required("expires", instant(""))))),
			required("permitted", list(text("an event that you may propose, as far as that can be said before its payload is known", 0))),
			required("decisions", list(text("a decision that arises now, for task_project", 0)))),
		run: s.report,
	}
}

// observes are the hints of a tool that asks the service's sources for what has gone stale, as resuming does. What comes out
// different is committed as evidence, so it is not called read-only, though an agent can bring nothing about by it.
func observes() sdk.ToolAnnotations {
	return sdk.ToolAnnotations{IdempotentHint: true, DestructiveHint: new(false), OpenWorldHint: new(true)}
}

func (s *Server) report(ctx context.Context, c call) (any, *Refusal, error) {
	in, refusal := args[taskArguments](c)
	if refusal != nil {
		return nil, refusal, nil
	}
	session, err := s.o.Tasks.Resume(ctx, in.Task, c.who)
	if err != nil {
		return nil, nil, err
	}
	r, err := session.Report(ctx)
	if err != nil {
		return nil, nil, err
	}
	out := reportOf(r, c.who)
	for _, d := range s.o.Decisions {
		if _, err := session.Project(ctx, d); err == nil {
			out.Decisions = append(out.Decisions, d.Name())
		}
	}
	return out, nil, nil
}

func reportOf(r resume.Report, who guard.Principal) reportAnswer {
	out := reportAnswer{OK: true, Task: r.Task, Machine: r.Machine, State: r.State, Version: r.Version, Since: r.Since, Final: r.Final,
		Facts: []factStatus{}, Changed: []string{}, Effects: []effectStatus{}, NotHappened: append([]string{}, r.NotHappened...),
		Offers: []offered{}, Permitted: append([]string{}, open(r.Permits)...), Decisions: []string{}}
	if w := r.Waiting; w != nil {
		out.Waiting = &waiting{waitedFor(who, r.Owner, w.For), w.Since, w.Until, r.Overdue}
	}
	for _, f := range r.Facts {
		out.add(f)
	}
	for _, c := range r.Changed {
		if !slices.Contains(out.Changed, c.Key.Fact) {
			out.Changed = append(out.Changed, c.Key.Fact)
		}
	}
	for _, e := range r.Effects {
		out.Effects = append(out.Effects, effectStatus{e.Effect, e.Status})
	}
	for _, o := range r.Offers {
		out.Offers = append(out.Offers, offered{o.Event, r.Question(o), o.Expires})
	}
	return out
}

// add tells the status of a fact: of several subjects the worst one, since their ids are not told.
func (r *reportAnswer) add(f resume.ReportedFact) {
	status := statuses[0]
	switch f.Status {
	case guard.Verified:
		status = statuses[2]
	case guard.Stale:
		status = statuses[1]
	}
	for i := range r.Facts {
		if known := &r.Facts[i]; known.Fact == f.Key.Fact {
			if slices.Index(statuses, status) < slices.Index(statuses, known.Status) {
				known.Status = status
			}
			return
		}
	}
	r.Facts = append(r.Facts, factStatus{f.Key.Fact, status})
}

func waitedFor(who guard.Principal, owner string, p machine.Party) string {
	if p == machine.TaskOwner {
		if owner == who.ID {
			return "you"
		}
		return "owner"
	}
	return party(who, string(p))
}
