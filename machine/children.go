package machine

import "github.com/pawlgo/pawl/guard"

// ControllerAuthority is the source of what only the controller can know: it counts what stands in its own store. Whoever opens
// a controller makes the handle.
const ControllerAuthority = "controller"

// OpenChildren is how many children of the task have not ended. It is counted for the commit that looks at it.
var OpenChildren = guard.NewFact[int64]("open_children", guard.From(ControllerAuthority), guard.Volatile())

// ChildrenClosed holds when no child of the task is open. Require it on the edges that end a parent: nothing is complete while
// somebody still works for it (field case B115). Uncounted children are unknown, and block.
func ChildrenClosed() guard.Guard {
	return guard.New("children_closed", func(s *guard.Scene) guard.Verdict {
		if n, _ := OpenChildren.Get(s); n > 0 {
			return guard.Deny("open_children", "children of the task are still at work").With("open", n)
		}
		return guard.Allow()
	}, OpenChildren)
}
