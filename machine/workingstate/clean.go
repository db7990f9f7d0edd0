package workingstate

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/pawlgo/pawl/machine"
)

// ErrTable says that a table breaks the machine's own rules.
var ErrTable = errors.New("not a table of working state")

// Clean is a table that something else wrote, a file or another program, in the form that this machine keeps: texts on one
// line and cut at their limits, instants in UTC and whole seconds or finer, and keys without a version as old as the record.
// Errors wrap [ErrTable] and name all that cannot be kept.
func Clean(t Table) (Table, error) {
	out := Table{Version: t.Version, States: make(map[string]Entry, len(t.States))}
	for k, e := range t.States {
		e.Value, _ = clean(e.Value, MaxValue)
		e.Reason, _ = clean(e.Reason, MaxReason)
		if e.Version == 0 {
			e.Version = t.Version
		}
		e.UpdatedAt, e.ExpiresAt = e.UpdatedAt.UTC(), e.ExpiresAt.UTC()
		out.States[k] = e
	}
	if t.Handoff != nil {
		n := *t.Handoff
		most := MaxHandoff
		if n.Status == "" {
			most = MaxNote
		}
		n.Note, _ = clean(n.Note, most)
		n.NextSteps, n.Evidence, n.Blocker = collapse(n.NextSteps), collapse(n.Evidence), collapse(n.Blocker)
		if n.Version == 0 {
			n.Version = t.Version
		}
		n.Proof, n.Verified = "", "" // whoever wrote it, no verifier of ours accepted it
		n.UpdatedAt, n.ExpiresAt = n.UpdatedAt.UTC(), n.ExpiresAt.UTC()
		out.Handoff = &n
	}
	if faults := out.faults(); len(faults) > 0 {
		return Table{}, fmt.Errorf("%w: %w", ErrTable, errors.Join(faults...))
	}
	return out, nil
}

// faults are what breaks the rules.
func (t Table) faults() []error {
	var out []error
	if len(t.States) > MaxKeys {
		out = append(out, fmt.Errorf("%d keys, at most %d", len(t.States), MaxKeys))
	}
	for _, k := range slices.Sorted(maps.Keys(t.States)) {
		e := t.States[k]
		if !isKey(k) {
			out = append(out, fmt.Errorf("key %.80q is not of the form %s", k, KeyPattern))
		}
		if e.Value == "" || e.Reason == "" || utf8.RuneCountInString(e.Value) > MaxValue || utf8.RuneCountInString(e.Reason) > MaxReason {
			out = append(out, fmt.Errorf("key %.80q needs a value of 1 to %d and a reason of 1 to %d characters", k, MaxValue, MaxReason))
		}
		if strings.ContainsAny(e.Value+e.Reason, "\n\r") {
			out = append(out, fmt.Errorf("key %.80q holds several lines", k))
		}
		if e.Version > t.Version {
			out = append(out, fmt.Errorf("key %.80q was written by version %d, and the record is at %d", k, e.Version, t.Version))
		}
	}
	if n := t.Handoff; n != nil {
		if size := len(n.Note) + len(n.NextSteps) + len(n.Evidence) + len(n.Blocker) + len(n.Proof); n.Note == "" || size > MaxHandoff {
			out = append(out, fmt.Errorf("a handoff needs a note, and has at most %d bytes", MaxHandoff))
		}
		if n.Status != "" && n.Status != Continue && n.Status != Complete && n.Status != Blocked {
			out = append(out, fmt.Errorf("the handoff has the status %.40q", n.Status))
		}
	}
	return out
}

// wellFormed is the machine's invariant: what starts it must hold to the same rules as what changes it.
func wellFormed(s machine.Snapshot[Table]) error { return errors.Join(s.Data.faults()...) }

// isKey tells whether a text has the form [KeyPattern].
func isKey(k string) bool {
	for i := range len(k) {
		c := k[i]
		letter := c >= 'a' && c <= 'z' || c >= '0' && c <= '9'
		if !letter && (i == 0 || c != '.' && c != '_' && c != '-') {
			return false
		}
	}
	return k != "" && len(k) <= MaxKey
}
