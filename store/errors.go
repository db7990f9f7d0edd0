package store

import (
	"errors"
	"fmt"
)

// Sentinels to branch on with errors.Is. The typed errors below wrap them and carry the facts.
var (
	ErrNotFound  = errors.New("task not found")                         // no such task
	ErrConflict  = errors.New("task has moved on")                      // the task's tip is not the base: read again ([ConflictError])
	ErrTaken     = errors.New("name is used up")                        // an earlier commit used the name up, or an effect of that id is unsettled ([TakenError])
	ErrLapsed    = errors.New("outside the time it was valid")          // now lies outside the validity of the commit ([LapsedError])
	ErrFenced    = errors.New("effect has another revision")            // the effect has changed hands or is settled: stop working on it ([FencedError])
	ErrSwap      = errors.New("resource has another revision")          // a resource was changed by another commit: read it again ([SwapError])
	ErrUnsettled = errors.New("effect is unsettled")                    // not while an effect is unsettled
	ErrUncounted = errors.New("what it took elsewhere is not counted")  // not while what an imported task took of resources is not counted here ([Imported])
	ErrCorrupt   = errors.New("stored bytes are corrupt")               // stored bytes are damaged ([CorruptError])
	ErrNewer     = errors.New("written by a newer version")             // a later version wrote it; do not touch it ([NewerError])
	ErrErased    = errors.New("task is erased")                         // the task was erased; its id is never used again ([ErasedError])
	ErrTooBig    = errors.New("over the limit")                         // a limit was passed ([TooBigError])
	ErrInvalid   = errors.New("malformed")                              // malformed input
	ErrFailed    = errors.New("store has failed; open it again")        // the store met an error it cannot recover from: open it again
	ErrClosed    = errors.New("store is closed")                        // the store was closed
	ErrInUse     = errors.New("store is in use")                        // another process, or this one, has it open
	ErrUncertain = errors.New("outcome is unknown; it may have landed") // a write began and its end was not seen: open again and look ([UncertainError])
)

// ConflictError says that the task's tip is not the one the commit was judged on. It wraps ErrConflict.
type ConflictError struct {
	Task      string
	Base, Tip Tip
}

// Error says so in words.
func (e *ConflictError) Error() string {
	if e.Base.Version == e.Tip.Version {
		return fmt.Sprintf("task %s: version %d has another content than the one judged on: %v", e.Task, e.Tip.Version, ErrConflict)
	}
	return fmt.Sprintf("task %s: judged on version %d, newest is %d: %v", e.Task, e.Base.Version, e.Tip.Version, ErrConflict)
}

// Unwrap is ErrConflict.
func (e *ConflictError) Unwrap() error { return ErrConflict }

// TakenError says which commit used the name up (or emitted the unsettled effect of that id). It wraps ErrTaken.
type TakenError struct {
	Task, Name string
	Version    uint64
}

// Error says so in words.
func (e *TakenError) Error() string {
	return fmt.Sprintf("task %s: %q was taken by version %d: %v", e.Task, e.Name, e.Version, ErrTaken)
}

// Unwrap is ErrTaken.
func (e *TakenError) Unwrap() error { return ErrTaken }

// LapsedError says that now lay outside [From, Until). It wraps ErrLapsed.
type LapsedError struct {
	Task             string
	Now, From, Until Micros
}

// Error says so in words.
func (e *LapsedError) Error() string {
	return fmt.Sprintf("task %s: now %d is not in [%d, %d): %v", e.Task, e.Now, e.From, e.Until, ErrLapsed)
}

// Unwrap is ErrLapsed.
func (e *LapsedError) Unwrap() error { return ErrLapsed }

// FencedError says that the effect's revision is Have and not Want; Have is 0 if there is no such unsettled
// effect. It wraps ErrFenced.
type FencedError struct {
	Task, Effect string
	Want, Have   uint64
}

