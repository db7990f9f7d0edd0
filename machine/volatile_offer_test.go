package machine_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlgo/pawl/guard"
	"github.com/pawlgo/pawl/machine"
)

// stall sells things: what is in stock is asked for each time, and never kept.
type stall struct{}

type purchase struct {
	Item string `json:"item" validate:"required" about:"item"`
}

var (
	stock   = guard.NewFact[int]("stock", guard.From("warehouse"), guard.About("item"), guard.Volatile())
	agreed  = guard.NewReply("agreed", guard.From("till"))
	show    = machine.NewEvent[purchase]("show")
	sell    = machine.NewEvent[purchase]("sell")
	inStock = guard.Holds("in_stock", "there is none", stock, func(n int) bool { return n > 0 })
)

func stallMachine() *machine.Machine[any] {
	b := machine.New[stall]("stall", "open")
	b.Final("sold")
	machine.On(b, show).From("open").Stay().By(guard.Model).Require(inStock).
		Then(machine.Offer(sell, machine.TaskOwner, time.Hour, func(c guard.Case[stall, purchase]) []purchase { return []purchase{c.Payload} }))
	machine.On(b, sell).From("open").To("sold").By(guard.Model).Require(inStock).Confirm(agreed)
	return machine.Erase(b.MustBuild())
}

// A volatile fact is not kept, but one that voids an offer is told: what is void must not go on being shown.
func TestVolatileEvidenceVoidsTheOfferThatStandsOnIt(t *testing.T) {
	m, at, who := stallMachine(), time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC), guard.Principal{ID: "ann"}
	warehouse := guard.NewAuthority("warehouse")
	counted := func(s machine.Snapshot[any], item string, n int) []guard.Evidence {
		e, err := guard.Verify(stock.Observe(warehouse, guard.Observed[int]{Value: n, Subject: item}), guard.Acceptance{
			Fact: m.FactNamed, Trusts: func(a *guard.Authority) bool { return a == warehouse }, Now: at, BasedOn: s.Version})
		require.NoError(t, err)
		return []guard.Evidence{e.Pulled()}
	}
	task, err := m.TaskFrom("stall_1", who, []byte("{}"))
	require.NoError(t, err)
	s, _, err := task.First(at)
	require.NoError(t, err)
	s, out := m.Step(s, machine.Input{Proposal: show.With(purchase{"lamp"}).BasedOn(s.Version), Principal: who, Evidence: counted(s, "lamp", 3), Now: at})
	require.Equal(t, machine.Committed, out.Kind)
	require.Len(t, s.Offers, 1)
	require.Zero(t, s.Facts.Len(), "nothing volatile is kept")

	_, out = m.Step(s, machine.Input{Evidence: counted(s, "lamp", 3), Now: at})
	require.Equal(t, machine.Unchanged, out.Kind, "the same value is no news")
	_, out = m.Step(s, machine.Input{Evidence: counted(s, "vase", 1), Now: at})
	require.Equal(t, machine.CodeOtherSubject, out.Code(), "no offer is about a vase")

	next, out := m.Step(s, machine.Input{Evidence: counted(s, "lamp", 2), Now: at})
	require.Equal(t, machine.Committed, out.Kind)
	require.Empty(t, next.Offers)
	require.Zero(t, next.Facts.Len())
	require.Len(t, out.Entry().Voided, 1)
	require.Equal(t, "value_changed", out.Entry().Voided[0].Reason)
}
