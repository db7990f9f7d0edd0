package days

import (
	"fmt"
	"time"

	"github.com/pawlgo/pawl/guard"
	"github.com/pawlgo/pawl/machine"
)

// MaxTasks is how many tasks a run begins.
const MaxTasks = 40

// Run lets the world go on for so many days, and then for as long as it takes to come to rest: the services answer truly, no process
// dies, and nobody begins anything new.
func (w *World) Run(days int) (Result, error) {
	end := w.begun.Add(time.Duration(days) * 24 * time.Hour)
	for w.clock.at.Before(end) {
		w.pass()
		w.result.Steps++
		if err := w.step(); err != nil {
			return w.result, err
		}
	}
	if err := w.rest(); err != nil {
		return w.result, err
	}
	w.result.Days = int(w.clock.at.Sub(w.begun).Hours() / 24)
	return w.result, w.Check()
}

// pass moves the time on: mostly a little, now and then by hours, sometimes back.
func (w *World) pass() {
	switch r := w.rand.IntN(100); {
	case r < 2:
		w.clock.at = w.clock.at.Add(-time.Duration(w.rand.IntN(120)) * time.Second)
	case r < 82:
		w.clock.at = w.clock.at.Add(time.Duration(w.rand.IntN(600)) * time.Second)
	case r < 98:
		w.clock.at = w.clock.at.Add(time.Duration(w.rand.IntN(6*60)) * time.Minute)
	default:
		w.clock.at = w.clock.at.Add(time.Duration(w.rand.IntN(48)) * time.Hour)
	}
	w.service.tick()
}

// step is one thing that happens, at one of the controllers.
func (w *World) step() error {
	if err := w.deliver(); err != nil {
		return err
	}
	i := w.rand.IntN(len(w.ctls))
	switch r := w.rand.IntN(100); {
	case r < 3 && len(w.tasks) < MaxTasks:
		return w.begin(i)
	case r < 35 || len(w.tasks) == 0:
		return w.work(i)
	case r < 60:
		return w.propose(i)
	case r < 80:
		return w.writes(i)
	case r < 85:
		return w.look(i)
	default:
		return w.answers(i)
	}
}

// begin is a customer who wants money back. Some claim the order of another one, or once more what they have claimed already.
func (w *World) begin(i int) error {
	n := len(w.tasks)
	c := &customer{task: fmt.Sprintf("task-%02d", n), who: guard.Principal{ID: fmt.Sprintf("customer-%d", n)}, yes: map[string]bool{},
		claim: claim{Order: fmt.Sprintf("order-%d", n), Account: fmt.Sprintf("account-%d", n%3), Amount: int64(50 + 50*(n%4))}}
	if n > 0 && w.rand.IntN(6) == 0 {
		other := w.tasks[w.rand.IntN(n)]
		if c.Order = other.Order; w.rand.IntN(2) == 0 {
			c.who = other.who
		}
	}
	w.tasks = append(w.tasks, c)
	s, err := w.ctls[i].Start(w.ctx, w.machine.Task(c.task, c.who, c.claim), c.who)
	if err == nil {
		c.held, c.at = s, w.procs[i]
	}
	return w.settle(i, "start "+c.task, nil, machine.Outcome{}, err)
}

// any is one of the customers who came last: the others are mostly done.
func (w *World) any() *customer {
	last := w.tasks[max(0, len(w.tasks)-6):]
	return last[w.rand.IntN(len(last))]
}

func (w *World) work(i int) error {
	return w.settle(i, "work", nil, machine.Outcome{}, w.ctls[i].Work(w.ctx))
}

// propose is the model, at random: on what a fresh session shows, or on what an old one showed long ago.
func (w *World) propose(i int) error {
	c := w.any()
	s := c.held
	if w.rand.IntN(3) > 0 || c.at != w.procs[i] {
		var err error
		if s, err = w.ctls[i].Resume(w.ctx, c.task, c.who); err != nil {
			return w.settle(i, "resume "+c.task, nil, machine.Outcome{}, err)
		}
		c.held, c.at = s, w.procs[i]
	}
	p := []machine.Proposal{
		request.With(machine.None{}), request.With(machine.None{}), confirm.With(agree{c.Order, c.Amount}), confirm.With(agree{c.Order, c.Amount + 1}),
		confirm.With(agree{"order-0", c.Amount}), askAgain.With(machine.None{}), cancel.With(machine.None{}),
	}[w.rand.IntN(7)]
	if p.Event() == cancel.Info().Name && w.rand.IntN(20) > 0 {
		p = request.With(machine.None{})
	}
	base := s.Version()
	out, err := s.Propose(w.ctx, p)
	return w.settle(i, fmt.Sprintf("model proposes %s on %s, version %d", p.Event(), c.task, base), c, out, err)
}

