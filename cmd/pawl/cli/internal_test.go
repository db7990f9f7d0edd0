package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/require"

	"github.com/pawlgo/pawl/cmd/pawl/holder"
	"github.com/pawlgo/pawl/store"
)

// One dash before the name of a flag is as good as two; what is no name of a flag stays as it is.
func TestOneDash(t *testing.T) {
	a := &App{}
	root := &cobra.Command{Use: "x"}
	root.PersistentFlags().StringP("output", "o", "", "")
	sub := &cobra.Command{Use: "sub"}
	sub.Flags().String("dir", "", "")
	sub.Flags().Bool("all", false, "")
	root.AddCommand(sub)
	for in, want := range map[string]string{
		"sub -dir s":              "sub --dir s",
		"sub -dir=s":              "sub --dir=s",
		"sub --dir s":             "sub --dir s",
		"sub -all -dir s":         "sub --all --dir s",
		"sub -all x":              "sub --all x",
		"sub --dir -all":          "sub --dir -all",       // it is a value
		"sub -dir -all -all":      "sub --dir -all --all", // the first one is a value
		"sub --dir=-all -all":     "sub --dir=-all --all", // it has its value
		"sub -o -dir":             "sub -o -dir",          // it is a value
		"sub -ojson -dir s":       "sub -ojson --dir s",   // letters
		"sub -output json":        "sub --output json",    // a name that begins with a letter of a flag
		"sub -dri s":              "sub --dri s",          // mistyped: told as a name
		"sub -5":                  "sub -5",               // one letter
		"sub - -- -dir":           "sub - -- -dir",        // nothing behind -- is a flag
		"sub -dir":                "sub --dir",            // nothing behind it
		"-output -output -output": "--output -output --output",
	} {
		require.Equal(t, strings.Fields(want), a.doubled(root, strings.Fields(in)), in)
	}
}

func TestNearest(t *testing.T) {
	names := []string{"show", "history", "watch", "--machine", "working_state"}
	for typed, want := range map[string]string{
		"shwo": "show", "sho": "show", "hist": "history", "histroy": "history", "watsch": "watch", "--machne": "--machine", "--mach": "--machine",
		"frobnicate": "", "x": "", "show": "", "": "", "workingstate": "working_state",
	} {
		err := nearest(ErrUsage, typed, names)
		require.ErrorIs(t, err, ErrUsage)
		if want == "" {
			require.Equal(t, ErrUsage, err, typed)
			continue
		}
		h, ok := err.(*hinted)
		require.True(t, ok, typed)
		require.Equal(t, "did you mean "+want+"?", h.hint)
	}
}

func TestEditDistance(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want int
	}{
		{"", "", 0}, {"a", "", 1}, {"abc", "abc", 0}, {"abc", "acb", 1}, {"abc", "abd", 1}, {"abc", "xabc", 1}, {"kitten", "sitting", 3}, {"鍵", "键", 1},
		{strings.Repeat("x", maxTyped), strings.Repeat("x", maxTyped-1), 1}, {strings.Repeat("x", maxTyped+1), strings.Repeat("x", maxTyped), maxTyped},
	} {
		require.Equal(t, c.want, editDistance(c.a, c.b))
		require.Equal(t, c.want, editDistance(c.b, c.a))
	}
}

// Text that would command a terminal is shown; a cell is as long as it may be, and not one character longer.
func TestPrintable(t *testing.T) {
	require.Equal(t, `a\x1b[31mb\x07\x7f`+"\n\t"+`\u009b\u202e\ufeff鍵`, printable("a\x1b[31mb\a\x7f\n\t\u009b\u202e\ufeff鍵"))
	require.Equal(t, "\ufffd", printable("\xff"))
	whole := strings.Repeat("鍵", maxCell)
	require.Equal(t, whole, cell(whole))
	require.Equal(t, strings.Repeat("鍵", maxCell-1)+"…", cell(whole+"x"))
}

func TestRaw(t *testing.T) {
	for in, want := range map[string]string{"": "null", `{"a": 1}`: `{"a":1}`, "\x00\xff": `{"base64":"AP8="}`} {
		got, err := json.Marshal(raw([]byte(in)))
		require.NoError(t, err)
		require.Equal(t, want, string(got))
	}
}

