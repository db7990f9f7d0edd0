package machinetest

import (
	"strings"
	"unicode/utf8"
)

// aligned is the text of the table with its expectations as given and the columns of each section aligned.
func (tb *table) aligned(got map[int][]string) string {
	lines := append([]string(nil), tb.lines...)
	for _, s := range sections(tb.lines) {
		if s.kind != "table" && s.kind != "impossible" && s.kind != "uncovered" {
			continue
		}
		grid := make([][]string, len(s.body))
		for i, l := range s.body {
			grid[i] = cells(l.text)
			if e, ok := got[l.number]; ok {
				grid[i] = append(grid[i][:done:done], e...)
			}
		}
		for i, text := range columnsOf(grid) {
			lines[s.body[i].number-1] = text
		}
	}
	return strings.Join(lines, "\n")
}

// columnsOf writes rows with their cells under each other.
func columnsOf(grid [][]string) []string {
	var width []int
	for _, row := range grid {
		for i, c := range row {
			if i == len(width) {
				width = append(width, 0)
			}
			width[i] = max(width[i], utf8.RuneCountInString(c))
		}
	}
	out := make([]string, len(grid))
	for n, row := range grid {
		for i, c := range row {
			if i > 0 {
				out[n] += " | "
			}
			out[n] += c + strings.Repeat(" ", width[i]-utf8.RuneCountInString(c))
		}
		out[n] = strings.TrimRight(out[n], " ")
	}
	return out
}
