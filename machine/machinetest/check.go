package machinetest

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/pawlgo/pawl/guard"
	"github.com/pawlgo/pawl/internal/canon"
	"github.com/pawlgo/pawl/machine"
)

// check holds a trial to what every step must keep, whatever its row expects.
func (tb *table) check(t *trial) error {
	s := t.given.at
	before, err := tb.m.Encode(nil, s)
	if err != nil {
		return err
	}
	first, err := tb.bytes(s, t.move)
	if err != nil {
		return err
	}
	after, err := tb.m.Encode(nil, s)
	switch {
	case err != nil:
		return err
	case !bytes.Equal(before, after):
		return fmt.Errorf("Step wrote into the snapshot that it was given: it was\n%s\nand is\n%s", before, after)
	}
	if err := tb.repeats(t, before, first); err != nil {
		return err
	}
	if err := tb.versioned(t, before); err != nil {
		return err
	}
	return tb.monotone(t)
}

// bytes are snapshot, outcome and history entry of a step.
func (tb *table) bytes(s machine.Snapshot[any], mv move) ([]byte, error) {
	next, out, err := tb.step(s, mv)
	if err != nil {
		return nil, err
	}
	b, err := tb.m.Encode(nil, next)
	if err != nil {
		return nil, err
	}
	if b, err = canon.Append(append(b, '\n'), out); err != nil {
		return nil, err
	}
	if e := out.Entry(); e != nil {
		return canon.Append(append(b, '\n'), e)
	}
	return b, nil
}

// repeats takes the step once more, and once more from the stored bytes of its situation.
func (tb *table) repeats(t *trial, before, first []byte) error {
	second, err := tb.bytes(t.given.at, t.move)
	if err != nil {
		return err
	}
	if !bytes.Equal(first, second) {
		return fmt.Errorf("Step is not pure: it gave\n%s\nand then\n%s", first, second)
	}
	stored, err := tb.m.Decode(before)
	if err != nil {
		return fmt.Errorf("the situation cannot be read back: %w", err)
	}
	third, err := tb.bytes(stored, t.move)
	if err != nil {
		return err
	}
	if !bytes.Equal(first, third) {
		return fmt.Errorf("from the stored bytes of its situation the step differs: it gave\n%s\nand then\n%s", first, third)
	}
	return nil
}

// versioned holds a commit to one version more, that can be read back, and anything else to no change at all.
func (tb *table) versioned(t *trial, before []byte) error {
	b, err := tb.m.Encode(nil, t.next)
	if err != nil {
		return err
	}
	if t.out.Kind != machine.Committed {
		if !bytes.Equal(b, before) {
			return fmt.Errorf("%s, and the snapshot changed: it was\n%s\nand is\n%s", t.out.Kind, before, b)
		}
		return nil
	}
	if t.next.Version != t.given.at.Version+1 {
		return fmt.Errorf("a commit made version %d of version %d", t.next.Version, t.given.at.Version)
	}
	back, err := tb.m.Decode(b)
	if err != nil {
		return fmt.Errorf("the new version cannot be read back: %w", err)
	}
	again, err := tb.m.Encode(nil, back)
	if err != nil {
		return err
	}
	if !bytes.Equal(b, again) {
		return fmt.Errorf("the new version reads back as another: it was\n%s\nand is\n%s", b, again)
	}
	return nil
}

// monotone turns each fact that the step brings into unknown: what was blocked must not open (law 4). Not so where the fact
// moves the task by itself: then nothing was judged. Nor where a receipt keeps its effect from failing: the worker's word that
// it failed stands until there is one.
func (tb *table) monotone(t *trial) error {
	switch {
	case t.out.Kind == machine.Committed, t.move.event == "":
		return nil
	case t.out.Code() == machine.CodeMovesFirst, t.out.Code() == machine.CodeHappened:
		return nil
	}
	facts, _ := tb.specs(t.move.facts)
	specs := list(t.move.facts)
	for _, spec := range facts {
		mv, s := t.move, t.given.at
		key, err := tb.key(s, spec)
		if err != nil {
			return err
		}
		mv.facts = strings.Join(slices.DeleteFunc(slices.Clone(specs), func(o string) bool {
			if !slices.Contains(facts, o) {
				return false
			}
			k, err := tb.key(s, o)
			return err == nil && k == key
		}), ", ")
		s.Facts, s.Offers = s.Facts.Without(func(k guard.Key) bool { return k == key }), unanswered(s.Offers, key.Subject)
		if _, out, err := tb.step(s, mv); err == nil && out.Kind == machine.Committed {
			return fmt.Errorf("%s with %s, and committed when that is unknown: something unknown opens what is blocked", t.out.Kind, spec)
		}
	}
	return nil
}

// unanswered are the offers without what was said to one of them: replies count by that.
func unanswered(offers []machine.OpenOffer, id string) []machine.OpenOffer {
	out := slices.Clone(offers)
	for i := range out {
		if out[i].ID == id {
			out[i].Answers = nil
		}
	}
	return out
}

// key is what a fact of a row is about.
func (tb *table) key(s machine.Snapshot[any], spec string) (guard.Key, error) {
	name, _, _ := strings.Cut(spec, "=")
	f := tb.factNamed(name)
	subject, err := subjectIn(s, f.subject)
	return guard.Key{Fact: f.info.Name, Subject: subject}, err
}