// Error says so in words.
func (e *FencedError) Error() string {
	if e.Have == 0 {
		return fmt.Sprintf("task %s: effect %s is not unsettled, revision %d is gone: %v", e.Task, e.Effect, e.Want, ErrFenced)
	}
	return fmt.Sprintf("task %s: effect %s has revision %d, not %d: %v", e.Task, e.Effect, e.Have, e.Want, ErrFenced)
}

// Unwrap is ErrFenced.
func (e *FencedError) Unwrap() error { return ErrFenced }

// SwapError says that the resource's revision is Have and not Want. It wraps ErrSwap.
type SwapError struct {
	Task, Resource string
	Want, Have     uint64
}

// Error says so in words.
func (e *SwapError) Error() string {
	return fmt.Sprintf("task %s: resource %s has revision %d, not %d: %v", e.Task, e.Resource, e.Have, e.Want, ErrSwap)
}

// Unwrap is ErrSwap.
func (e *SwapError) Unwrap() error { return ErrSwap }

// CorruptError names what cannot be trusted: a record by task and version, or with version 0 another row of
// the task. It wraps ErrCorrupt.
type CorruptError struct {
	Task    string
	Version uint64
	What    string
}

// Error says so in words.
func (e *CorruptError) Error() string {
	return fmt.Sprintf("task %s, version %d: %s: %v", e.Task, e.Version, e.What, ErrCorrupt)
}

// Unwrap is ErrCorrupt.
func (e *CorruptError) Unwrap() error { return ErrCorrupt }

// NewerError says that bytes carry a format this version does not know. Task is empty if it is the whole store.
// It wraps ErrNewer.
type NewerError struct {
	Task          string
	Version       uint64
	Format, Known int
}

// Error says so in words.
func (e *NewerError) Error() string {
	if e.Task == "" {
		return fmt.Sprintf("store has format %d, newest known is %d: %v", e.Format, e.Known, ErrNewer)
	}
	return fmt.Sprintf("task %s, version %d: format %d, newest known is %d: %v", e.Task, e.Version, e.Format, e.Known, ErrNewer)
}

// Unwrap is ErrNewer.
func (e *NewerError) Unwrap() error { return ErrNewer }

// ErasedError says that the task was erased; Tip is its tombstone. It wraps ErrErased.
type ErasedError struct {
	Task string
	Tip  Tip
}

// Error says so in words.
func (e *ErasedError) Error() string {
	return fmt.Sprintf("task %s: erased at version %d: %v", e.Task, e.Tip.Version, ErrErased)
}

// Unwrap is ErrErased.
func (e *ErasedError) Unwrap() error { return ErrErased }

// TooBigError says which limit was passed. It wraps ErrTooBig.
type TooBigError struct {
	Task       string
	What       string
	Size, Most int
}

// Error says so in words.
func (e *TooBigError) Error() string {
	return fmt.Sprintf("task %s: %s is %d, at most %d: %v", e.Task, e.What, e.Size, e.Most, ErrTooBig)
}

// Unwrap is ErrTooBig.
func (e *TooBigError) Unwrap() error { return ErrTooBig }

// UncertainError says that the write of Tip began and its end was not seen. After the store has been opened
// again the task's tip tells: an equal hash means that it landed. It wraps ErrUncertain and the cause.
type UncertainError struct {
	Task  string
	Tip   Tip // zero if what was written was no version (a claim, an update)
	Cause error
}

// Error says so in words.
func (e *UncertainError) Error() string {
	return fmt.Sprintf("task %s, version %d: %v: %v", e.Task, e.Tip.Version, ErrUncertain, e.Cause)
}

// Unwrap is ErrUncertain and the cause.
func (e *UncertainError) Unwrap() []error { return []error{ErrUncertain, e.Cause} }

func invalid(format string, args ...any) error {
	return fmt.Errorf(format+": %w", append(args, ErrInvalid)...)
}
