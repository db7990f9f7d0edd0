package trading_test

import (
	"flag"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	projection "github.com/pawlgo/pawl/context"
	"github.com/pawlgo/pawl/examples/trading/price"
	"github.com/pawlgo/pawl/examples/trading/trading"
	"github.com/pawlgo/pawl/guard"
	"github.com/pawlgo/pawl/machine"
	"github.com/pawlgo/pawl/machine/workingstate"
)

var (
	trader  = guard.Principal{ID: "trader"}
	morning = time.Date(2026, 8, 13, 9, 0, 0, 0, trading.Taipei)
	touch   = morning.Add(67 * time.Minute)
	book    = trading.Book{Symbol: "2317", Rule: "stop_loss.2317"}
	table   = workingstate.Table{Version: 1, States: map[string]workingstate.Entry{"stop_loss.2317": {
		Value: "262", Reason: "exit on break", Version: 1, UpdatedAt: morning.Add(4 * time.Minute), UpdatedBy: "trader", ExpiresAt: morning.Add(4*time.Hour + 30*time.Minute),
	}}}
	notes = projection.Quote{Origin: "notes", Text: "09:04 stop 262\n09:20 254 would give it more room\n09:40 make it 257"}
)

// hands are the handles of the sources that the desk believes.
var hands = map[string]*guard.Authority{"exchange": guard.NewAuthority("exchange"), "broker": guard.NewAuthority("broker"),
	"operator": guard.NewAuthority("operator"), "working_state": guard.NewAuthority("working_state")}

// history is a book with the entries of its history, in bytes.
type history struct {
	t              *testing.T
	m              *machine.Machine[any]
	at             machine.Snapshot[any]
	bytes, entries int
}

func begin(t *testing.T) *history {
	s, first, err := trading.Machine.Task("trader:2317", trader, book).First(morning)
	require.NoError(t, err)
	h := &history{t: t, m: machine.Erase(trading.Machine), at: s}
	h.count(first)
	return h
}

func (h *history) count(e *machine.Entry) {
	raw, err := e.Append(nil)
	require.NoError(h.t, err)
	h.bytes, h.entries = h.bytes+len(raw), h.entries+1
}

// take steps with a proposal, if it is one, and observations.
func (h *history) take(now time.Time, p machine.Proposal, observations ...guard.Observation) {
	h.t.Helper()
	in := machine.Input{Proposal: p, Principal: trader, Now: now, Received: now}
	if p.Event() != "" {
		in.Proposal = p.BasedOn(h.at.Version)
	}
	for _, o := range observations {
		e, err := guard.Verify(o, guard.Acceptance{Fact: h.m.FactNamed, Trusts: func(*guard.Authority) bool { return true }, Now: now, BasedOn: h.at.Version})
		require.NoError(h.t, err)
		in.Evidence = append(in.Evidence, e)
	}
	next, out := h.m.Step(h.at, in)
	require.NoError(h.t, out.Err())
	h.count(out.Entry())
	h.at = next
}

func allowed() guard.Observation {
	return trading.Allowed.Observe(hands["operator"], guard.Observed[trading.Mandate]{Subject: "2317", At: morning,
		Value: trading.Mandate{Low: price.Must("235"), High: price.Must("290"), Most: price.Must("3000"), Lot: price.Must("1000")}})
}

// market is what a wake-up observes: the position, the price and the rule.
func market(t *testing.T, now time.Time, last string) []guard.Observation {
	stop, err := workingstate.Read(table, "stop_loss.2317", now, trading.ParseStop)
	require.NoError(t, err)
	return []guard.Observation{
		trading.Position.Observe(hands["broker"], guard.Observed[price.Decimal]{Subject: "2317", At: now, Value: price.Must("2000")}),
		trading.LastQuote.Observe(hands["exchange"], guard.Observed[trading.Quote]{Subject: "2317", At: now,
			Value: trading.Quote{Last: price.Must(last), Trading: true}}),
		trading.Rule.Observe(hands["working_state"], guard.Observed[trading.Stop]{Subject: "stop_loss.2317", At: now, Value: stop}),
	}
}

// holding is the book at the moment when the price has touched 261, as the observers have just said.
func holding(t *testing.T) machine.Snapshot[any] {
	h := begin(t)
	h.take(morning, machine.Proposal{}, allowed())
	h.take(touch, machine.Proposal{}, market(t, touch, "261")...)
	require.Equal(t, trading.Holding, h.at.State)
	return h.at
}

