package replay

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestEachBarIsMissedByOne(t *testing.T) {
	bars := Bars{WrongRefused: 340, RightRefused: 15, Rate: 300}
	fine := func() *Report {
		return &Report{
			Gold: &GoldPart{Tasks: 2, Writes: 3, Agree: 3, Equal: 2}, Attempts: &Attempts{Total: 5, Agree: 4, PolicyOnly: 1},
			Variations: &Variations{Writes: 4, Agree: 4}, Wrong: &Refusals{Total: 100, Refused: 34}, Right: &Refusals{Total: 1000, Refused: 15}, Rate: 300,
		}
	}
	require.Empty(t, fine().Missed(bars))
	require.Empty(t, (&Report{}).Missed(Bars{}))
	for name, spoil := range map[string]func(*Report){
		"gold write":       func(r *Report) { r.Gold.Agree-- },
		"final state":      func(r *Report) { r.Gold.Equal-- },
		"difference":       func(r *Report) { r.Attempts.Differ++ },
		"unaccounted":      func(r *Report) { r.Attempts.Total++ },
		"made write":       func(r *Report) { r.Variations.Agree-- },
		"legal refused":    func(r *Report) { r.Variations.LegalRefused++ },
		"illegal admitted": func(r *Report) { r.Variations.IllegalAdmitted++ },
		"final status":     func(r *Report) { r.details.finals = []string{"v1"} },
		"wrong":            func(r *Report) { r.Wrong.Refused-- },
		"right":            func(r *Report) { r.Right.Refused++ },
		"rate":             func(r *Report) { r.Rate -= 0.1 },
	} {
		r := fine()
		spoil(r)
		require.Len(t, r.Missed(bars), 1, name)
	}
}
