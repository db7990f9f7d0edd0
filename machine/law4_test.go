package machine_test

import (
	"testing"
	"time"

	"github.com/pawlgo/pawl/guard"
	"github.com/pawlgo/pawl/machine"
	"github.com/stretchr/testify/require"
)

type order4 struct {
	ID string `json:"id" about:"order"`
}

// Law 4 across the edges of one event: while one of them cannot be judged, another one that is open is not taken. What was
// refused because both were open must not pass because less is known.
func TestUnknownEdgeOpensNoOther(t *testing.T) {
	held := guard.NewFact[bool]("fraud_hold", guard.From("risk"), guard.About("order"), guard.Lasting())
	eligible := guard.NewFact[bool]("eligible", guard.From("policy"), guard.About("order"), guard.Lasting())
	pay := machine.NewEvent[machine.None]("pay")
	b := machine.New[order4]("payment", "asked")
	b.Final("review", "paid")
	machine.On(b, pay).From("asked").To("review").By(guard.Model).Require(guard.True(held))
	machine.On(b, pay).From("asked").To("paid").By(guard.Model).Require(guard.True(eligible))
	m := b.MustBuild()
	ann := guard.Principal{ID: "ann"}
	now := time.Date(2026, 1, 5, 9, 0, 0, 0, time.UTC)

	for _, row := range []struct {
		held *bool
		kind machine.Kind
		code string
	}{
		{new(true), machine.Refused, machine.CodeAmbiguous},
		{nil, machine.NeedsEvidence, guard.CodeUnknown},
		{new(false), machine.Committed, ""},
	} {
		s, _, err := m.Task("t", ann, order4{"1"}).First(now)
		require.NoError(t, err)
		facts := map[guard.Fact[bool]]*bool{held: row.held, eligible: new(true)}
		var evidence []guard.Evidence
		for f, v := range facts {
			if v == nil {
				continue
			}
			by := guard.NewAuthority(f.Info().Source)
			e, err := guard.Verify(f.Observe(by, guard.Observed[bool]{Value: *v, Subject: "1"}), guard.Acceptance{
				Fact: m.FactNamed, Trusts: func(*guard.Authority) bool { return true }, Now: now})
			require.NoError(t, err)
			evidence = append(evidence, e)
		}
		erased := machine.Erase(m)
		_, out := erased.Step(s, machine.Input{
			Proposal: pay.With(machine.None{}).BasedOn(1), Principal: ann, Evidence: evidence, Received: now, Now: now})
		require.Equal(t, row.kind, out.Kind, out)
		require.Equal(t, row.code, out.Code())
		if row.held == nil {
			require.Equal(t, []guard.Key{{Fact: "fraud_hold", Subject: "1"}}, out.Missing)
		}
	}
}