// TestPrompts holds what the model of the wake-up at 261 is given, in each language: the view, the notes as data, and the working
// state as the tail. A person has read them. The flag -update rewrites them.
func TestPrompts(t *testing.T) {
	s := holding(t)
	var head string
	for _, language := range []string{"en", "zh-Hant", "zh-Hans"} {
		d, err := trading.WakeUp.In(language)
		require.NoError(t, err)
		v, err := d.View(s, trader, touch, notes)
		require.NoError(t, err)
		block := workingstate.Layout{Words: workingstate.WordsIn(language), Zone: trading.Taipei}.Block(table, touch)
		prompt := trading.Prompt(v, block)
		file := "testdata/prompts/touch." + language + ".md"
		if flag.Lookup("update").Value.String() == "true" {
			require.NoError(t, os.MkdirAll("testdata/prompts", 0o755))
			require.NoError(t, os.WriteFile(file, []byte(prompt+"\n"), 0o644))
		}
		want, err := os.ReadFile(file)
		require.NoError(t, err)
		require.Equal(t, string(want), prompt+"\n")
		require.NotEqual(t, head, prompt[:v.Head()])
		head = prompt[:v.Head()]
	}
}

// What is the same at every wake-up comes first; with nothing in the working state, it adds no byte.
func TestPromptTail(t *testing.T) {
	v, err := trading.WakeUp.View(holding(t), trader, touch)
	require.NoError(t, err)
	layout := workingstate.Layout{Zone: trading.Taipei}
	require.Equal(t, v.Markdown(), trading.Prompt(v, layout.Block(workingstate.Table{}, touch)))
	later, err := trading.WakeUp.View(holding(t), trader, touch.Add(time.Hour), notes)
	require.NoError(t, err)
	require.Equal(t, trading.Prompt(v, layout.Block(table, touch))[:v.Head()], trading.Prompt(later)[:later.Head()])
}

// TestAnswers: no answer has a price or a quantity in it, and none that names another rule is let through.
func TestAnswers(t *testing.T) {
	v, err := trading.WakeUp.View(holding(t), trader, touch, notes)
	require.NoError(t, err)
	require.Equal(t, []string{"exit_position"}, v.Allowed(), "with the stop touched, there is nothing else to answer")
	require.NotContains(t, string(v.Schema()), "quantity")
	require.NotContains(t, string(v.Schema()), "limit")
	p, err := v.Read([]byte(`{"event":"exit_position","payload":{"rule":"stop_loss.2317"}}`))
	require.NoError(t, err)
	require.Equal(t, trading.Exit{Rule: "stop_loss.2317"}, p.Payload())
	for raw, code := range map[string]string{
		`{"event":"exit_position","payload":{"rule":"stop_loss.2317","price":"261"}}`:  "unknown_field",
		`{"event":"exit_position","payload":{"rule":"stop_loss.2317","quantity":"9"}}`: "unknown_field",
		`{"event":"exit_position","payload":{"rule":"stop_loss.2317","stop":"262"}}`:   "unknown_field",
		`{"event":"enter_position","payload":{"rule":"stop_loss.2317"}}`:               "not_allowed",
		`{"event":"hold","payload":{"text":"my notes say 257"}}`:                       "not_allowed",
		`{"event":"close_day","payload":{"text":"done"}}`:                              "not_allowed",
		`{"event":"working_state_set","payload":{"key":"stop_loss.2317","value":"1"}}`: "not_allowed",
	} {
		_, err := v.Read([]byte(raw))
		var refused *projection.RefusedError
		require.ErrorAs(t, err, &refused, raw)
		require.Equal(t, code, refused.Code, raw)
	}
}

// TestViewIsSmall: what one model call reads is a small part of what the task is: at most a tenth of the snapshot and its history of
// 20 entries. The block of the working state comes beside it, and has a bound of its own.
func TestViewIsSmall(t *testing.T) {
	h := begin(t)
	h.take(morning, machine.Proposal{}, allowed())
	for i := range 9 {
		now := morning.Add(time.Duration(5+i) * time.Minute)
		h.take(now, machine.Proposal{}, market(t, now, "264")...)
		h.take(now, trading.Hold.With(trading.Reason{Text: "above the stop"}), market(t, now.Add(time.Microsecond), "264")...)
	}
	require.Equal(t, 20, h.entries)
	snapshot, err := h.m.Encode(nil, h.at)
	require.NoError(t, err)
	v, err := trading.WakeUp.View(h.at, trader, touch, notes)
	require.NoError(t, err)
	block := workingstate.Layout{Zone: trading.Taipei}.Block(table, touch)
	whole, shown := len(snapshot)+h.bytes, len(v.Markdown())
	t.Logf("Markdown %d, JSON %d, envelope %d, tools %d, block %d; snapshot %d, history %d: %.1f %%", shown, len(v.JSON()), len(v.Schema()),
		len(v.OpenAITools()), len(block), len(snapshot), h.bytes, 100*float64(shown)/float64(whole))
	require.LessOrEqual(t, 10*shown, whole)
}
