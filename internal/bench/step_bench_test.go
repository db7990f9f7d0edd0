package main

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlgo/pawl/examples/refund/refund"
	"github.com/pawlgo/pawl/guard"
	"github.com/pawlgo/pawl/machine"
)

// BenchmarkStep is the step that step/refund measures: the edge of the refund desk that pays.
func BenchmarkStep(b *testing.B) {
	s, in, err := confirmation()
	require.NoError(b, err)
	b.ReportAllocs()
	for b.Loop() {
		if _, out := refund.Machine.Step(s, in); out.Err() != nil {
			b.Fatal(out.Err())
		}
	}
}

// BenchmarkPermits says what may be done in the state that the same step starts from, a day after its facts were observed.
func BenchmarkPermits(b *testing.B) {
	s, in, err := confirmation()
	require.NoError(b, err)
	in = machine.Input{Principal: guard.Principal{ID: s.Owner}, Now: in.Now, Received: in.Received}
	b.ReportAllocs()
	for b.Loop() {
		if len(refund.Machine.Permits(s, in)) == 0 {
			b.Fatal("nothing is permitted")
		}
	}
}
