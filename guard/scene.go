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
	Effects   Effects   // nil when there are none
}

// Effects tells how it stands with the intents of a task.
type Effects interface {
	// Unsettled is the number of intents of an effect that have no outcome yet.
	Unsettled(effect string) int
	// MaySent is how many of them may have been sent: all of which nobody knows better.
	MaySent(effect string) int
}

// Scene is what every guard may look at. It records what a guard looked at and what it did not find. A Scene
// belongs to one step: not safe for concurrent use.
type Scene struct {
	spec   SceneSpec
	frames []frame  // the guards that are being judged, the innermost last
	used   []*Entry // of the facts, which nobody changes

	frameSpace [2]frame // where frames and used begin: most scenes need no more
	usedSpace  [6]*Entry
}

// Undeclared ends the text of a verdict that a guard is at fault by because it looked at a fact that it had not declared.
const Undeclared = ", which it does not declare"

// frame is one guard's looks.
type frame struct {
	reads    []AnyFact
	anything bool // it may look at facts that it did not declare
	missing  []Key
	fault    string
}

// declares tells whether the guard said that it may look at the fact.
func (f *frame) declares(info *FactInfo) bool {
	return f.anything || slices.ContainsFunc(f.reads, func(r AnyFact) bool { return r.Info() == info })
}

// NewScene makes a scene. Without Received, Fresh counts from Now.
func NewScene(s SceneSpec) *Scene {
	n := &Scene{}
	n.Reset(s)
	return n
}

// Reset makes a new scene of this one. Nobody may hold on to the old one.
func (s *Scene) Reset(spec SceneSpec) {
	if spec.Received.IsZero() {
		spec.Received = spec.Now
	}
	s.spec, s.frames, s.used = spec, s.frameSpace[:0], s.usedSpace[:0]
}

// Now is the instant that freshness is judged at.
func (s *Scene) Now() time.Time { return s.spec.Now }

// Task is the task's id.
func (s *Scene) Task() string { return s.spec.Task }

// Actor says what kind of party proposes.
func (s *Scene) Actor() Actor { return s.spec.Actor }

// Principal is who is signed in.
func (s *Scene) Principal() Principal { return s.spec.Principal }

// Facts are what is recorded, whatever its age. Not for guards: one that calls it is at fault, since it would believe
// what is stale.
func (s *Scene) Facts() Facts {
	s.fault("looks at recorded facts, whatever their age; a guard looks with Get")
	return s.spec.Facts
}

// Unsettled is the number of intents of an effect that have no outcome yet.
func (s *Scene) Unsettled(effect string) int {
	if s.spec.Effects == nil {
		return 0
	}
	return s.spec.Effects.Unsettled(effect)
}

// MaySent is the number of intents of an effect that have no outcome yet and may have been sent.
func (s *Scene) MaySent(effect string) int {
	if s.spec.Effects == nil {
		return 0
	}
	return s.spec.Effects.MaySent(effect)
}

// Subjects are the ids of a kind that this proposal is about; of "" the task itself.
func (s *Scene) Subjects(kind string) []string {
	if kind == "" {
		return []string{s.spec.Task}
	}
	return s.spec.Subjects[kind]
}

// Used are the facts that guards looked at and found, each once: the ground that a commit stands on. Read them only.
func (s *Scene) Used() []*Entry { return s.used }

// Reading is a fact as a reader sees it: the recorded entry and its status now. Views and reports use it. Inside a
// guard it counts as a look, like Get. The zero Fact is Unknown.
func (s *Scene) Reading(f AnyFact) (Entry, Status) {
	info := f.Info()
	if len(s.frames) > 0 {
		s.look(info, f.Subject())
	}
	if info == nil {
		return Entry{}, Unknown
	}
	k, ok := s.key(info, f.Subject())
	if !ok {
		return Entry{Key: k}, Unknown
	}
	e, status := s.read(info, k)
	if e == nil {
		return Entry{Key: k}, status
	}
	return *e, status
}

// Record is what is recorded under a key, whatever its age, and counts as used. For runtimes: receipts and replies. A
// guard that calls it is at fault.
func (s *Scene) Record(k Key) (Entry, bool) {
	s.fault("looks at a record, whatever its age; a guard looks with Get")
	e := s.spec.Facts.entry(k)
	if e == nil || e.Disputed {
		return Entry{Key: k}, false
	}
	s.use(e)
	return *e, true
}

// read is the recorded entry, nil when there is none that counts, and its status now.
func (s *Scene) read(info *FactInfo, k Key) (*Entry, Status) {
	e := s.spec.Facts.entry(k)
	switch {
	case e == nil || e.Disputed:
		return nil, Unknown
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

func (s *Scene) look(info *FactInfo, subject string) (*Entry, bool) {
	if info == nil {
		s.fault("looks at the zero Fact")
		return nil, false
	}
	for i := range s.frames {
		if f := &s.frames[i]; !f.declares(info) {
			f.blame("looks at " + info.Name + Undeclared)
		}
	}
	k, ok := s.key(info, subject)
	if !ok {
		s.fault(fmt.Sprintf("%s: this proposal names %d of kind %q; say which with Of", info.Name, len(s.Subjects(info.About)), info.About))
		return nil, false
	}
	e, status := s.read(info, k)
	if status != Verified {
		for i := range s.frames {
			if f := &s.frames[i]; !slices.Contains(f.missing, k) {
				f.missing = append(f.missing, k)
			}
		}
		return e, false
	}
	s.use(e)
	return e, true
}

func (s *Scene) use(e *Entry) {
	if !slices.Contains(s.used, e) {
		s.used = append(s.used, e)
	}
}

// fault blames every guard that is being judged: one that is at fault spoils those that asked it.
func (s *Scene) fault(text string) {
	for i := range s.frames {
		s.frames[i].blame(text)
	}
}

func (f *frame) blame(text string) {
	if f.fault == "" {
		f.fault = text
	}
}

// Case is a Scene with the task's data and the proposal's payload. Data shares memory with the committed
// snapshot: read it only.
type Case[D, P any] struct {
	*Scene
	Data    D
	Payload P
}
