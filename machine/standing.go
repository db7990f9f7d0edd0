package machine

import "github.com/pawlgo/pawl/guard"

// whileReads are the facts that must be known whenever the effect is sent.
func (i *EffectInfo) whileReads() []guard.AnyFact {
	var out []guard.AnyFact
	for _, g := range i.While {
		out = append(out, g.Reads()...)
	}
	return out
}

// Standing judges what must still hold for an intent to be sent now ([SendWhile]), on the snapshot's facts with the evidence of the
// input. can tells which facts can be observed again: those must have been seen since Received. It denies when there is no such
// unsettled intent. Pure, and safe for concurrent use.
func (m *Machine[D]) Standing(s Snapshot[D], key string, in Input, can func(guard.AnyFact) bool) guard.Verdict {
	c, at := m.c, Snapshot[any]{s.Head, s.Data}
	intent, ok := at.Intent(key)
	if !ok || !intent.Unsettled() {
		return guard.Deny(CodeNoIntent, "there is no unsettled intent under this key")
	}
	info := c.effects[intent.Effect]
	if len(info.While) == 0 {
		return guard.Allow()
	}
	subjects, err := findSubjects(info.Args).narrow(c.ground(&at), intent.Args)
	if err != nil {
		return guard.Deny(CodeOtherSubject, err.Error())
	}
	var fresh []guard.AnyFact
	for _, f := range info.whileReads() {
		if can(f) {
			fresh = append(fresh, f)
		}
	}
	facts, _ := at.Facts.With(in.Evidence...)
	scene := guard.NewScene(guard.SceneSpec{Task: at.Task, Now: in.Now, Received: in.Received, Actor: guard.Worker, Facts: facts,
		Subjects: subjects, Fresh: fresh, Effects: &judged{at: &at, settled: key, unsent: in.Unsent}})
	v := guard.Allow()
	for _, g := range info.While {
		v = guard.Both(v, g.Judge(scene))
	}
	return v
}
