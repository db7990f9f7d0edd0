package main

import (
	"bytes"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

var example = figure{name: "commit/64", unit: perSecond, ours: 9123.456, floor: 18000, ratio: 0.50686, lowest: 0.48, highest: 0.61,
	p50Ratio: 1.98765, p99Ratio: 2.5, p50: 4321 * time.Microsecond, allocs: 205.6}

// Other programs read this line: it changes by adding only.
func TestJSON(t *testing.T) {
	var out bytes.Buffer
	require.NoError(t, printJSON(&out, example))
	require.NoError(t, printJSON(&out, example))
	line := `{"name":"commit/64","ours":9123.5,"floor":18000,"unit":"1/s","ratio":0.507,"p50_ratio":1.988,"p99_ratio":2.5,"allocs":206}` + "\n"
	require.Equal(t, line+line, out.String())
}

func TestTable(t *testing.T) {
	var out bytes.Buffer
	second := example
	second.name, second.unit, second.ours = "step/refund", nanoseconds, 12.34
	require.NoError(t, printTable(&out, []figure{example, second}))
	require.Equal(t, `
         name  ours  floor  unit  ratio  from    to  p50 ratio  p99 ratio      p50  allocs
    commit/64  9123  18000   1/s   0.51  0.48  0.61       1.99       2.50  4.321ms     206
  step/refund  12.3  18000    ns   0.51  0.48  0.61       1.99       2.50  4.321ms     206
`, "\n"+out.String())
}
