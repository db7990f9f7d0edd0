package machine_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlgo/pawl/machine"
)

// That nothing is sent in a state is a part of the definition, and is shown.
func TestNoSendIsDeclared(t *testing.T) {
	b := buildDesk()
	b.NoSend(Paying)
	m := b.MustBuild()
	require.False(t, m.Sends(Paying))
	require.True(t, m.Sends(Asking))
	require.True(t, desk.Sends(Paying))
	d := m.Describe()
	at := slices.IndexFunc(d.States, func(s machine.StateDescription) bool { return s.Name == Paying })
	require.True(t, d.States[at].NoSend)
	require.NotEqual(t, desk.Describe().Digest, d.Digest)
	require.Contains(t, m.Markdown(), "| `paying`, sends nothing |")
}
