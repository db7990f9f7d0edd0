package replay

import (
	"fmt"
	"io"

	"github.com/pawlgo/pawl/machine"
)

// tracer tells a conversation line by line. The zero tracer is silent.
type tracer struct{ w io.Writer }

func (g *gate) tracer(id string) tracer {
	if g.explain == id && id != "" {
		return tracer{g.out}
	}
	return tracer{}
}

func (t tracer) say(format string, args ...any) {
	if t.w != nil {
		fmt.Fprintf(t.w, format+"\n", args...)
	}
}

func (t tracer) outcome(call Call, out machine.Outcome) {
	if t.w == nil {
		return
	}
	t.say("  gate: %s %s", call.Tool, compact(call.Args))
	t.say("        %s as version %d, %s", out.Kind, out.Version, out.State)
	for _, f := range out.Findings {
		t.say("        %s %s: %s %v", f.Guard, f.Code, f.Text, f.Details)
	}
	for _, o := range out.Offers {
		t.say("        offered: %s", o.Question)
	}
}

func (t tracer) event(i int, e Event) {
	if t.w == nil {
		return
	}
	switch e.Type {
	case Customer:
		t.say("%3d customer (%s): %s", i, e.Consent, e.Text)
	case Assistant:
		t.say("%3d assistant: %s %v", i, e.Text, e.IDs)
	case ToolCall:
		t.say("%3d tool: %s %s: %s", i, e.Tool, compact(e.Args), e.Result)
	case Listed:
		t.say("%3d lists %s: %d writes", i, e.ID, len(e.Writes))
	case Attempted:
		t.say("%3d write, to be %s %s", i, e.Expect, e.Rule)
	case Changed:
		t.say("%3d elsewhere: %v = %s", i, e.Path, e.Value)
	}
}
