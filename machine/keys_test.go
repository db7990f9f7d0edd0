package machine_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlgo/pawl/guard"
	"github.com/pawlgo/pawl/machine"
)

// TestKeysAreInTheDefinition: how long a provider honours a key decides what is sent twice, so a change of it is a change of the
// definition; to spell out the default is none.
func TestKeysAreInTheDefinition(t *testing.T) {
	type none struct{}
	build := func(opts ...machine.EffectOption[none, string]) *machine.Machine[none] {
		receipt := guard.NewFact[string]("receipt", guard.From("bank"), guard.About(machine.EffectKind), guard.Lasting())
		pay := machine.NewEffect("pay", receipt, opts...)
		b := machine.New[none]("payer", "asked")
		b.Final("done")
		machine.On(b, machine.NewEvent[machine.None]("go")).From("asked").To("paying").By(guard.User).
			Then(machine.Emit(pay, func(guard.Case[none, machine.None]) none { return none{} }))
		machine.On(b, pay.Confirmed()).From("paying").To("done")
		machine.On(b, pay.Failed()).From("paying").To("done")
		return b.MustBuild()
	}
	plain := build()
	same := build(machine.KeysKept[none, string](machine.DefaultKeyRetention))
	require.Equal(t, plain.Digest(), same.Digest())
	for keys, m := range map[string]*machine.Machine[none]{
		machine.NoKeys: build(machine.TriedOnce[none, string]()), "1h0m0s": build(machine.KeysKept[none, string](time.Hour)),
	} {
		require.Equal(t, keys, m.Describe().Effects[0].Keys)
		require.NotEqual(t, plain.Digest(), m.Digest())
	}
}
