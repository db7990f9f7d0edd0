package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"time"
	"unicode"

	"github.com/jedib0t/go-pretty/v6/table"
	"golang.org/x/term"

	"github.com/pawlgo/pawl/store"
)

// Values of --output.
const (
	outputTable = "table"
	outputJSON  = "json"
	outputLines = "jsonl"
)

// Values of --color and --progress.
const (
	auto   = "auto"
	always = "always"
	never  = "never"
)

// maxCell is how many characters of a value a table shows; JSON shows all.
const maxCell = 80

// sheet is a result: rows for a table, and the same as items for JSON. Without columns it is a list of names and values.
type sheet struct {
	columns []string
	rows    [][]string
	items   []any
}

func (s *sheet) add(item any, cells ...string) {
	s.rows, s.items = append(s.rows, cells), append(s.items, item)
}

// show writes a result in the format that was asked for.
func (a *App) show(s *sheet) error {
	switch a.output {
	case outputJSON:
		items := s.items
		if items == nil {
			items = []any{}
		}
		return a.writeJSON(items)
	case outputLines:
		for _, item := range s.items {
			if err := a.writeLine(item); err != nil {
				return err
			}
		}
		return nil
	}
	return a.writeTable(s)
}

// showOne writes a result that is one thing: as names and values, or as one JSON object.
func (a *App) showOne(item any, s *sheet) error {
	switch a.output {
	case outputJSON:
		return a.writeJSON(item)
	case outputLines:
		return a.writeLine(item)
	}
	return a.writeTable(s)
}

func (a *App) writeJSON(v any) error {
	e := json.NewEncoder(a.io.Out)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(v)
}

func (a *App) writeLine(v any) error {
	e := json.NewEncoder(a.io.Out)
	e.SetEscapeHTML(false)
	return e.Encode(v)
}

// plainStyle is a table without lines: columns stand apart by two spaces.
var plainStyle = table.Style{Name: "pawl", Box: table.BoxStyle{PaddingRight: "  "}}

func (a *App) writeTable(s *sheet) error {
	if len(s.rows) == 0 {
		return nil
	}
	t := table.NewWriter()
	t.SetStyle(plainStyle)
	t.SuppressTrailingSpaces()
	if len(s.columns) > 0 {
		t.AppendHeader(cells(s.columns, a.bold))
	}
	for _, r := range s.rows {
		if len(s.columns) == 0 {
			t.AppendRow(table.Row{a.bold(r[0]), printable(r[1])})
			continue
		}
		t.AppendRow(cells(r, cell))
	}
	_, err := fmt.Fprintln(a.io.Out, t.Render())
	return err
}

func cells(texts []string, write func(string) string) (row table.Row) {
	for _, s := range texts {
		row = append(row, write(s))
	}
	return row
}

// cell is a value as a table shows it.
func cell(s string) string {
	s = printable(s)
	if r := []rune(s); len(r) > maxCell {
		return string(r[:maxCell-1]) + "…"
	}
	return s
}

// printable is text that cannot command a terminal: what a model wrote is shown, never obeyed. Line breaks stay.
func printable(s string) string {
	var b strings.Builder
	for _, r := range s {
		switch {
		case r == '\n' || r == '\t' || unicode.IsPrint(r):
			b.WriteRune(r)
		case r < 0x80:
			fmt.Fprintf(&b, `\x%02x`, r)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
	}
	return b.String()
}

// bold is text that stands out, where there are colours.
func (a *App) bold(s string) string { return a.painted("1", s) }

// painted is text in a colour of ANSI X3.64, where there are colours.
func (a *App) painted(code, s string) string {
	if s == "" || !a.allowed(a.color, a.io.Out) || a.color == auto && os.Getenv("NO_COLOR") != "" {
		return s
	}
	return "\x1b[" + code + "m" + s + "\x1b[0m"
}

// allowed tells whether something that only a terminal understands may be written.
func (a *App) allowed(when string, w io.Writer) bool {
	return when == always || when == auto && terminal(w) && os.Getenv("TERM") != "dumb"
}

func terminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// say writes a remark that is no result.
func (a *App) say(format string, args ...any) {
	fmt.Fprintf(a.io.Err, "%s: %s\n", a.tool.Name, printable(fmt.Sprintf(format, args...)))
}

// instant is a time for people, "" for none.
func instant(µ store.Micros) string {
	if µ == 0 {
		return ""
	}
	return time.UnixMicro(µ).UTC().Format("2006-01-02T15:04:05Z")
}

// stamp is a time in JSON, with all its digits; null for none.
func stamp(µ store.Micros) *time.Time {
	if µ == 0 {
		return nil
	}
	t := time.UnixMicro(µ).UTC()
	return &t
}

// raw is stored bytes in JSON: as they are if they are JSON, else in base64.
func raw(b []byte) any {
	switch {
	case len(b) == 0:
		return nil
	case json.Valid(b):
		return json.RawMessage(b)
	}
	return map[string][]byte{"base64": b}
}
