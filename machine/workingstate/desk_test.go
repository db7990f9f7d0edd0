package workingstate_test

import (
	"encoding/json"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlgo/pawl/guard"
	"github.com/pawlgo/pawl/machine"
	ws "github.com/pawlgo/pawl/machine/workingstate"
	"github.com/pawlgo/pawl/resume"
	"github.com/pawlgo/pawl/store"
)

// t0 is the clock of the specification's vectors.
var t0 = time.Date(2026, 8, 13, 1, 4, 0, 0, time.UTC)

// stop is the rule that the vectors are about.
const stop = "stop_loss.2317"

// desk is one agent's working state behind a controller, with a clock that stands until it is moved.
type desk struct {
	t  *testing.T
	st store.Store
	ws.Agent

	mu  sync.Mutex
	now time.Time
}

func (d *desk) clock() time.Time { d.mu.Lock(); defer d.mu.Unlock(); return d.now }

func (d *desk) sleep(by time.Duration) { d.mu.Lock(); defer d.mu.Unlock(); d.now = d.now.Add(by) }

// open starts the agent trader with what it holds already.
func open(t *testing.T, m *machine.Machine[ws.Table], held ws.Table, observers ...resume.Observer) *desk {
	t.Helper()
	d := &desk{t: t, now: t0}
	d.st = store.NewMemory(store.MemoryOptions{Now: d.clock})
	d.Agent = d.connect(m, observers...)
	started, err := d.StartWith(t.Context(), m, held)
	require.NoError(t, err)
	require.True(t, started)
	return d
}

// connect is the agent by a controller of its own, as another process has it.
func (d *desk) connect(m *machine.Machine[ws.Table], observers ...resume.Observer) ws.Agent {
	d.t.Helper()
	ctl, err := resume.Open(d.t.Context(), d.st, resume.Config{Machines: []machine.Definition{m}, Observers: observers})
	require.NoError(d.t, err)
	a, err := ws.NewAgent(ctl, "trader")
	require.NoError(d.t, err)
	return a
}

func ptr[T any](v T) *T { return &v }

// table is what holds now.
func (d *desk) table() ws.Table {
	d.t.Helper()
	t, _, err := d.Table(d.t.Context())
	require.NoError(d.t, err)
	return t
}

// try makes a tool call as a model writes it.
func (d *desk) try(tool, arguments string) machine.Outcome {
	d.t.Helper()
	out, err := d.Call(d.t.Context(), tool, []byte(arguments))
	require.NoError(d.t, err)
	return out
}

// tools calls, by their short names.
const (
	setTool     = "working_state_set"
	clearTool   = "working_state_clear"
	handoffTool = "working_state_handoff"
	retireTool  = "working_state_clear_handoff"
)

// does wants a call to be committed, and gives its answer.
func does[R any](d *desk, tool, arguments string) R {
	d.t.Helper()
	out := d.try(tool, arguments)
	require.Equal(d.t, machine.Committed, out.Kind, "%s %.200s: %v", tool, arguments, out.Findings)
	r, err := machine.ReturnedAs[R](out)
	require.NoError(d.t, err)
	return r
}

// set writes a key for the reason r.
func (d *desk) set(key, value string, more ...string) ws.SetReply {
	d.t.Helper()
	return does[ws.SetReply](d, setTool, args("key", key, "value", value, "reason", "r", more))
}

// refuses wants a call to be refused with a code first, and to change nothing.
func (d *desk) refuses(code, tool, arguments string) machine.Finding {
	d.t.Helper()
	before, history := d.table(), len(d.get(100).History)
	out := d.try(tool, arguments)
	require.Equal(d.t, machine.Refused, out.Kind, "%s %.200s", tool, arguments)
	require.Equal(d.t, code, out.Code(), "%.200s: %v", arguments, out.Findings)
	require.Equal(d.t, before, d.table())
	require.Len(d.t, d.get(100).History, history)
	return out.Findings[0]
}

func (d *desk) refusesSet(code, key, value string, more ...string) machine.Finding {
	d.t.Helper()
	return d.refuses(code, setTool, args("key", key, "value", value, "reason", "r", more))
}

// malformed wants a call to be refused for its form.
func (d *desk) malformed(reason, path, tool, arguments string) {
	d.t.Helper()
	f := d.refuses(machine.CodeForm, tool, arguments)
	require.Equal(d.t, map[string]any{"reason": reason, "path": path}, f.Details)
}

func (d *desk) get(n int) ws.Report {
	d.t.Helper()
	r, err := d.Get(d.t.Context(), n)
	require.NoError(d.t, err)
	return r
}

// block is what a wake-up would show now.
func (d *desk) block() string {
	d.t.Helper()
	state, _, err := d.Blocks(d.t.Context(), ws.Layout{})
	require.NoError(d.t, err)
	return state
}

// args are arguments as JSON, of names and values; a value that begins with ! is raw JSON.
func args(parts ...any) string {
	var flat []string
	for _, p := range parts {
		switch p := p.(type) {
		case string:
			flat = append(flat, p)
		case []string:
			flat = append(flat, p...)
		}
	}
	var b strings.Builder
	for i := 0; i < len(flat); i += 2 {
		b.WriteString(`,"` + flat[i] + `":`)
		if raw, is := strings.CutPrefix(flat[i+1], "!"); is {
			b.WriteString(raw)
			continue
		}
		text, _ := json.Marshal(flat[i+1])
		b.Write(text)
	}
	return "{" + strings.TrimPrefix(b.String(), ",") + "}"
}

var operator = guard.Principal{ID: "ops", Roles: []string{guard.OperatorRole}}
