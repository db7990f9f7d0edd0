package guard

// Holds is a predicate over one fact, with the reason for when it does not hold; its code is then not_NAME. When the proposal
// is about several subjects it must hold for each; when it is about none it denies (names_nothing).
func Holds[T any](name, text string, f Fact[T], ok func(T) bool) Guard {
	return holds(name, "not_"+name, text, f, ok)
}

func holds[T any](name, code, text string, f Fact[T], ok func(T) bool) Guard {
	return perSubject(name, f, func(_ *Scene, v T) Verdict {
		if ok(v) {
			return Allow()
		}
		return Deny(code, text)
	})
}

// perSubject judges the fact for each subject that the proposal names.
func perSubject[T any](name string, f Fact[T], judge func(*Scene, T) Verdict) Guard {
	one := func(s *Scene, f Fact[T]) Verdict {
		v, ok := f.Get(s)
		if !ok {
			return Verdict{} // Watch makes it unknown
		}
		return judge(s, v)
	}
	return New(name, func(s *Scene) Verdict {
		if f.subject != "" || f.info.About == "" {
			return one(s, f)
		}
		ids := s.Subjects(f.info.About)
		switch len(ids) {
		case 0:
			return Deny(CodeNamesNothing, "the proposal names no "+f.info.About)
		case 1:
			return one(s, f.Of(ids[0]))
		}
		verdicts := make([]Verdict, len(ids))
		for i, id := range ids {
			verdicts[i] = one(s, f.Of(id))
		}
		return Both(verdicts...)
	}, f)
}

// True holds when the fact is known to be true.
func True(f Fact[bool]) Guard {
	return holds(named(f), named(f)+"_false", named(f)+" is false", f, func(b bool) bool { return b })
}

// False holds when the fact is known to be false.
func False(f Fact[bool]) Guard {
	return holds("not_"+named(f), named(f)+"_true", named(f)+" is true", f, func(b bool) bool { return !b })
}

// Is holds when the fact is known to be one of the values.
func Is[T comparable](f Fact[T], values ...T) Guard {
	return holds(named(f), named(f)+"_differs", named(f)+" is something else", f, func(v T) bool {
		for _, w := range values {
			if v == w {
				return true
			}
		}
		return false
	})
}

// Known holds when the fact is known and fresh enough, whatever it is.
func Known[T any](f Fact[T]) Guard {
	return holds(named(f)+"_known", named(f)+"_unknown", "", f, func(T) bool { return true })
}

// Owner holds when the fact names the signed-in principal.
func Owner(f Fact[string]) Guard {
	return perSubject("owner", f, func(s *Scene, id string) Verdict {
		if id != "" && id == s.Principal().ID {
			return Allow()
		}
		return Deny("not_owner", "it belongs to somebody else")
	})
}

func named[T any](f Fact[T]) string {
	if f.info == nil {
		return "zero_fact"
	}
	return f.info.Name
}
