package mcp

import (
	"slices"
	"sync"

	projection "github.com/pawlgo/pawl/context"
)

// views are what each agent was shown last, since an answer belongs to the view that it answers (law 10) and a connection
// without a session remembers nothing. Safe for concurrent use.
type views struct {
	mu sync.Mutex
	m  map[string][]projection.View // by principal, newest last
}

func newViews() *views { return &views{m: map[string][]projection.View{}} }

// keep remembers a view in place of an older one of the same task, version and decision.
func (v *views) keep(principal string, view projection.View) {
	v.mu.Lock()
	defer v.mu.Unlock()
	kept := slices.DeleteFunc(v.m[principal], func(o projection.View) bool {
		return shows(o, view.Task(), view.Version(), view.Decision())
	})
	if len(kept) >= MaxViews {
		kept = slices.Delete(kept, 0, len(kept)-MaxViews+1)
	}
	v.m[principal] = append(kept, view)
}

// find is what the agent was shown of a task at a version for a decision.
func (v *views) find(principal, task string, version uint64, decision string) (projection.View, bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	for _, o := range v.m[principal] {
		if shows(o, task, version, decision) {
			return o, true
		}
	}
	return projection.View{}, false
}

func shows(v projection.View, task string, version uint64, decision string) bool {
	return v.Task() == task && v.Version() == version && v.Decision() == decision
}
