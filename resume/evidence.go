package resume

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/pawlgo/pawl/guard"
	"github.com/pawlgo/pawl/machine"
)

// verify turns observations into evidence, or says which is none.
func (c *Controller) verify(l loaded, observations []guard.Observation, now time.Time) ([]guard.Evidence, error) {
	out := make([]guard.Evidence, 0, len(observations))
	for _, o := range observations {
		e, err := guard.Verify(o, c.acceptance(l, now))
		if err != nil {
			return nil, err
		}
		out = append(out, e)
	}
	return out, nil
}

func (c *Controller) acceptance(l loaded, now time.Time) guard.Acceptance {
	return guard.Acceptance{Fact: l.m.FactNamed, Trusts: func(a *guard.Authority) bool { return c.trusted[a] },
		Now: now, BasedOn: l.snap.Version}
}

// answer is what became of one question.
type answer struct {
	key guard.Key
	obs guard.Observation
	err error
}

// pull asks the observers of the facts, side by side, under one deadline. What cannot be had stays unknown, and is told as a
// finding in fixed words; the cause goes to Config.Problem.
func (c *Controller) pull(ctx context.Context, l loaded, who guard.Principal, keys []guard.Key) ([]guard.Evidence, []machine.Finding) {
	ctx, cancel := context.WithTimeout(ctx, c.cfg.ObserveWithin)
	defer cancel()
	now, err := c.now(ctx)
	if err != nil {
		return nil, []machine.Finding{{Code: codeNotObserved, Text: "the store's clock did not answer"}}
	}
	answers := make(chan answer, len(keys)) // room for all: an observer that hangs never blocks on it
	var asked []guard.Key
	for _, k := range keys {
		if o, ok := c.observers[k.Fact]; ok {
			asked = append(asked, k)
			go ask(ctx, o, guard.Query{Fact: k.Fact, Subject: k.Subject, Task: l.snap.Task, Principal: who,
				BasedOn: l.snap.Version, Now: now}, answers)
		}
	}
	return c.gather(ctx, l, asked, answers)
}

const codeNotObserved = "not_observed" // an observer gave nothing that could be used

func ask(ctx context.Context, o Observer, q guard.Query, answers chan<- answer) {
	a := answer{key: guard.Key{Fact: q.Fact, Subject: q.Subject}}
	defer func() {
		if p := recover(); p != nil {
			a.err = fmt.Errorf("observer of %s panicked: %v", a.key, p)
		}
		answers <- a
	}()
	a.obs, a.err = o.ask(ctx, q)
}

func (c *Controller) gather(ctx context.Context, l loaded, asked []guard.Key, answers <-chan answer) ([]guard.Evidence, []machine.Finding) {
	var out []guard.Evidence
	var failed []machine.Finding
	for len(asked) > 0 {
		select {
		case <-ctx.Done():
			for _, k := range asked {
				failed = append(failed, machine.Finding{Code: codeNotObserved, Text: k.Fact + ": its source did not answer in time"})
			}
			return out, failed
		case a := <-answers:
			asked = slices.DeleteFunc(asked, func(k guard.Key) bool { return k == a.key })
			e, err := c.accept(ctx, l, a)
			if err != nil {
				c.cfg.Problem(fmt.Errorf("task %s: observe %s: %w", l.snap.Task, a.key, err))
				failed = append(failed, machine.Finding{Code: codeNotObserved, Text: a.key.Fact + ": " + inWords(err)})
				continue
			}
			out = append(out, e)
		}
	}
	slices.SortFunc(out, func(a, b guard.Evidence) int { return compareKeys(a.Entry().Key, b.Entry().Key) })
	return out, failed
}

func (c *Controller) accept(ctx context.Context, l loaded, a answer) (guard.Evidence, error) {
	if a.err != nil {
		return guard.Evidence{}, a.err
	}
	now, err := c.now(ctx)
	if err != nil {
		return guard.Evidence{}, err
	}
	e, err := guard.Verify(a.obs, c.acceptance(l, now))
	return e.Pulled(), err
}

// inWords says why nothing came of a question, without what a source may have written into its error.
func inWords(err error) string {
	var evidence *guard.EvidenceError
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return "its source did not answer in time"
	case errors.Is(err, errOtherSubject):
		return "its source answered about something else"
	case errors.As(err, &evidence):
		return "its source's answer is no evidence (" + evidence.Code + ")"
	}
	return "its source failed"
}

func compareKeys(a, b guard.Key) int {
	switch x, y := a.String(), b.String(); {
	case x < y:
		return -1
	case x > y:
		return 1
	}
	return 0
}
