package resume_test

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"

	projection "github.com/pawlgo/pawl/context"
	"github.com/pawlgo/pawl/examples/refund/refund"
	"github.com/pawlgo/pawl/guard"
	"github.com/pawlgo/pawl/machine"
	"github.com/pawlgo/pawl/resume"
	"github.com/stretchr/testify/require"
)

// adversary is one row of testdata/adversary.txt.
type adversary struct {
	line              int
	kind, about, rule string
	code, text        string
}

// made are the inputs that are too long to be written down.
var made = map[string]string{
	"@96KiB":       `{"event":"ask_again","payload":{"text":"` + strings.Repeat("x", projection.MaxAnswer) + `"}}`,
	"@manyKeys":    `{"event":"confirm_refund","payload":{` + strings.Repeat(`"a":1,`, 9000) + `"b":1}}`,
	"@longString":  `{"event":"confirm_refund","payload":{"order_id":"` + strings.Repeat("1", 70<<10) + `","amount":{"minor":4300,"currency":"EUR"}}}`,
	"@deepLists":   `{"event":"confirm_refund","payload":` + strings.Repeat("[", 5000) + strings.Repeat("]", 5000) + `}`,
	"@deepObjects": `{"event":"confirm_refund","payload":` + strings.Repeat(`{"a":`, 60) + "1" + strings.Repeat("}", 60) + `}`,
	"@longNumber":  `{"event":"confirm_refund","payload":{"order_id":"123","amount":{"minor":1` + strings.Repeat("0", 400) + `,"currency":"EUR"}}}`,
	"@textTooLong": `{"text":"` + strings.Repeat("x", 10_000) + `"}`,
}

func adversaries(t *testing.T) []adversary {
	raw, err := os.ReadFile("testdata/adversary.txt")
	require.NoError(t, err)
	var rows []adversary
	var group adversary
	for i, line := range strings.Split(string(raw), "\n") {
		if line == "" || line[0] == '#' {
			continue
		}
		if head, ok := strings.CutPrefix(line, "* "); ok {
			var how string
			how, group.rule, ok = strings.Cut(head, ": ")
			require.True(t, ok, "line %d", i+1)
			group.kind, group.about, _ = strings.Cut(how, " ")
			continue
		}
		row := group
		row.line = i + 1
		var ok bool
		row.code, row.text, ok = strings.Cut(line, " | ")
		require.True(t, ok, "line %d", i+1)
		row.code = strings.TrimSpace(row.code)
		switch {
		case row.text[0] == '"':
			row.text, err = strconv.Unquote(row.text)
			require.NoError(t, err, "line %d", i+1)
		case made[row.text] != "":
			row.text = made[row.text]
		}
		rows = append(rows, row)
	}
	return rows
}

// write brings a row in as its kind says.
func (d *desk) write(s *resume.Session, a adversary) machine.Outcome {
	view := func(said ...projection.Quote) projection.View {
		v, err := s.Project(d.ctx, refund.InterpretReply, said...)
		require.NoError(d.t, err)
		return v
	}
	offered := []byte(`{"event":"confirm_refund","payload":{"order_id":"123","amount":{"minor":4300,"currency":"EUR"}}}`)
	var out machine.Outcome
	var err error
	switch a.kind {
	case "answer":
		out, err = s.Answer(d.ctx, view(), []byte(a.text))
	case "payload":
		out, err = s.ProposeRaw(d.ctx, a.about, []byte(a.text))
	case "says":
		out, err = s.Answer(d.ctx, view(projection.Quote{Origin: "customer", Text: a.text}), offered, d.says(s, a.text))
	case "quote":
		bare, told := view(projection.Quote{Origin: a.about, Text: "hello"}), view(projection.Quote{Origin: a.about, Text: a.text})
		require.Equal(d.t, headings(bare), headings(told), "line %d", a.line)
		out, err = s.Answer(d.ctx, told, offered)
	default:
		d.t.Fatalf("line %d: %q", a.line, a.kind)
	}
	require.NoError(d.t, err, "line %d", a.line)
	return out
}

func headings(v projection.View) []string {
	var out []string
	for line := range strings.SplitSeq(string(v.Markdown()), "\n") {
		if strings.HasPrefix(line, "#") || strings.HasPrefix(line, "```") {
			out = append(out, line)
		}
	}
	return out
}

// TestAdversary: none of the rows changes a fact, a confirmation or an effect. Law 2: a proposal is never a fact.
func TestAdversary(t *testing.T) {
	rows := adversaries(t)
	require.GreaterOrEqual(t, len(rows), 200)
	for _, a := range rows {
		t.Run(fmt.Sprintf("line %d", a.line), func(t *testing.T) {
			d := newDesk(t)
			s := d.asked()
			before := s.Snapshot()
			out := d.write(s, a)
			require.NotEqual(t, machine.Committed, out.Kind, a.text)
			require.Equal(t, a.code, because(out), "%s\n%v", a.rule, out)
			d.work()
			after := d.resume().Snapshot()
			require.Equal(t, before.State, after.State)
			require.Equal(t, before.Data, after.Data)
			require.Empty(t, after.Intents)
			require.Empty(t, after.Operations)
			require.Empty(t, d.world.sent)
			require.Empty(t, d.world.ledger)
			require.Equal(t, d.believed(before), d.believed(after))
		})
	}
}

// because is the code of a refusal; of a form, with what is wrong about it.
func because(out machine.Outcome) string {
	if out.Code() != machine.CodeForm {
		return out.Code()
	}
	reason, _ := out.Findings[0].Details["reason"].(string)
	return out.Code() + "/" + reason
}

// TestAdversaryWouldBeHeard: the same way in, with what an honest customer says, goes through.
func TestAdversaryWouldBeHeard(t *testing.T) {
	d := newDesk(t)
	require.Equal(t, machine.Committed, d.write(d.asked(), adversary{kind: "says", text: "yes"}).Kind)
	d = newDesk(t)
	require.Equal(t, machine.Committed, d.write(d.asked(), adversary{kind: "answer", text: `{"event":"ask_again","payload":{"text":"Shall I?"}}`}).Kind)
	d = newDesk(t)
	require.Equal(t, machine.Committed, d.write(d.asked(), adversary{kind: "payload", about: "cancel_refund", text: `{"text":"not wanted"}`}).Kind)
}

// believed is what a snapshot holds of the facts that only authorities speak for, as values.
func (d *desk) believed(s machine.Snapshot[any]) map[guard.Key]any {
	out := map[guard.Key]any{}
	for _, e := range s.Facts.All() {
		if e.Key.Fact != refund.Reply.Info().Name {
			out[e.Key] = e.Value
		}
	}
	return out
}
