package guard

import (
	"fmt"
	"slices"
	"time"
)

// SceneSpec is all that a Scene is made of; for runtimes and for tests of guards.
type SceneSpec struct {
	Task      string
	Now       time.Time
	Received  time.Time // when the proposal came in; Fresh counts from here
	Actor     Actor
	Principal Principal
	Facts     Facts
	Subjects  Subjects  // what payload and data are about
	Fresh     []AnyFact // facts that must have been seen since Received
	Unsettled func(effect string) int
}

// Scene is what every guard may look at. It records what a guard looked at and what it did not find. A Scene
// belongs to one step: not safe for concurrent use.
type Scene struct {
	spec  SceneSpec
	frame *frame
	used  []Entry
}

// frame is one guard's looks.
type frame struct {
	reads   []AnyFact
	missing []Key
	fault   string
}

// NewScene makes a scene.
func NewScene(s SceneSpec) *Scene { return &Scene{spec: s} }

// Now is the instant that freshness is judged at.
func (s *Scene) Now() time.Time { return s.spec.Now }

// Task is the task's id.
func (s *Scene) Task() string { return s.spec.Task }

// Actor says what kind of party proposes.
func (s *Scene) Actor() Actor { return s.spec.Actor }

// Principal is who is signed in.
func (s *Scene) Principal() Principal { return s.spec.Principal }

// Facts are what is recorded, whatever its age.
func (s *Scene) Facts() Facts { return s.spec.Facts }

// Unsettled is the number of intents of an effect that have no outcome yet.
func (s *Scene) Unsettled(effect string) int {
	if s.spec.Unsettled == nil {
		return 0
	}
	return s.spec.Unsettled(effect)
}

// Subjects are the ids of a kind that this proposal is about; of "" the task itself.
func (s *Scene) Subjects(kind string) []string {
	if kind == "" {
		return []string{s.spec.Task}
	}
	return s.spec.Subjects[kind]
}

// Used are the facts that guards looked at and found, each once: the ground that a commit stands on.
func (s *Scene) Used() []Entry { return s.used }

// Reading is a fact as a reader sees it: the recorded entry and its status now. Views and reports use it.
func (s *Scene) Reading(f AnyFact) (Entry, Status) {
	info := f.Info()
	k, ok := s.key(info, f.Subject())
	if !ok {
		return Entry{Key: k}, Unknown
	}
	return s.read(info, k)
}

// Record is what is recorded under a key, whatever its age, and counts as used. For runtimes: receipts and replies.
func (s *Scene) Record(k Key) (Entry, bool) {
	e, ok := s.spec.Facts.Entry(k)
	if !ok || e.Disputed {
		return e, false
	}
	s.use(e)
	return e, true
}

func (s *Scene) read(info *FactInfo, k Key) (Entry, Status) {
	e, ok := s.spec.Facts.Entry(k)
	switch {
	case !ok || e.Disputed:
		return Entry{Key: k}, Unknown
	case info.MaxAge > 0 && s.spec.Now.Sub(e.At) > info.MaxAge:
		return e, Stale
	case (info.Volatile || s.mustBeFresh(info)) && e.Seen.Before(s.spec.Received):
		return e, Stale
	}
	return e, Verified
}

func (s *Scene) mustBeFresh(info *FactInfo) bool {
	for _, f := range s.spec.Fresh {
		if f.Info() == info {
			return true
		}
	}
	return false
}

func (s *Scene) key(info *FactInfo, subject string) (Key, bool) {
	if subject == "" {
		if info.About == "" {
			return Key{info.Name, s.spec.Task}, true
		}
		ids := s.spec.Subjects[info.About]
		if len(ids) != 1 {
			return Key{Fact: info.Name}, false
		}
		subject = ids[0]
	}
	return Key{info.Name, subject}, true
}

func (s *Scene) look(info *FactInfo, subject string) (Entry, bool) {
	if info == nil {
		s.fault("looks at the zero Fact")
		return Entry{}, false
	}
	if s.frame != nil && !slices.ContainsFunc(s.frame.reads, func(f AnyFact) bool { return f.Info() == info }) {
		s.fault("looks at " + info.Name + " without declaring it")
		return Entry{}, false
	}
	k, ok := s.key(info, subject)
	if !ok {
		s.fault(fmt.Sprintf("%s: this proposal names %d of kind %q; say which with Of", info.Name, len(s.Subjects(info.About)), info.About))
		return Entry{}, false
	}
	e, status := s.read(info, k)
	if status != Verified {
		if s.frame != nil && !slices.Contains(s.frame.missing, k) {
			s.frame.missing = append(s.frame.missing, k)
		}
		return e, false
	}
	s.use(e)
	return e, true
}

func (s *Scene) use(e Entry) {
	for i := range s.used {
		if s.used[i].Key == e.Key {
			return
		}
	}
	s.used = append(s.used, e)
}

func (s *Scene) fault(text string) {
	if s.frame != nil && s.frame.fault == "" {
		s.frame.fault = text
	}
}

// Case is a Scene with the task's data and the proposal's payload. Data shares memory with the committed
// snapshot: read it only.
type Case[D, P any] struct {
	*Scene
	Data    D
	Payload P
}
