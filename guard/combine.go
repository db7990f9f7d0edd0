package guard

// All holds when each of the guards holds, by Kleene logic; see [Both]. Of none it allows.
func All(guards ...Guard) Guard { return combine("all", guards, Both) }

// Any holds when one of the guards holds, by Kleene logic; see [Either]. Of none it denies.
func Any(guards ...Guard) Guard { return combine("any", guards, Either) }

// Not turns allow and deny around. It leaves unknown and ask alone, and what denied only because a guard is at fault
// or had nothing to judge.
func Not(g Guard) Guard {
	name, held := "not_"+g.name, Deny("is_"+g.name, g.name+" holds")
	return Guard{name: name, revision: g.revision, reads: g.reads, parts: true, judge: func(s *Scene) Verdict {
		switch v := g.Judge(s); {
		case v.Allowed():
			return held
		case v.Denied() && !v.stuck():
			return Allow()
		default:
			return v
		}
	}}
}

func combine(name string, guards []Guard, join func(...Verdict) Verdict) Guard {
	c := Guard{name: name, parts: true}
	for _, g := range guards {
		c.name += "_" + g.name
		c.revision += g.revision
		c.reads = append(c.reads, g.reads...)
	}
	c.judge = func(s *Scene) Verdict {
		verdicts := make([]Verdict, len(guards))
		for i, g := range guards {
			verdicts[i] = g.Judge(s)
		}
		return join(verdicts...)
	}
	return c
}
