package machine

import (
	"fmt"
	"strings"
)

// Markdown writes the definition as a page that a non-programmer can review: the graph, then who is waited for where, what
// may be proposed by whom and on which conditions, which facts count for how long on whose word, which effects follow, and
// what must always hold. Made of the description alone; deterministic.
func (m *Machine[D]) Markdown() string {
	d := m.Describe()
	var b strings.Builder
	fmt.Fprintf(&b, "# %s, version %d\n\nDefinition `%s`. A task begins in `%s`.\n\n```mermaid\n%s```\n", d.Machine, d.Version, d.Digest, d.Initial, m.Mermaid(""))
	pageStates(&b, d)
	pageEdges(&b, d)
	pageFacts(&b, d)
	pageEffects(&b, d)
	if len(d.Invariants) > 0 {
		b.WriteString("\n## What must always hold\n\n")
		for _, i := range d.Invariants {
			fmt.Fprintf(&b, "- %s\n", i)
		}
	}
	return b.String()
}

// pageTable writes the head of a table; its rows follow.
func pageTable(b *strings.Builder, title string, columns ...string) {
	fmt.Fprintf(b, "\n## %s\n\n", title)
	pageRow(b, columns...)
	b.WriteString("|" + strings.Repeat(" --- |", len(columns)) + "\n")
}

func pageRow(b *strings.Builder, cells ...string) {
	for i, c := range cells {
		cells[i] = strings.ReplaceAll(c, "|", "\\|")
	}
	b.WriteString("| " + strings.Join(cells, " | ") + " |\n")
}

func pageStates(b *strings.Builder, d Description) {
	pageTable(b, "States", "state", "waits for", "comes by itself")
	for _, s := range d.States {
		name := "`" + string(s.Name) + "`"
		if s.Final {
			name += ", final"
		}
		if s.NoSend {
			name += ", sends nothing"
		}
		pageRow(b, name, string(s.WaitsFor), strings.Join(s.Timers, ", "))
	}
	for _, g := range d.Groups {
		fmt.Fprintf(b, "\n`%s` is each of %s.\n", g.Name, code(g.Of))
	}
}

func pageEdges(b *strings.Builder, d Description) {
	pageTable(b, "What may happen", "event", "from", "to", "by", "only if", "brings about")
	for _, e := range d.Edges {
		from := e.From
		if e.Leaves != nil {
			from = e.Leaves
		}
		to := "stays"
		if e.To != "" {
			to = "`" + string(e.To) + "`"
		}
		by := make([]string, len(e.By))
		for i, a := range e.By {
			by[i] = string(a)
		}
		switch _, effect, own := strings.Cut(e.Event, "."); {
		case len(by) == 0 && own:
			by = []string{"worker, " + effect}
		case len(by) == 0:
			by = []string{"timer"}
		}
		pageRow(b, "`"+e.Event+"`", code(from), to, strings.Join(by, ", "), strings.Join(conditions(e), ", "), strings.Join(consequences(e), ", "))
	}
}

func conditions(e EdgeDescription) []string {
	var out []string
	for _, g := range e.Guards {
		text := g.Name
		if len(g.Reads) > 0 {
			text += " (" + strings.Join(g.Reads, ", ") + ")"
		}
		out = append(out, text)
	}
	if len(e.Fresh) > 0 {
		out = append(out, "observed again: "+strings.Join(e.Fresh, ", "))
	}
	if e.Confirm != "" {
		out = append(out, "confirmed ("+e.Confirm+e.approval()+")")
	}
	for _, name := range e.Withdraws {
		out = append(out, name+" was not sent")
	}
	if e.Override {
		out = append(out, "overrides, with a reason")
	}
	return out
}

// approval is what the edge demands beyond one yes.
func (e EdgeDescription) approval() string {
	var out string
	if e.Of > 1 {
		out += fmt.Sprintf(", by %d of %d", e.Need, e.Of)
	}
	if e.Separate {
		out += ", not by who proposed it"
	}
	if e.Structured {
		out += ", by a choice where demanded"
	}
	return out
}

func consequences(e EdgeDescription) []string {
	var out []string
	if e.Applies {
		out = append(out, "changes the data")
	}
	for _, name := range e.Emits {
		out = append(out, "effect "+name)
	}
	for _, name := range e.Withdraws {
		out = append(out, "withdraws "+name)
	}
	for _, o := range e.Offers {
		out = append(out, "offer "+o)
	}
	if e.Returns {
		out = append(out, "an answer")
	}
	if e.Reopens {
		out = append(out, "reopens the task")
	}
	return out
}

func pageFacts(b *strings.Builder, d Description) {
	if len(d.Facts) == 0 {
		return
	}
	pageTable(b, "Facts", "fact", "about", "on the word of", "counts for", "in the order of", "shown to a model")
	for _, f := range d.Facts {
		about, age, shown := f.About, f.MaxAge, "yes"
		if about == "" {
			about = "the task"
		}
		switch {
		case f.Lasting:
			age = "ever"
		case f.Volatile:
			age = "one commit"
		}
		if f.Hidden {
			shown = "no"
		}
		pageRow(b, "`"+f.Name+"`", about, f.Authority, age, strings.ReplaceAll(f.Order, "_", " "), shown)
	}
}

func pageEffects(b *strings.Builder, d Description) {
	if len(d.Effects) == 0 {
		return
	}
	pageTable(b, "Effects", "effect", "proved by", "receipt must match", "sent within", "sent while", "its key is honoured")
	for _, e := range d.Effects {
		match, within, keys := "no", e.Within, e.Keys
		if e.Matches {
			match = "yes"
		}
		if within == "" {
			within = "any time"
		}
		if keys == "" {
			keys = DefaultKeyRetention.String()
		}
		pageRow(b, "`"+e.Name+"`", "`"+e.Receipt+"`", match, within, strings.Join(namesOf(e.While), ", "), keys)
	}
}

func code(states []State) string {
	out := make([]string, len(states))
	for i, s := range states {
		out[i] = "`" + string(s) + "`"
	}
	return strings.Join(out, ", ")
}
