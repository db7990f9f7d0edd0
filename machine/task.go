package machine

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/pawlgo/pawl/guard"
)

// ErrTask is wrapped by errors about a task that cannot begin.
var ErrTask = errors.New("task cannot begin")

var taskPattern = regexp.MustCompile(`^[A-Za-z0-9._:-]{1,128}$`)

// CheckTaskID says whether an id may name a task: 1 to [MaxTaskID] of A-Z, a-z, 0-9, '.', '_', ':' and '-'. Errors wrap
// [ErrTask].
func CheckTaskID(id string) error {
	if !taskPattern.MatchString(id) {
		return fmt.Errorf("task id %.160q must be 1 to %d of A-Z a-z 0-9 . _ : -: %w", id, MaxTaskID, ErrTask)
	}
	return nil
}

// Task is a task that has not been started. Give it to a controller's Start.
type Task struct {
	Definition Definition
	ID         string
	Owner      string
	Parent     string // the task that this one works for, "" when none; see Under
	data       any
}

// Under is the task as a child of another: the parent's edges can demand that no child is open, with [ChildrenClosed].
func (t Task) Under(parent string) Task { t.Parent = parent; return t }

// Task is a new task of this machine with its data.
func (m *Machine[D]) Task(id string, owner guard.Principal, data D) Task {
	return Task{Definition: m, ID: id, Owner: owner.ID, data: data}
}

// TaskFrom is Task with data from JSON, decoded strictly; errors wrap [guard.ErrForm]. For tools and tables.
func (m *Machine[D]) TaskFrom(id string, owner guard.Principal, raw []byte) (Task, error) {
	data, err := m.c.decodeNew(raw)
	return Task{Definition: m, ID: id, Owner: owner.ID, data: data}, err
}

// First is version 1 of the task, with its history entry. Errors wrap [ErrTask] or [guard.ErrForm].
func (t Task) First(now time.Time) (Snapshot[any], *Entry, error) {
	var none Snapshot[any]
	if err := t.check(); err != nil {
		return none, nil, err
	}
	payload, err := formed(t.data, MaxData, false)
	if err != nil {
		return none, nil, fmt.Errorf("task %s, data: %w: %w", t.ID, ErrTask, err)
	}
	c := t.Definition.erased().c
	if err := c.subjects.visible(t.data); err != nil {
		return none, nil, fmt.Errorf("task %s, data: %w: %w", t.ID, ErrTask, err)
	}
	data, err := c.decode(payload) // as it will be read again, and no longer the caller's
	if err != nil {
		return none, nil, fmt.Errorf("task %s, data: %w: %w", t.ID, ErrTask, err)
	}
	now = whole(now)
	s := Snapshot[any]{Head: Head{
		Task: t.ID, Machine: c.name, Definition: c.version, Digest: c.digest, Version: 1, State: c.initial, Owner: t.Owner, Parent: t.Parent,
		Created: now, UpdatedAt: now, UpdatedBy: t.Owner, Facts: guard.Facts{}.Bound(c.bound(t.ID, data)),
	}, Data: data}
	c.enter(&s, now)
	if err := c.arm(&s); err != nil {
		return none, nil, fmt.Errorf("task %s: %w: %w", t.ID, ErrTask, err)
	}
	if broken := c.broken(none, s); len(broken) > 0 {
		return none, nil, fmt.Errorf("task %s breaks an invariant: %s: %w", t.ID, broken[0], ErrTask)
	}
	return s, &Entry{Version: 1, At: now.UnixMicro(), Event: EntryStart, To: s.State, Payload: payload, Actor: guard.User,
		Principal: t.Owner, Machine: c.name, Definition: c.version, Digest: c.digest}, nil
}

// check judges what a task must have before it can begin.
func (t Task) check() error {
	if t.Definition == nil {
		return fmt.Errorf("task %.160q has no definition: %w", t.ID, ErrTask)
	}
	if err := CheckTaskID(t.ID); err != nil {
		return err
	}
	if t.Parent != "" && (t.Parent == t.ID || CheckTaskID(t.Parent) != nil) {
		return fmt.Errorf("task %s cannot be a child of %.160q: %w", t.ID, t.Parent, ErrTask)
	}
	if t.Owner == "" || len(t.Owner) > MaxPrincipal || !utf8.ValidString(t.Owner) || strings.IndexByte(t.Owner, 0) >= 0 {
		return fmt.Errorf("task %s needs an owner of 1 to %d bytes of UTF-8 without zero bytes: %w", t.ID, MaxPrincipal, ErrTask)
	}
	return nil
}
