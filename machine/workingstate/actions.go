package workingstate

import (
	"context"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/pawlgo/pawl/machine"
)

// Action is something that the agent did, or tried: a commit, or a refused attempt.
type Action struct {
	At      time.Time `json:"at"`
	Tool    string    `json:"tool"`
	Summary string    `json:"summary"` // key and value, at most [MaxSummary] bytes
	Done    bool      `json:"done"`
	Code    string    `json:"code,omitzero"`    // why it was refused
	Version uint64    `json:"version,omitzero"` // of the record, when it was done
	Times   int       `json:"times"`            // how often in a row
}

// Actions are what the agent itself did in the last day, refused calls included: the newest n rows, oldest first; rows that
// say the same in a row are one.
func (a Agent) Actions(ctx context.Context, n int) ([]Action, error) {
	n = min(max(n, 1), MaxActions)
	_, now, err := a.Table(ctx)
	if err != nil {
		return nil, err
	}
	done, err := a.Changes(ctx, n)
	if err != nil {
		return nil, err
	}
	attempts, err := a.c.Attempts(ctx, a.task, a.who)
	if err != nil {
		return nil, err
	}
	var rows []Action
	for _, c := range done {
		if c.By == a.id {
			rows = append(rows, c.action())
		}
	}
	for _, t := range slices.Backward(attempts) {
		if t.Principal == a.id {
			rows = append(rows, refused(t))
		}
	}
	slices.SortStableFunc(rows, func(x, y Action) int { return x.At.Compare(y.At) })
	rows = slices.DeleteFunc(rows, func(r Action) bool { return now.Sub(r.At) > ActionsSince })
	return joined(rows[max(0, len(rows)-n):]), nil
}

// joined makes one row of those that say the same in a row.
func joined(rows []Action) []Action {
	out := make([]Action, 0, len(rows))
	for _, r := range rows {
		if n := len(out) - 1; n >= 0 && out[n].same(r) {
			out[n].Times, out[n].At = out[n].Times+1, r.At
			continue
		}
		out = append(out, r)
	}
	return out
}

func (r Action) same(o Action) bool {
	return r.Tool == o.Tool && r.Summary == o.Summary && r.Done == o.Done && r.Code == o.Code && r.Version == o.Version
}

func (c Change) action() Action {
	return Action{At: c.At, Tool: Name + "_" + string(c.Op), Summary: summary(c.Key, c.Value, c.Status), Done: true, Version: c.Version, Times: 1}
}

func refused(t machine.Attempt) Action {
	var p struct {
		Key    string `json:"key"`
		Value  string `json:"value"`
		Note   string `json:"note"`
		Status Status `json:"status"`
	}
	_ = json.Unmarshal(t.Payload, &p) // an attempt in another form has no summary
	r := Action{At: t.At, Tool: t.Event, Summary: summary(p.Key, p.Value+p.Note, p.Status), Times: 1, Code: string(t.Kind)}
	if len(t.Findings) > 0 {
		r.Code = t.Findings[0].Code
	}
	return r
}

// summary says in one line what a call was about.
func summary(key, value string, status Status) string {
	s := ""
	if key != "" {
		s = quoted(head(key, MaxKey))
		s = s[1 : len(s)-1]
	}
	if status != "" {
		s += head(string(status), MaxKey)
	}
	if value == "" {
		return s
	}
	if s != "" {
		s += " = "
	}
	return s + fit(value, max(MaxSummary-len(s), 8))
}

// Recent is what a prompt shows of the agent's own actions: "" when there are none. Its rows take at most [ActionsBytes];
// the oldest go first, with a line that says how many, and the newest stays.
func (l Layout) Recent(actions []Action) string {
	if len(actions) == 0 {
		return ""
	}
	w := l.words()
	rows := make([]string, len(actions))
	total := 0
	for i, a := range actions {
		rows[i] = l.row(a)
		total += len(rows[i])
	}
	gone := 0
	for total > ActionsBytes && gone < len(rows)-1 {
		if gone == 0 {
			total += len("\n" + say(w.Older, strconv.Itoa(len(rows))))
		}
		total -= len(rows[gone])
		gone++
	}
	top := "## " + w.Actions + "\n" + say(w.ActionsAre, l.zone().String())
	if gone > 0 {
		top += "\n" + say(w.Older, strconv.Itoa(gone))
	}
	return top + strings.Join(rows[gone:], "")
}

func (l Layout) row(a Action) string {
	w := l.words()
	line := "\n- " + l.at(a.At) + " "
	if a.Done {
		line += w.Done
	} else {
		line += w.Refused + " (" + head(a.Code, MaxKey) + ")"
	}
	line += ": " + a.Tool
	if a.Summary != "" {
		line += " " + a.Summary
	}
	if a.Version > 0 {
		line += ", " + say(w.Version, strconv.FormatUint(a.Version, 10))
	}
	if a.Times > 1 {
		line += ", " + say(w.Times, strconv.Itoa(a.Times))
	}
	return line
}
