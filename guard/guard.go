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
		s.fault("a guard is empty")
		return Deny(CodeGuardFault, "the guard is empty")
	case g.parts:
		return g.judge(s)
	}
	return watch(s, g.reads, g.judge)
}

// Watch runs one predicate with its looks recorded. For runtimes; a guard is watched by itself.
func Watch(s *Scene, reads []AnyFact, judge func() Verdict) Verdict {
	return watch(s, reads, func(*Scene) Verdict { return judge() })
}

// watch judges in a frame of its own. A guard that is judged by another guard leaves what it missed, and its faults,
// in the outer frame too: asking somebody else does not make the unknown known.
func watch(s *Scene, reads []AnyFact, judge func(*Scene) Verdict) (v Verdict) {
	s.frames = append(s.frames, frame{reads: reads})
	defer func() {
		if p := recover(); p != nil {
			s.fault(fmt.Sprintf("panicked: %.200v", p))
		}
		n := len(s.frames) - 1
		f := s.frames[n]
		s.frames = s.frames[:n]
		switch {
		case f.fault != "":
			v = Deny(CodeGuardFault, f.fault)
		case len(f.missing) > 0:
			v = Missing(f.missing...)
		}
	}()
	return judge(s)
}

// Grounded runs a function that may look at any fact, and is unknown when it looked at one in vain. For runtimes: what an
// effect or an offer is made of must be known. A panic goes on.
func Grounded(s *Scene, run func()) Verdict {
	s.frames = append(s.frames, frame{anything: true})
	n := len(s.frames) - 1
	defer func() { s.frames = s.frames[:n] }()
	run()
	switch f := &s.frames[n]; {
	case f.fault != "":
		return Deny(CodeGuardFault, f.fault)
	case len(f.missing) > 0:
		return Missing(f.missing...)
	}
	return Allow()
}
