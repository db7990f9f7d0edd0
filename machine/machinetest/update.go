package machinetest

import (
	"flag"
	"testing"
)

// The flag -update rewrites tables. Many test packages have a flag of that name for golden files, and a flag can be declared only
// once, so ours is declared as late as can be: while flags are parsed, and only when nobody has declared one by then. Whoever
// declared it, tables are rewritten when it is true.
const updateFlag = "update"

// firstFlag is what go test sets before any flag of the user's.
const firstFlag = "test.paniconexit0"

func init() {
	testing.Init()
	if f := flag.Lookup(firstFlag); f != nil {
		f.Value = declaring{f.Value}
	}
}

// declaring is go test's first flag, which declares ours when it is set.
type declaring struct{ flag.Value }

// Set sets the flag, and declares -update unless there is one.
func (d declaring) Set(value string) error {
	if flag.Lookup(updateFlag) == nil {
		flag.Bool(updateFlag, false, "rewrite the expectations of transition tables, and align their columns")
	}
	return d.Value.Set(value)
}

// IsBoolFlag says that the flag needs no value.
func (d declaring) IsBoolFlag() bool { return true }

// updating tells whether the test was run with -update.
func updating() bool {
	f := flag.Lookup(updateFlag)
	return f != nil && f.Value.String() == "true"
}
