package main

import (
	"testing"

	"github.com/pawlgo/pawl/examples/replay/replaytest"
)

func TestProgram(t *testing.T) { replaytest.Program(t, domain, "s2") }
