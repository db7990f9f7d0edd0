package machinetest

import (
	"flag"
	"testing"

	"github.com/stretchr/testify/require"
)

// own is a flag as a package of a user's may have it. It is in nobody's way.
var own = flag.Bool("update", false, "rewrite the golden files of this package")

// TestUpdateFlag: tables follow -update, whoever declared it; and where nobody has, go test's first flag declares it.
func TestUpdateFlag(t *testing.T) {
	require.Equal(t, *own, updating())
	was := *own
	require.NoError(t, flag.Set("update", "true"))
	require.True(t, updating())
	require.NoError(t, flag.Set("update", "false"))
	require.False(t, updating())
	*own = was

	first := flag.Lookup(firstFlag)
	require.NotNil(t, first, "go test has no such flag any more: -update is not declared by itself")
	require.IsType(t, declaring{}, first.Value)
	all := flag.CommandLine
	defer func() { flag.CommandLine = all }()
	flag.CommandLine = flag.NewFlagSet("nobody's", flag.ContinueOnError)
	require.False(t, updating())
	flag.CommandLine.Var(declaring{first.Value}, firstFlag, "")
	require.NoError(t, flag.CommandLine.Parse([]string{"-" + firstFlag, "-update"}))
	require.True(t, updating())
}
