package machinetest

import (
	"fmt"
	"strings"
)

// fault is something wrong with a table itself.
type fault struct {
	path string
	line int
	text string
}

// Error names file and line.
func (f *fault) Error() string { return fmt.Sprintf("%s:%d: %s", f.path, f.line, f.text) }

// line is a line of a section that is neither empty nor a comment.
type line struct {
	number int // from 1
	text   string
}

// section is a part of a table: "-- KIND NAME --" and what follows.
type section struct {
	line
	kind, name string
	body       []line
}

// sections splits a file. What stands above the first header is prose.
func sections(lines []string) []section {
	var out []section
	for n, text := range lines {
		l := line{n + 1, strings.TrimSpace(text)}
		if h, ok := strings.CutPrefix(text, "-- "); ok && strings.HasSuffix(h, " --") {
			s := section{line: l}
			s.kind, s.name, _ = strings.Cut(strings.TrimSpace(strings.TrimSuffix(h, " --")), " ")
			out = append(out, s)
			continue
		}
		if l.text != "" && !strings.HasPrefix(l.text, "#") && len(out) > 0 {
			s := &out[len(out)-1]
			s.body = append(s.body, l)
		}
	}
	return out
}

// cells splits a line of columns.
func cells(text string) []string {
	out := strings.Split(text, "|")
	for i := range out {
		out[i] = strings.TrimSpace(out[i])
	}
	return out
}

// list splits a cell of several names.
func list(cell string) []string {
	if cell == "" {
		return nil
	}
	out := strings.Split(cell, ",")
	for i := range out {
		out[i] = strings.TrimSpace(out[i])
	}
	return out
}