// writes is a customer who writes something about an open offer of theirs; it arrives at some time, perhaps twice.
func (w *World) writes(i int) error {
	c := w.any()
	s, err := w.ctls[i].Resume(w.ctx, c.task, c.who)
	if err != nil || len(s.Offers()) == 0 {
		return w.settle(i, "resume "+c.task, nil, machine.Outcome{}, err)
	}
	offer := s.Offers()[w.rand.IntN(len(s.Offers()))]
	text := []string{"yes", "yes", "yes, please", "no", "what?", "yes but only half", "later"}[w.rand.IntN(7)]
	r := guard.Reply{By: c.who.ID, Text: text, Shown: &guard.Shown{Message: "question/" + offer.ID, At: offer.OpenedAt}}
	switch w.rand.IntN(10) {
	case 0:
		r.By = "somebody-else"
	case 1:
		r.Shown = nil // the channel does not know what it was shown last
	}
	m := message{c: c, obs: said.Observe(w.chat, guard.Observed[guard.Reply]{Value: r, Subject: offer.ID, At: w.clock.now()})}
	if r.By == c.who.ID && r.Shown != nil && guard.Explicit(text) == guard.Yes {
		c.yes[offer.ID] = true
	}
	for range 1 + w.rand.IntN(2) {
		m.at = w.clock.now().Add(time.Duration(w.rand.IntN(120)) * time.Minute)
		w.mail = append(w.mail, m)
	}
	w.note("%s writes %q about %s", c.task, text, offer.ID)
	return nil
}

// answers is the model that reads the customer's message when it is there: it takes it for a yes.
func (w *World) answers(i int) error {
	for n, m := range w.mail {
		if m.at.After(w.clock.now()) {
			continue
		}
		w.mail = append(w.mail[:n], w.mail[n+1:]...)
		s, err := w.ctls[i].Resume(w.ctx, m.c.task, m.c.who)
		if err != nil {
			return w.settle(i, "resume "+m.c.task, nil, machine.Outcome{}, err)
		}
		m.c.held, m.c.at = s, w.procs[i]
		out, err := s.Propose(w.ctx, confirm.With(agree{m.c.Order, m.c.Amount}), m.obs)
		return w.settle(i, "model takes a message for a yes on "+m.c.task, m.c, out, err)
	}
	return nil
}

// look is a person who only looks.
func (w *World) look(i int) error {
	c := w.any()
	s, err := w.ctls[i].Resume(w.ctx, c.task, c.who)
	if err == nil {
		_, err = s.Report(w.ctx)
	}
	return w.settle(i, "look at "+c.task, nil, machine.Outcome{}, err)
}

// deliver brings the webhooks whose time has come, each to the next controller that lives.
func (w *World) deliver() error {
	letters := w.service.letters
	w.service.letters = nil
	for _, l := range letters {
		if l.at.After(w.clock.now()) {
			w.service.letters = append(w.service.letters, l)
			continue
		}
		o := receipt.Observe(w.bank, guard.Observed[slip]{Value: l.slip, Subject: l.key, Ref: l.slip.ID, At: l.said})
		i := w.rand.IntN(len(w.ctls))
		out, err := w.ctls[i].Observe(w.ctx, l.task, o)
		if err := w.settle(i, "webhook about "+l.key, nil, out, err); err != nil {
			return err
		}
	}
	return nil
}

// rest lets everything come to its end.
func (w *World) rest() error {
	w.service.honest = true
	for i, p := range w.procs {
		p.deadly = 0
		if p.dead {
			if err := w.boot(i, 0); err != nil {
				return err
			}
		}
	}
	for range 24 * 10 {
		w.clock.at = w.clock.at.Add(time.Hour)
		w.service.tick()
		if err := w.deliver(); err != nil {
			return err
		}
		for i := range w.ctls {
			if err := w.work(i); err != nil {
				return err
			}
		}
	}
	return nil
}
