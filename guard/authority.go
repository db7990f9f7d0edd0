package guard

// Source names the authority that may evidence a fact. Only the name goes into a definition; the power to
// speak for it is an [Authority]. The zero Source names nobody, and Build refuses a fact that has it.
type Source struct{ name string }

// From names the one authority of a fact (law 3).
func From(authority string) Source { return Source{authority} }

// Name of the authority, stored with each piece of evidence.
func (s Source) Name() string { return s.name }

// Authority is the capability to speak for a source. Two handles of one name are different capabilities: a
// controller accepts only the handles that it was opened with. It cannot be decoded from anything. Keep it
// in the adapter that talks to the system, and give it to the controller's Trust. Safe for concurrent use.
type Authority struct{ name string }

// NewAuthority makes a handle for the named source.
func NewAuthority(name string) *Authority { return &Authority{name} }

// Name is the source that this handle speaks for.
func (a *Authority) Name() string { return a.name }
