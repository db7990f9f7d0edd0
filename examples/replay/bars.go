package replay

import "fmt"

// Bars are what a replay has to reach, beside agreement wherever there is something to agree with. The zero Bars ask for no more.
type Bars struct {
	WrongRefused int     // of a thousand executed writes that differ from gold, how many the facts refuse at least
	RightRefused int     // of a thousand executed writes that are equal to gold, how many the facts refuse at most; 0 is not asked
	Rate         float64 // conversations per second
}

// Missed are the bars that a report does not reach, in words.
func (r *Report) Missed(b Bars) []string {
	var out []string
	want := func(holds bool, format string, args ...any) {
		if !holds {
			out = append(out, fmt.Sprintf(format, args...))
		}
	}
	if g := r.Gold; g != nil {
		want(g.Agree == g.Writes, "gold: %d of %d writes come out as the task says", g.Agree, g.Writes)
		want(g.Equal == g.Tasks, "gold: %d of %d final states are equal", g.Equal, g.Tasks)
	}
	if a := r.Attempts; a != nil {
		want(a.Differ == 0, "recorded writes: %d differ, and no rule of the policy says why", a.Differ)
		want(a.Agree+a.PolicyOnly == a.Total, "recorded writes: %d of %d are accounted for", a.Agree+a.PolicyOnly, a.Total)
	}
	if v := r.Variations; v != nil {
		want(v.Agree == v.Writes, "made writes: %d of %d come out as expected", v.Agree, v.Writes)
		want(v.LegalRefused == 0, "made writes: %d legal ones are refused", v.LegalRefused)
		want(len(r.details.finals) == 0, "made writes: %d orders end otherwise", len(r.details.finals))
		want(v.IllegalAdmitted == 0, "made writes: %d illegal ones are admitted", v.IllegalAdmitted)
	}
	if w := r.Wrong; w != nil && w.Total > 0 {
		want(w.Refused*1000 >= w.Total*b.WrongRefused, "writes that differ from gold: the facts refuse %d of %d", w.Refused, w.Total)
	}
	if w := r.Right; w != nil && w.Total > 0 && b.RightRefused > 0 {
		want(w.Refused*1000 <= w.Total*b.RightRefused, "writes equal to gold: the facts refuse %d of %d", w.Refused, w.Total)
	}
	want(r.Rate >= b.Rate, "%.1f conversations per second, of %.1f", r.Rate, b.Rate)
	return out
}
