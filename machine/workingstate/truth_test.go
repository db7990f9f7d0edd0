package workingstate_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlgo/pawl/machine"
	ws "github.com/pawlgo/pawl/machine/workingstate"
)

// TestCompareAndSet is the truth table of the specification's section 4, by its row numbers. What is stored is made by want, what is
// expected is raw JSON; "" expects nothing.
func TestCompareAndSet(t *testing.T) {
	long := strings.Repeat("x", ws.MaxValue+100)
	for _, row := range []struct {
		number   int
		mark     string
		stored   string // "" for none
		over     bool   // it has expired
		expected string
		code     string // "" commits
		current  string // of a conflict; "" says that there is none
	}{
		{1, parity, "", false, ``, "", ""},
		{2, parity, "", false, `"any"`, ws.CodeConflict, ""},
		{3, parity, "", false, `""`, ws.CodeConflict, ""}, // expect_absent creates, and never overwrites
		{4, parity, "V", false, ``, "", ""},
		{5, parity, "V", false, `"V"`, "", ""},
		{6, parity, "V", false, `" V "`, "", ""},
		{7, parity, "V", false, `"W"`, ws.CodeConflict, "V"},
		{8, parity, "V", false, `""`, ws.CodeConflict, "V"},
		{9, parity, "V", true, ``, "", ""},
		{10, parity, "V", true, `"V"`, ws.CodeConflict, ""},
		{11, parity, "V", true, `"W"`, ws.CodeConflict, ""},
		{11, parity, "V", true, `""`, ws.CodeConflict, ""},
		{12, ours, "a  b", false, `"a  b"`, "", ""},
		{13, ours, long, false, `"` + long + `"`, "", ""},
		{14, ours, "1", false, `1`, machine.CodeForm, ""},
		{14, ours, "true", false, `true`, machine.CodeForm, ""},
		{14, ours, "V", false, `null`, "", ""}, // left out, as strict schemas say it
	} {
		t.Run(fmt.Sprintf("%02d_%s_%.10s", row.number, row.mark, row.expected), func(t *testing.T) {
			d := open(t, ws.Machine, ws.Table{})
			if row.stored != "" {
				d.set("k", row.stored, "ttl_hours", "!1")
			}
			if row.over {
				d.sleep(time.Hour)
			}
			var more []string
			if row.expected != "" {
				more = []string{"expected_value", "!" + row.expected}
			}
			if row.code == "" {
				d.set("k", "new", more...)
				return
			}
			f := d.refusesSet(row.code, "k", "new", more...)
			if row.code == ws.CodeConflict && row.current == "" {
				absent(t, f)
			} else if row.code == ws.CodeConflict {
				require.Equal(t, row.current, f.Details["current"])
			}
		})
	}
	// 15: a value that went away and came back is seen by expected_version: TestExpectedVersion.
	// 16: a file that was corrupted meanwhile is an error: vector 70.
}

// fieldOf is what one field of a report holds.
type fieldOf int

const (
	leftOut fieldOf = iota
	empties
	blank
	filled
)

func (f fieldOf) args(name string) []string {
	return map[fieldOf][]string{leftOut: nil, empties: {name, ""}, blank: {name, " \n"}, filled: {name, "x"}}[f]
}

// handoffTable is the decision table of the specification's section 6, as it stands there.
func handoffTable(status string, next, evidence, blocker fieldOf) string {
	n, e, b := next == filled, evidence == filled, blocker == filled
	switch status {
	case "":
		if next == leftOut && evidence == leftOut && blocker == leftOut {
			return ""
		}
		return ws.CodeStatusNeeded
	case "continue":
		if n && !b {
			return ""
		}
		return ws.CodeRule
	case "complete":
		if e && !b && !n {
			return ""
		}
		return ws.CodeRule
	case "blocked":
		if b {
			return ""
		}
		return ws.CodeRule
	}
	return ws.CodeStatusInvalid
}

// TestHandoffTable tries every status with every field left out, empty, blank and filled.
func TestHandoffTable(t *testing.T) {
	d := open(t, ws.Machine, ws.Table{})
	tried := 0
	for _, status := range []string{"", "continue", "complete", "blocked", "done"} {
		for next := leftOut; next <= filled; next++ {
			for evidence := leftOut; evidence <= filled; evidence++ {
				for blocker := leftOut; blocker <= filled; blocker++ {
					tried++
					call := args("note", "n", "status", status, next.args("next_steps"), evidence.args("evidence"), blocker.args("blocker"))
					out := d.try(handoffTool, call)
					require.Equal(t, handoffTable(status, next, evidence, blocker), out.Code(), call)
				}
			}
		}
	}
	require.Equal(t, 320, tried)
}
