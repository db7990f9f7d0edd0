package machine

import "fmt"

// Stamp names one definition: each snapshot and each history entry carries the one that it was made under.
type Stamp struct {
	Machine string `json:"machine"`
	Version int    `json:"definition"`
	Digest  string `json:"digest"`
}

// String is the stamp as errors write it.
func (s Stamp) String() string {
	return fmt.Sprintf("machine %s, version %d, digest %s", s.Machine, s.Version, s.Digest)
}

// Stamp of the definition.
func (m *Machine[D]) Stamp() Stamp { return m.c.stamp() }

func (c *core) stamp() Stamp { return Stamp{c.name, c.version, c.digest} }

// Stamp of the definition that the snapshot was made under.
func (h Head) Stamp() Stamp { return Stamp{h.Machine, h.Definition, h.Digest} }

// OtherDefinitionError says that a stored task belongs to another definition than the one that was to read it. It wraps
// [ErrStored].
type OtherDefinitionError struct {
	Task   string
	Stored Stamp // the definition that the task was stored under
	Reader Stamp // the one that was to read it
}

// Error names both definitions.
func (e *OtherDefinitionError) Error() string {
	return fmt.Sprintf("task %s is of %s; the definition is %s: %v", e.Task, e.Stored, e.Reader, ErrStored)
}

// Unwrap gives [ErrStored].
func (e *OtherDefinitionError) Unwrap() error { return ErrStored }
