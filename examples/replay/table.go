package replay

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"
	"time"
)

// shownExamples is how many differences, and how many writes without a yes, the table names.
const shownExamples = 10

// print writes the table and, as the last line, the JSON object.
func (r *Report) print(w io.Writer, took time.Duration) error {
	if took > 0 && r.conversations > 0 {
		r.Rate = float64(int(float64(r.conversations)/took.Seconds()*10)) / 10
	}
	t := tabwriter.NewWriter(w, 0, 8, 2, ' ', 0)
	r.printGold(t)
	r.printAttempts(t)
	r.printVariations(t)
	fmt.Fprintf(t, "illegal writes\t%d\tof them among the tools a model would have been shown\t%d\n", r.details.illegal, r.details.offered)
	fmt.Fprintf(t, "\t\t  of those, waiting for the customer's yes alone\t%d\n", r.details.awaited)
	if err := t.Flush(); err != nil {
		return err
	}
	if err := r.printConsent(w); err != nil {
		return err
	}
	line, err := json.Marshal(r)
	if err == nil {
		_, err = fmt.Fprintf(w, "%s\n", line)
	}
	return err
}

func (r *Report) printGold(w io.Writer) {
	if r.Gold == nil {
		return
	}
	fmt.Fprintf(w, "gold tasks\t%d\tfinal state equal\t%d\n", r.Gold.Tasks, r.Gold.Equal)
	fmt.Fprintf(w, "gold writes\t%d\tas the task says\t%d\n", r.Gold.Writes, r.Gold.Agree)
	examples(w, "  differs", r.details.goldDiffer)
}

func (r *Report) printAttempts(w io.Writer) {
	if r.Attempts == nil {
		return
	}
	fmt.Fprintf(w, "recorded writes\t%d\tfacts say what the tool said\t%d\n", r.Attempts.Total, r.Attempts.Agree)
	fmt.Fprintf(w, "\t\trefused by a rule that no tool knows\t%d\n", r.Attempts.PolicyOnly)
	counts(w, "  ", r.details.policy)
	fmt.Fprintf(w, "\t\tother differences\t%d\n", r.Attempts.Differ)
	examples(w, "  differs", r.details.differ)
	examples(w, "  not followed", r.details.lost)
	fmt.Fprintf(w, "writes unlike gold\t%d\trefused by facts\t%d\n", r.Wrong.Total, r.Wrong.Refused)
	counts(w, "  ", r.details.wrong)
	fmt.Fprintf(w, "writes like gold\t%d\trefused by facts\t%d\n", r.Right.Total, r.Right.Refused)
	counts(w, "  ", r.details.right)
}

func (r *Report) printVariations(w io.Writer) {
	if r.Variations == nil {
		return
	}
	v := r.Variations
	fmt.Fprintf(w, "made writes\t%d\tas expected\t%d\n", v.Writes, v.Agree)
	fmt.Fprintf(w, "\t\tlegal and refused\t%d\n", v.LegalRefused)
	fmt.Fprintf(w, "\t\tillegal and admitted\t%d\n", v.IllegalAdmitted)
	fmt.Fprintf(w, "\t\tillegal, and the bare tool accepts them\t%d\n", v.BareToolAccepts)
	examples(w, "  differs", r.details.varDiffer)
	examples(w, "  ends otherwise", r.details.finals)
}

// printConsent tells by model how many executed writes had a yes that is about them.
func (r *Report) printConsent(w io.Writer) error {
	if len(r.details.consents) == 0 {
		return nil
	}
	t := tabwriter.NewWriter(w, 0, 8, 2, ' ', 0)
	fmt.Fprintf(t, "executed writes by model\t%s\t%s\t%s\t%s\n", bound, askAgain, noYes, unlisted)
	for _, model := range slices.Sorted(maps.Keys(r.details.consents)) {
		c := r.details.consents[model]
		fmt.Fprintf(t, "  %s\t%d\t%d\t%d\t%d\n", model, c[bound], c[askAgain], c[noYes], c[unlisted])
	}
	examples(t, "  without a yes", r.details.examples)
	return t.Flush()
}

func examples(w io.Writer, label string, all []string) {
	slices.Sort(all)
	for _, e := range all[:min(len(all), shownExamples)] {
		fmt.Fprintf(w, "%s: %s\n", label, strings.ReplaceAll(e, "\t", " "))
	}
	if more := len(all) - shownExamples; more > 0 {
		fmt.Fprintf(w, "%s: and %d more\n", label, more)
	}
}

func counts(w io.Writer, indent string, by map[string]int) {
	for _, k := range slices.Sorted(maps.Keys(by)) {
		fmt.Fprintf(w, "\t\t%s%s\t%d\n", indent, k, by[k])
	}
}
