package resume

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/pawlgo/pawl/guard"
	"github.com/pawlgo/pawl/machine"
)

const codeNotObserved = "not_observed" // an observer gave nothing that could be used

// round is one round of questions, asked side by side. Whoever waits for it is woken once, by the last answer.
type round struct {
	c      *Controller
	accept guard.Acceptance // but for its Now, which is when an answer came

	mu       sync.Mutex
	answers  []answer
	open     int
	complete chan struct{}
}

// answer is what became of one question.
type answer struct {
	key      guard.Key
	came     bool
	evidence guard.Evidence
	err      error
}

// pull asks the observers of the facts, side by side, under one deadline. What cannot be had stays unknown, and is told as a
// finding in fixed words; the cause goes to Config.Problem.
func (c *Controller) pull(ctx context.Context, l loaded, who guard.Principal, keys []guard.Key) ([]guard.Evidence, []machine.Finding) {
	now, err := c.now(ctx)
	if err != nil {
		return nil, []machine.Finding{{Code: codeNotObserved, Text: "the store's clock did not answer"}}
	}
	r := &round{c: c, accept: c.acceptance(l, now), answers: make([]answer, 0, len(keys)), complete: make(chan struct{})}
	for _, k := range keys {
		if _, ok := c.observers[k.Fact]; ok {
			r.answers = append(r.answers, answer{key: k})
		}
	}
	if r.open = len(r.answers); r.open == 0 {
		return nil, nil
	}
	ctx, cancel := context.WithTimeout(ctx, c.cfg.ObserveWithin)
	defer cancel()
	q := guard.Query{Task: l.snap.Task, Principal: who, BasedOn: l.snap.Version, Now: now}
	for i := range r.open {
		go r.ask(ctx, i, q)
	}
	select {
	case <-r.complete:
	case <-ctx.Done():
	}
	return c.gather(ctx, l, r.taken())
}

// ask puts one question and keeps the answer, if anybody still waits for it.
func (r *round) ask(ctx context.Context, i int, q guard.Query) {
	key := r.answers[i].key // written before any question was asked
	q.Fact, q.Subject = key.Fact, key.Subject
	evidence, err := r.observe(ctx, q)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.answers[i] = answer{key, true, evidence, err}
	if r.open--; r.open == 0 {
		close(r.complete)
	}
}

func (r *round) observe(ctx context.Context, q guard.Query) (e guard.Evidence, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("observer of %s panicked: %v", guard.Key{Fact: q.Fact, Subject: q.Subject}, p)
		}
	}()
	observer := r.c.observers[q.Fact]
	select {
	case observer.busy <- struct{}{}:
		defer func() { <-observer.busy }()
	case <-ctx.Done():
		return e, ctx.Err() // those that hang do not pile up
	}
	o, err := observer.ask(ctx, q)
	if err != nil {
		return e, err
	}
	accept := r.accept
	if accept.Now, err = r.c.now(ctx); err != nil {
		return e, err
	}
	e, err = guard.Verify(o, accept)
	return e.Pulled(), err
}

// taken are the answers as they stand now: one that comes later changes nothing any more.
func (r *round) taken() []answer {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.open == 0 {
		return r.answers
	}
	return slices.Clone(r.answers)
}

func (c *Controller) gather(ctx context.Context, l loaded, answers []answer) ([]guard.Evidence, []machine.Finding) {
	out := make([]guard.Evidence, 0, len(answers))
	var failed []machine.Finding
	for _, a := range answers {
		switch {
		case (!a.came || a.err != nil) && errors.Is(ctx.Err(), context.Canceled): // whoever asked has gone: no fault of the source
			failed = append(failed, machine.Finding{Code: codeNotObserved, Text: a.key.Fact + ": nobody waited for its source"})
		case !a.came:
			c.tellSilence(ctx, l, a.key.Fact, nil)
			failed = append(failed, machine.Finding{Code: codeNotObserved, Text: a.key.Fact + ": its source did not answer in time"})
		case a.err != nil:
			c.tellSilence(ctx, l, a.key.Fact, a.err)
			c.cfg.Problem(fmt.Errorf("task %s: observe %s: %w", l.snap.Task, a.key, a.err))
			failed = append(failed, machine.Finding{Code: codeNotObserved, Text: a.key.Fact + ": " + inWords(a.err)})
		default:
			out = append(out, a.evidence)
		}
	}
	slices.SortFunc(out, func(a, b guard.Evidence) int { return compareKeys(a.Entry().Key, b.Entry().Key) })
	return out, failed
}
