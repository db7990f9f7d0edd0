package retail_test

import (
	"testing"

	"github.com/pawlgo/pawl/examples/retail/retail"
	"github.com/pawlgo/pawl/machine/machinetest"
)

func TestTables(t *testing.T) { machinetest.RunTables(t, retail.Machine, "testdata/*.txtar") }
