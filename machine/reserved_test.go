package machine_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlgo/pawl/guard"
	"github.com/pawlgo/pawl/machine"
)

// TestMessagesAreReserved: no hold may take the names under which messages are used up.
func TestMessagesAreReserved(t *testing.T) {
	require.True(t, strings.HasPrefix(guard.MessageResource, machine.ReservedResource))
}
