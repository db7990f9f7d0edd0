package engine_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlgo/pawl/internal/engine"
)

func TestBareFiresAgainAndAgain(t *testing.T) {
	fire := engine.Bare()
	require.NoError(t, fire())
	require.NoError(t, fire())
}
