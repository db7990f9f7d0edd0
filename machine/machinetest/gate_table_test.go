package machinetest

import "testing"

func TestGate(t *testing.T) { RunTables(t, newGate(), "testdata/gate.txtar") }
