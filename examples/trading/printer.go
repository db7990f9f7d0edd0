package main

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/pawlgo/pawl/examples/trading/desk"
	"github.com/pawlgo/pawl/machine"
)

// printer writes the story down.
type printer struct {
	w       io.Writer
	verbose bool
}

func (p printer) title(n int, text string) { fmt.Fprintf(p.w, "\n%d. %s\n", n, text) }

func (p printer) line(format string, args ...any) { fmt.Fprintf(p.w, "   "+format+"\n", args...) }

func (p printer) lines(text string) {
	for l := range strings.Lines(text) {
		fmt.Fprintf(p.w, "   | %s\n", strings.TrimRight(l, "\n"))
	}
}

// show prints an outcome: whether it was committed, and if not, why.
func (p printer) show(o machine.Outcome) {
	event := o.Event
	if event == "" {
		event = "an answer"
	}
	p.line("-> %s %s: version %d, %s", event, o.Kind, o.Version, o.State)
	for _, f := range o.Findings {
		p.line("   %s", reason(f))
	}
	for _, i := range o.Intents {
		p.line("   effect %s, key %s, recorded in the same version", i.Effect, i.Key)
	}
	if p.verbose {
		p.full(o)
	}
}

func (p printer) full(v any) {
	var full strings.Builder
	e := json.NewEncoder(&full)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(v); err != nil {
		p.line("%v", err)
	}
	p.lines(full.String())
}

// reason is one finding in words: which guard, why, and what it says as data.
func reason(f machine.Finding) string {
	text := f.Code + ": " + f.Text
	if f.Guard != "" && f.Guard != f.Code {
		text = f.Guard + ": " + text
	}
	var details []string
	for _, k := range slices.Sorted(maps.Keys(f.Details)) {
		details = append(details, fmt.Sprintf("%s %v", k, f.Details[k]))
	}
	if len(details) > 0 {
		text += " (" + strings.Join(details, ", ") + ")"
	}
	return text
}

// woken prints a wake-up: what the model answered, and what came of it.
func (p printer) woken(w desk.Woken) {
	if p.verbose {
		p.line("the model saw:")
		p.lines(w.Prompt)
	}
	for _, t := range w.Turns {
		p.line("model: %s", t.Output)
		p.show(t.Outcome)
		if p.verbose && t.Told != "" {
			p.line("the model was told: %s", t.Told)
		}
	}
}
