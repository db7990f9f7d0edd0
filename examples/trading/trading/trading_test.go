package trading_test

import (
	"testing"

	"github.com/pawlgo/pawl/examples/trading/trading"
	"github.com/pawlgo/pawl/machine/machinetest"
)

func TestTables(t *testing.T) { machinetest.RunTables(t, trading.Machine, "testdata/*.txtar") }
