package refund_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// elsewhere are the codes that no row of the desk's table can show, and why.
var elsewhere = map[string]string{
	"unknown_event":    "a table can only name events of the machine",
	"ambiguous":        "no two edges of the desk are open at once; TestExplore looks for it",
	"effects_differ":   "the payment is made of the payload, which is held to the offer word for word",
	"under_way":        "an intent is made only in a state that has none",
	"repeated_effect":  "an intent is made once in a task",
	"duplicate_effect": "an edge makes one intent",
	"no_receipt":       "the desk settles an effect by its receipt's evidence, which is asked for",
	"unsettled":        "the final states are entered by cancelling before, or settling after, the intent",
	"invariant":        "every invariant has its guard; TestInvariants takes the guards away",
	"edge_fault":       "no function of the desk panics; TestExplore looks for it",
	"guard_fault":      "no guard of the desk panics; TestExplore looks for it",
	"names_nothing":    "the order's id is required",
	"too_many":         "the data's own limits are narrower",
	"not_evidence":     "a table's handles are trusted; TestEssay, row k",
	"forbidden":        "who may act on a task is the controller's to say",
	"evidence_lapsed":  "the store judges it inside the write",
}

// codes are the constants of a file whose names begin with Code.
func codes(t *testing.T, path string) []string {
	f, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
	require.NoError(t, err)
	var out []string
	ast.Inspect(f, func(n ast.Node) bool {
		if v, ok := n.(*ast.ValueSpec); ok && strings.HasPrefix(v.Names[0].Name, "Code") {
			code, err := strconv.Unquote(v.Values[0].(*ast.BasicLit).Value)
			require.NoError(t, err)
			out = append(out, code)
		}
		return true
	})
	require.NotEmpty(t, out)
	return out
}

// TestEveryCode wants each code of a refusal in a row of the table, or a reason why none can show it.
func TestEveryCode(t *testing.T) {
	raw, err := os.ReadFile("testdata/refund.txtar")
	require.NoError(t, err)
	shown := map[string]bool{}
	for line := range strings.Lines(string(raw)) {
		if cells := strings.Split(line, "|"); len(cells) >= 10 {
			for why := range strings.SplitSeq(cells[9], ",") {
				code, _, _ := strings.Cut(strings.TrimSpace(why), " ")
				shown[code] = true
			}
		}
	}
	others := maps.Clone(elsewhere)
	for _, code := range append(codes(t, "../../../machine/outcome.go"), codes(t, "../../../guard/verdict.go")...) {
		require.NotEqual(t, shown[code], others[code] != "", "%s: it has a row, or a reason why it has none", code)
		delete(others, code)
	}
	require.Empty(t, others, "there are no such codes")
}
