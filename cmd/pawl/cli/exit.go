package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"github.com/pawlgo/pawl/cmd/pawl/holder"
	"github.com/pawlgo/pawl/guard"
	"github.com/pawlgo/pawl/machine"
	"github.com/pawlgo/pawl/resume"
	"github.com/pawlgo/pawl/store"
)

// Exit codes, as the package comment explains them.
const (
	ExitOK          = 0
	ExitFailed      = 1
	ExitUsage       = 2
	ExitNotFound    = 3
	ExitRefused     = 4
	ExitConflict    = 5
	ExitLocked      = 6
	ExitCorrupt     = 7
	ExitNewer       = 8
	ExitUncertain   = 9
	ExitInterrupted = 130
)

// Errors to branch on; each has its exit code.
var (
	ErrUsage    = errors.New("used wrongly")       // a flag, an argument or an input file is malformed
	ErrNotFound = errors.New("not found")          // no such store, task, version, machine or key
	ErrLocked   = errors.New("store is in use")    // another process has the store open ([LockedError])
	ErrCorrupt  = errors.New("store has problems") // what verify found
)

// exits say which error ends the program how. The first that fits counts.
var exits = []struct {
	err  error
	exit int
	code string
}{
	{context.Canceled, ExitInterrupted, "interrupted"},
	{store.ErrUncertain, ExitUncertain, "uncertain"},
	{ErrUsage, ExitUsage, "usage"},
	{ErrLocked, ExitLocked, "locked"},
	{holder.ErrReadOnly, ExitLocked, "locked"},
	{holder.ErrSilent, ExitLocked, "locked"},
	{ErrCorrupt, ExitCorrupt, "corrupt"},
	{store.ErrCorrupt, ExitCorrupt, "corrupt"},
	{store.ErrNewer, ExitNewer, "newer"},
	{ErrNotFound, ExitNotFound, "not_found"},
	{store.ErrNotFound, ExitNotFound, "not_found"},
	{store.ErrErased, ExitNotFound, "not_found"},
	{resume.ErrNoTask, ExitNotFound, "not_found"},
	{fs.ErrNotExist, ExitNotFound, "not_found"},
	{machine.ErrConflict, ExitConflict, "conflict"},
	{store.ErrConflict, ExitConflict, "conflict"},
	{resume.ErrExists, ExitConflict, "conflict"},
	{fs.ErrExist, ExitConflict, "conflict"},
	{store.ErrFenced, ExitConflict, "conflict"},
	{machine.ErrRefused, ExitRefused, "refused"},
	{machine.ErrAsk, ExitRefused, "refused"},
	{machine.ErrNeedsEvidence, ExitRefused, "refused"},
	{resume.ErrNotUnknown, ExitRefused, "refused"},
	{resume.ErrEarly, ExitRefused, "refused"},
	{resume.ErrThere, ExitRefused, "refused"},
	{resume.ErrQuarantined, ExitRefused, "refused"},
	{resume.ErrUncounted, ExitRefused, "refused"},
	{resume.ErrMachine, ExitRefused, "refused"},
	{guard.ErrForm, ExitUsage, "usage"},
	{machine.ErrTask, ExitUsage, "usage"},
	{store.ErrInvalid, ExitUsage, "usage"},
	{store.ErrTooBig, ExitUsage, "usage"},
}

// exitOf is the exit code of an error, and its name.
func exitOf(err error) (int, string) {
	if err == nil {
		return ExitOK, ""
	}
	for _, e := range exits {
		if errors.Is(err, e.err) {
			return e.exit, e.code
		}
	}
	return ExitFailed, "failed"
}

// hinted is an error with a line that says what to do.
type hinted struct {
	err  error
	hint string
}

func (h *hinted) Error() string { return h.err.Error() }
func (h *hinted) Unwrap() error { return h.err }

// hint adds what to do to an error.
func hint(err error, format string, args ...any) error {
	return &hinted{err, fmt.Sprintf(format, args...)}
}

// plainError is a text whose kind is told by the exit code and need not be repeated in words.
type plainError struct {
	text string
	kind error
}

func (e *plainError) Error() string { return e.text }
func (e *plainError) Unwrap() error { return e.kind }

// Usage is an error of exit code 2. For the commands that a tool adds.
func Usage(format string, args ...any) error {
	return &plainError{fmt.Sprintf(format, args...), ErrUsage}
}

func notFound(format string, args ...any) error {
	return &plainError{fmt.Sprintf(format, args...), ErrNotFound}
}
