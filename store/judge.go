package store

import (
	"encoding/binary"
	"fmt"
)

// What follows is the part of the contract that is plain computation, so that every store judges alike.

// NotFound is the error about an absent task: ErrNotFound, or ErrInvalid if the id can name none.
func NotFound(task string) error {
	if err := CheckTask(task); err != nil {
		return err
	}
	return fmt.Errorf("task %s: %w", task, ErrNotFound)
}

// JudgeBase compares the base of the commit with the task's tip: ErrNotFound or ErrConflict.
func (c *Commit) JudgeBase(tip Tip) error {
	if c.Base == tip {
		return nil
	}
	if tip == (Tip{}) {
		return NotFound(c.Task)
	}
	return &ConflictError{Task: c.Task, Base: c.Base, Tip: tip}
}

// JudgeTime compares the conditions of the commit with now, and settles c.At: zero becomes now, and an instant
// before the task's last one becomes that. ErrLapsed, or ErrInvalid if At lies ahead of now.
func (c *Commit) JudgeTime(now, last Micros) error {
	if now < c.From || (c.Until != 0 && now >= c.Until) {
		return &LapsedError{Task: c.Task, Now: now, From: c.From, Until: c.Until}
	}
	if c.At > now {
		return invalid("task %s: at %d is ahead of the store's now %d", c.Task, c.At, now)
	}
	if c.At == 0 {
		c.At = now
	}
	c.At = max(c.At, last)
	return nil
}

// Emitted is the i-th emitted effect as it is stored; call it after Prepare. Its body is still the caller's.
func (c *Commit) Emitted(i int) Effect {
	e := &c.Emit[i]
	return Effect{
		Task: c.Task, ID: e.ID, Version: c.Tip.Version, Rev: FirstRev(c.Tip.Version),
		Status: Intent, Ready: e.Ready, Body: e.Body,
	}
}

// Claimed marks the stored effect as claimed and returns a copy for the claimer.
func (e *Effect) Claimed(holder string, until Micros) Effect {
	was := e.Status
	e.Rev++
	e.Status, e.Holder, e.Hold = Sent, holder, until
	out := e.clone()
	out.Was = was
	return out
}

// JudgeRev compares the revision of an update with the stored effect, nil if there is none: ErrFenced.
func (e *Effect) JudgeRev(stored *Effect) error {
	if stored == nil {
		return &FencedError{Task: e.Task, Effect: e.ID, Want: e.Rev}
	}
	if stored.Rev != e.Rev {
		return &FencedError{Task: e.Task, Effect: e.ID, Want: e.Rev, Have: stored.Rev}
	}
	return nil
}

// Take applies an update to the stored effect; the body is shared.
func (e *Effect) Take(update *Effect) {
	e.Rev++
	e.Status, e.Ready, e.Body = update.Status, update.Ready, update.Body
	e.Holder, e.Hold = "", 0
	if e.Status == Sent {
		e.Holder, e.Hold = update.Holder, update.Hold
	}
}

// Key is the place of a task in the index that answers the query: rows come in bytewise order of it.
func (q *Query) Key(m *Meta, task string) []byte {
	var k []byte
	switch {
	case q.WaitsFor != "":
		k = binary.BigEndian.AppendUint64(k, uint64(m.Since))
	case q.Owner != "":
		k = append(k, 0)
		if m.Final {
			k[0] = 1
		}
	default:
		k = append(append(k, m.Machine...), 0)
		k = append(append(k, m.State...), 0)
		k = binary.BigEndian.AppendUint64(k, uint64(m.Since))
	}
	return append(k, task...)
}

// CheckTombstone says whether the arguments of Erase are well formed.
func CheckTombstone(task string, entry []byte) error {
	if err := CheckTask(task); err != nil {
		return err
	}
	if len(entry) > MaxBody {
		return &TooBigError{Task: task, What: "entry of a tombstone", Size: len(entry), Most: MaxBody}
	}
	return nil
}

// Tombstone is the record that Erase chains to the tip.
func Tombstone(task string, tip Tip, at Micros, entry []byte) Record {
	return Record{Task: task, Tip: Tip{Version: tip.Version + 1}, Prev: tip.Hash, At: at, Entry: entry}
}

func unsettled(task, effect string, s Status) error {
	return fmt.Errorf("task %s: effect %s is %v: %w", task, effect, s, ErrUnsettled)
}
