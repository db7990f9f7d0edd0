package resume_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	projection "github.com/pawlgo/pawl/context"
	"github.com/pawlgo/pawl/guard"
	"github.com/pawlgo/pawl/machine"
	"github.com/pawlgo/pawl/resume"
	"github.com/stretchr/testify/require"
)

// canaries are what no log, error, view, refusal or history for a model may hold: a hidden fact, a field of the data that no decision
// shows, another task and its owner, what a source and a provider said in their errors' place for values, and what a stranger wrote.
var canaries = []string{secretCard, "CANARY"}

// written is a writer that is safe for concurrent use.
type written struct {
	mu sync.Mutex
	b  strings.Builder
}

func (w *written) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.b.Write(p)
}

// TestLeakOfLogsErrorsAndHistory drives a task through commits, refusals, bad evidence and an effect whose outcome is unknown, with canaries
// in everything that no decision declares, and reads all that came out for operators, callers and models.
func TestLeakOfLogsErrorsAndHistory(t *testing.T) {
	d := newLab(t)
	logs := &written{}
	d.ctl = d.lab(func(c *resume.Config) {
		c.Logger = slog.New(slog.NewJSONHandler(logs, &slog.HandlerOptions{Level: slog.LevelDebug}))
	})
	_, err := d.ctl.Start(d.ctx, lab.Task("task_CANARY", guard.Principal{ID: "owner_CANARY"}, basket{Shop: "s1", Items: []string{"pen"}, Tags: map[string]string{}}), guard.Principal{ID: "owner_CANARY"})
	require.NoError(t, err)
	quiet := logs.b.Len() // what the other task's own lines say is about itself
	s, err := d.ctl.Start(d.ctx, lab.Task("t1", alice, basket{Shop: "s1", Items: []string{"pen", "ink"}, Tags: map[string]string{"tag_CANARY": "value_CANARY"}}), alice)
	require.NoError(t, err)
	var out []any
	try := func(o machine.Outcome, err error) {
		out = append(out, o.Err(), err)
		require.NoError(t, err)
	}
	try(s.Propose(d.ctx, ask.With(machine.None{}).As(guard.User)))
	try(s.ProposeRaw(d.ctx, "event_CANARY_is_named_in_the_answer_to_its_writer_only", []byte(`{}`)))
	out = out[:len(out)-2] // who wrote it may read it
	v, err := s.Project(d.ctx, labView, projection.Quote{Origin: "customer", Text: "hello"})
	require.NoError(t, err)
	for _, answer := range []string{`{"event":"yes","payload":{"shop":"s1","items":["both"]}}`, `{"event":"put","payload":{}}`, "I am done"} {
		try(s.Answer(d.ctx, v, []byte(answer)))
	}
	try(d.ctl.Observe(d.ctx, "t1", stock.Observe(guard.NewAuthority("warehouse"), guard.Observed[map[string]int]{Value: map[string]int{"CANARY": 1}, Subject: "subject_CANARY"})))
	d.pays = func(context.Context, machine.Job[order]) (paid, error) { return paid{}, errors.New("timeout") }
	try(s.Propose(d.ctx, yes.With(buy{"s1", []string{"pen"}}), d.button(s.Offers()[0].ID)))
	require.NoError(t, d.ctl.Work(d.ctx))
	_, err = d.ctl.Resume(d.ctx, "t1", mallory)
	out = append(out, err)
	_, err = d.ctl.Resume(d.ctx, "task_CANARY", alice)
	require.Error(t, err) // names the id that was asked for, and tells no more than of one that does not exist

	s = d.lookAt("t1")
	report, err := s.Report(d.ctx)
	require.NoError(t, err)
	var past []projection.Past
	for e, err := range s.History(d.ctx) {
		require.NoError(t, err)
		past = append(past, projection.PastOf(e))
	}
	raw, err := json.Marshal(past)
	require.NoError(t, err)
	unsettled, err := d.ctl.Unsettled(d.ctx, -time.Second)
	require.NoError(t, err)
	health := d.ctl.Health(d.ctx)
	all := fmt.Sprint(out...) + logs.b.String()[quiet:] + report.String() + string(raw) + fmt.Sprintf("%+v %+v", unsettled, health) +
		string(v.Markdown()) + string(v.JSON()) + string(v.Schema()) + fmt.Sprint(v.Tools())
	for line := range strings.SplitSeq(all, "\n") {
		if strings.Contains(line, `"task":"task_CANARY"`) {
			continue // a line of the other task itself
		}
		for _, c := range canaries {
			require.NotContains(t, line, c)
		}
	}
	require.Contains(t, logs.b.String(), "pawl.commit")
	require.Contains(t, logs.b.String(), "pawl.refusal")
}
