package replay

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlgo/pawl/guard"
	"github.com/pawlgo/pawl/machine"
)

func TestTheRuleBehindARefusal(t *testing.T) {
	g := &gate{spoken: map[string]bool{"reason": true}, domain: &Domain{Policy: func(f machine.Finding) string {
		return map[string]string{"flown": "used", "route": "connected"}[f.Code]
	}}}
	confirm := machine.Finding{Guard: "confirm", Code: machine.CodeNotOffered}
	asks := machine.Finding{Guard: "cancellable", Code: guard.CodeUnknown, Missing: []guard.Key{{Fact: "reason", Subject: "R1"}}}
	blind := machine.Finding{Guard: "own", Code: guard.CodeUnknown, Missing: []guard.Key{{Fact: "reservation", Subject: "R1"}}}
	flown, seats := machine.Finding{Guard: "not_flown", Code: "flown"}, machine.Finding{Guard: "seats", Code: "no_seats"}
	gone := machine.Finding{Code: machine.CodeNoTransition}
	for _, c := range []struct {
		refused, unidentified bool
		findings              []machine.Finding
		want                  string
	}{
		{false, false, nil, ""},
		{false, true, nil, ruleIdentified},
		{true, true, []machine.Finding{gone}, ruleIdentified},
		{true, false, []machine.Finding{gone}, ruleTransfer},
		{true, false, []machine.Finding{flown, asks, confirm}, "used"},
		{true, false, []machine.Finding{flown, seats}, ""},
		{true, false, []machine.Finding{blind}, ""},
		{true, true, []machine.Finding{seats}, ""},
	} {
		require.Equal(t, c.want, g.ruleOf(attempt{refused: c.refused, unidentified: c.unidentified, out: machine.Outcome{Findings: c.findings}}), "%+v", c)
	}
	require.True(t, g.admitted(machine.Outcome{Kind: machine.Refused, Findings: []machine.Finding{asks, confirm}}))
	require.False(t, g.admitted(machine.Outcome{Kind: machine.Refused, Findings: []machine.Finding{blind, confirm}}))
	require.False(t, g.admitted(machine.Outcome{Kind: machine.Refused}))
	require.True(t, g.admitted(machine.Outcome{Kind: machine.Committed}))
}
