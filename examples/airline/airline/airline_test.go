package airline_test

import (
	"testing"

	"github.com/pawlgo/pawl/examples/airline/airline"
	"github.com/pawlgo/pawl/machine/machinetest"
)

func TestTables(t *testing.T) { machinetest.RunTables(t, airline.Machine, "testdata/*.txtar") }
