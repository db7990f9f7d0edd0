package resume

import (
	"errors"
	"fmt"
	"strings"
)

// ErrUncounted says that what imported tasks took of shared resources is not all known, so that it cannot be counted here.
var ErrUncounted = errors.New("what imported tasks took of shared resources is not all known")

// Uncounted is what an imported task does not tell of: operations that were pruned before it was exported.
type Uncounted struct {
	Task       string
	Effect     string
	Operations uint64   // how many of the effect
	Resources  []string // what the operations that are known took from; empty when they took nothing, or none is known
}

// UncountedError names the imported tasks that keep a store in quarantine, and what is missing of each. It wraps [ErrUncounted].
type UncountedError struct{ Missing []Uncounted }

// Error names tasks, effects and resources, and says what to do.
func (e *UncountedError) Error() string {
	lines := make([]string, len(e.Missing))
	for i, m := range e.Missing {
		of := "of which resources is not known"
		if len(m.Resources) > 0 {
			of = "of " + strings.Join(m.Resources, ", ") + " as far as is known"
		}
		lines[i] = fmt.Sprintf("task %s, %d operations of %s that were pruned, %s", m.Task, m.Operations, m.Effect, of)
	}
	return ErrUncounted.Error() + ", and could be promised twice: import the tasks from a store that still has their whole history, or say by " +
		"Controller.CountImported what these operations used up; " + strings.Join(lines, "; ")
}

// Unwrap is ErrUncounted.
func (e *UncountedError) Unwrap() error { return ErrUncounted }

func (e *UncountedError) orNil() error {
	if len(e.Missing) == 0 {
		return nil
	}
	return e
}