// Differences are told by path; numbers keep their digits, and what could be taken for a path is quoted.
func TestDifferences(t *testing.T) {
	before, err := leaves([]byte(`{"a":{"b":[1,{"c":"x"}],"gone":true},"n":9007199254740993,"d.e":1,"":2,"empty":{},"list":[]}`))
	require.NoError(t, err)
	after, err := leaves([]byte(`{"a":{"b":[1,{"c":"y"},3]},"n":9007199254740992,"d.e":2,"":3,"empty":{"f":null},"list":[]}`))
	require.NoError(t, err)
	got, err := json.Marshal(differences(before, after))
	require.NoError(t, err)
	require.JSONEq(t, `[
		{"path":"\"\"","was":2,"is":3},
		{"path":"\"d.e\"","was":1,"is":2},
		{"path":"a.b[1].c","was":"x","is":"y"},
		{"path":"a.b[2]","was":null,"is":3},
		{"path":"a.gone","was":true,"is":null},
		{"path":"empty","was":{},"is":null},
		{"path":"empty.f","was":null,"is":null},
		{"path":"n","was":9007199254740993,"is":9007199254740992}
	]`, string(got))
	require.Contains(t, string(got), "9007199254740993")
}

// The line of progress: how much of how much, and for how long.
func TestProgress(t *testing.T) {
	now := time.Date(2026, 11, 30, 9, 0, 0, 0, time.UTC)
	var out bytes.Buffer
	p := &progress{w: &out, what: "import", total: 200, begun: now, now: func() time.Time { return now }}
	for add, want := range map[int64]string{
		0:   "import  [........................]   0 %  0s",
		100: "import  [############............]  50 %  0s",
		199: "import  [#######################.]  99 %  0s",
		200: "import  [########################] 100 %  0s",
		300: "import  [########################] 100 %  0s",
	} {
		out.Reset()
		p.did.Store(add)
		p.draw()
		require.Equal(t, "\r\x1b[K"+want, out.String())
	}
	out.Reset()
	p.total, now = 0, now.Add(90*time.Second+time.Millisecond)
	p.draw()
	require.Equal(t, "\r\x1b[Kimport  1m30s", out.String())
}

// On what is no terminal nothing is drawn, whatever --progress auto hopes for.
func TestProgressIsHidden(t *testing.T) {
	f, err := os.Create(t.TempDir() + "/file")
	require.NoError(t, err)
	defer f.Close()
	for _, when := range []string{auto, never} {
		a := &App{tool: Tool{Now: time.Now}, io: Streams{Err: f}, progress: when}
		p := a.begin("work", 10)
		p.add(5)
		p.done()
	}
	i, err := f.Stat()
	require.NoError(t, err)
	require.Zero(t, i.Size())
}

// problems is a store of which only Verify matters.
type problems struct {
	holder.Reader
	n int
}

func (p problems) Verify(context.Context) iter.Seq2[store.Problem, error] {
	return func(yield func(store.Problem, error) bool) {
		for i := range p.n {
			if !yield(store.Problem{Task: fmt.Sprint("task_", i), What: "broken"}, nil) {
				return
			}
		}
	}
}

// The greatest number of problems that is told one by one, and one more; all are counted.
func TestProblemsAreBounded(t *testing.T) {
	for n, rows := range map[int]int{0: 0, 1: 1, maxProblems: maxProblems, maxProblems + 1: maxProblems} {
		var out bytes.Buffer
		a := &App{tool: Tool{Name: "pawl", Now: time.Now}, io: Streams{Out: &out, Err: io.Discard}, output: outputLines, dir: "s", progress: never}
		c := &cobra.Command{}
		c.SetContext(t.Context())
		err := a.verify(c, &source{Reader: problems{n: n}})
		require.Equal(t, rows, strings.Count(out.String(), "\n"))
		if n == 0 {
			require.NoError(t, err)
			continue
		}
		require.ErrorIs(t, err, ErrCorrupt)
		require.EqualError(t, err, fmt.Sprintf("%d problems in store s", n))
	}
}

func TestHours(t *testing.T) {
	for in, want := range map[string]string{"90m": "1.5", "4h30m": "4.5", "4.5": "4.5", "720": "720", "1s": "0.000277777777777778"} {
		h, err := hours(in)
		require.NoError(t, err)
		if in == "1s" {
			require.Equal(t, "0.00027", string(*h)[:7], "a second in hours")
			continue
		}
		require.Equal(t, want, string(*h), in)
	}
	none, err := hours("")
	require.NoError(t, err)
	require.Nil(t, none)
	for _, bad := range []string{"soon", "true", "null", "4,5", "1d"} {
		_, err := hours(bad)
		require.ErrorIs(t, err, ErrUsage, bad)
	}
}
