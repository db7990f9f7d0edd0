package resume

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/pawlgo/pawl/store"
)

// MaxUnserved is how many tasks of each machine an [UnservedError] names.
const MaxUnserved = 10

// UnservedError says that tasks which have not ended are of machines, or of versions of them, that this controller does not serve. It wraps
// [ErrMachine].
type UnservedError struct {
	Machines map[string]Unserved // by name
}

// Unserved is what a controller cannot read of one machine.
type Unserved struct {
	Tasks []string // the first MaxUnserved, in the order of the store
	Count int      // of all
	Cause error    // of the first: which definition it is of
}

// Error names machines and tasks, and says what to do.
func (e *UnservedError) Error() string {
	lines := make([]string, 0, len(e.Machines))
	for _, name := range slices.Sorted(maps.Keys(e.Machines)) {
		u := e.Machines[name]
		more := ""
		if u.Count > len(u.Tasks) {
			more = fmt.Sprintf(" and %d more", u.Count-len(u.Tasks))
		}
		lines = append(lines, fmt.Sprintf("machine %s, %s%s: %v", name, strings.Join(u.Tasks, ", "), more, u.Cause))
	}
	return "tasks that have not ended cannot be read here, and nothing tells what is open in them: release with a controller that has the machines of " +
		"all such tasks in Config.Machines, in the versions they are of; or first erase those that nobody needs any more (store.Keeper); " + strings.Join(lines, "; ")
}

// Unwrap is ErrMachine.
func (e *UnservedError) Unwrap() error { return ErrMachine }

func (e *UnservedError) add(row store.Row, cause error) {
	if e.Machines == nil {
		e.Machines = map[string]Unserved{}
	}
	u := e.Machines[row.Meta.Machine]
	if u.Count++; u.Cause == nil {
		u.Cause = cause
	}
	if len(u.Tasks) < MaxUnserved {
		u.Tasks = append(u.Tasks, row.Task)
	}
	e.Machines[row.Meta.Machine] = u
}

func (e *UnservedError) orNil() error {
	if len(e.Machines) == 0 {
		return nil
	}
	return e
}
