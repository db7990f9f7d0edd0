package guard

import "fmt"

// Guard is a named predicate over facts, clock and principal. It knows no data and no payload: that is why it can
// be judged before there is a payload, to say what is permitted now. Predicates that need them go to an edge's
// Check. The zero Guard blocks, and Build refuses it. Safe for concurrent use.
type Guard struct {
	name     string
	revision int
	reads    []AnyFact
	judge    func(*Scene) Verdict
	parts    bool // made of guards that watch their own looks
}

// New makes a guard. judge must be pure, and reads must list each fact that it looks at.
func New(name string, judge func(*Scene) Verdict, reads ...AnyFact) Guard {
	return Guard{name: name, judge: judge, reads: reads}
}

// Revised is the guard with a revision: raise it when judge changes its meaning, so that the definition's digest
// changes with it.
func (g Guard) Revised(n int) Guard { g.revision = n; return g }

// Name is stored in the history and printed in refusals.
func (g Guard) Name() string { return g.name }

// Revision is what Revised set.
func (g Guard) Revision() int { return g.revision }

// Reads are the facts that it may look at.
func (g Guard) Reads() []AnyFact { return g.reads }

// Judge runs the guard. Whatever it says after looking at something unknown or stale, the verdict is unknown: turning a
// fact into unknown can only block (law 4). A panic, and a look that was not declared, deny.
func (g Guard) Judge(s *Scene) Verdict {
	switch {
	case g.judge == nil:
		return Deny(CodeGuardFault, "the guard is empty")
	case g.parts:
		return g.judge(s)
	}
	return Watch(s, g.reads, func() Verdict { return g.judge(s) })
}

// Watch runs one predicate with its looks recorded. For runtimes; a guard is watched by itself.
func Watch(s *Scene, reads []AnyFact, judge func() Verdict) (v Verdict) {
	f := frame{reads: reads}
	outer := s.frame
	s.frame = &f
	defer func() {
		s.frame = outer
		if p := recover(); p != nil {
			v = Deny(CodeGuardFault, fmt.Sprintf("panicked: %.200v", p))
		}
	}()
	v = judge()
	switch {
	case f.fault != "":
		return Deny(CodeGuardFault, f.fault)
	case len(f.missing) > 0:
		return Missing(f.missing...)
	}
	return v
}
