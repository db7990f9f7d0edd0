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

// holding is the book at the moment when the price has touched 261, as the observers have just said.
func holding(t *testing.T) machine.Snapshot[any] {
	t.Helper()
	s, _, err := trading.Machine.Task("trader:2317", trader, book).First(morning)
	require.NoError(t, err)
	stop, err := workingstate.Read(table, "stop_loss.2317", touch, trading.ParseStop)
	require.NoError(t, err)
	hands := map[string]*guard.Authority{}
	for _, name := range []string{"exchange", "broker", "operator", "working_state"} {
		hands[name] = guard.NewAuthority(name)
	}
	m := machine.Erase(trading.Machine)
	for _, o := range []guard.Observation{
		trading.Allowed.Observe(hands["operator"], guard.Observed[trading.Mandate]{Subject: "2317", At: morning,
			Value: trading.Mandate{Low: price.Must("235"), High: price.Must("290"), Most: price.Must("3000"), Lot: price.Must("1000")}}),
		trading.Position.Observe(hands["broker"], guard.Observed[price.Decimal]{Subject: "2317", At: touch, Value: price.Must("2000")}),
		trading.LastQuote.Observe(hands["exchange"], guard.Observed[trading.Quote]{Subject: "2317", At: touch,
			Value: trading.Quote{Last: price.Must("261"), Trading: true}}),
		trading.Rule.Observe(hands["working_state"], guard.Observed[trading.Stop]{Subject: "stop_loss.2317", At: touch, Value: stop}),
	} {
		e, err := guard.Verify(o, guard.Acceptance{Fact: m.FactNamed, Trusts: func(*guard.Authority) bool { return true }, Now: touch, BasedOn: s.Version})
		require.NoError(t, err)
		next, out := m.Step(s, machine.Input{Principal: trader, Evidence: []guard.Evidence{e}, Now: touch, Received: touch})
		require.NoError(t, out.Err())
		s = next
	}
	require.Equal(t, trading.Holding, s.State)
	return s
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
