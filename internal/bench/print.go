package main

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"strconv"
	"text/tabwriter"
	"time"
)

// line is a figure as JSON. Its names are read by other programs: add, never rename.
type line struct {
	Name     string  `json:"name"`
	Ours     float64 `json:"ours"`
	Floor    float64 `json:"floor"`
	Unit     unit    `json:"unit"`
	Ratio    float64 `json:"ratio"`
	P50Ratio float64 `json:"p50_ratio"`
	P99Ratio float64 `json:"p99_ratio"`
	Allocs   int64   `json:"allocs"`
}

// printJSON writes a figure as one line.
func printJSON(w io.Writer, f figure) error {
	return json.NewEncoder(w).Encode(line{f.name, rounded(f.ours, 1), rounded(f.floor, 1), f.unit,
		rounded(f.ratio, 3), rounded(f.p50Ratio, 3), rounded(f.p99Ratio, 3), int64(math.Round(f.allocs))})
}

// printTable writes figures for people, in columns.
func printTable(w io.Writer, figures []figure) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "name\tours\tfloor\tunit\tratio\tfrom\tto\tp50 ratio\tp99 ratio\tp50\tallocs\t")
	for _, f := range figures {
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%.2f\t%.2f\t%.2f\t%.2f\t%.2f\t%v\t%.0f\t\n", f.name, short(f.ours), short(f.floor), f.unit,
			f.ratio, f.lowest, f.highest, f.p50Ratio, f.p99Ratio, f.p50.Round(100*time.Nanosecond), f.allocs)
	}
	return t.Flush()
}

// short is a value with no more digits than it is worth.
func short(v float64) string {
	if v < 100 {
		return strconv.FormatFloat(v, 'f', 1, 64)
	}
	return strconv.FormatFloat(v, 'f', 0, 64)
}
