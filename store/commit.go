package store

// Commit is the next version of one task, and everything that lands with it. It is data: the caller has judged,
// the store compares and writes.
type Commit struct {
	Record               // Tip, Prev and Changes are filled in by the store; a zero At becomes the store's now
	Base        Tip      // what it was judged on; the zero Tip creates the task
	From, Until Micros   // lands only if From <= now < Until on the store's clock; zero: no bound
	Once        []string // names used up by this commit, once per task, forever
	Emit        []Effect // ID, Ready and Body; they become Intent at FirstRev of this version
	Settle      []Settle // effects that are over
	Swap        []Resource
	Expect      []Revision // resources that must stand where they were read, and are left alone
}

// Settle ends an effect if its revision is Rev, the fencing token: a worker whose hold was taken over holds
// an older one and is refused with ErrFenced (field case B051).
type Settle struct {
	Effect string
	Rev    uint64
}

// Resource is a named value that tasks share: a captured amount, a daily cap, a freeze. In a commit, Rev is the
// revision that was read (0: never written) and Value the new value; the new revision is Rev+1. A resource is never
// removed, so that a revision is never used twice.
type Resource struct {
	Name  string
	Rev   uint64
	Value []byte
}

// Revision is a resource at a revision (0: never written). It costs no row: commits that expect one do not get in each other's way, and
// none of them lands after a commit that swaps it.
type Revision struct {
	Name string
	Rev  uint64
}

// Attempt is a refused proposal, kept for audit.
type Attempt struct {
	At    Micros
	Count int // how many it stands for; not negative
	Body  []byte
}

// rows is the number of rows the commit touches at most: the record, four index rows new and old, one per name and
// resource, two per effect.
func (c *Commit) rows() int {
	return 9 + len(c.Once) + 2*len(c.Emit) + 2*len(c.Settle) + len(c.Swap)
}

// size is the number of caller's bytes in the commit.
func (c *Commit) size() int {
	n := len(c.Snapshot) + len(c.Entry)
	for _, name := range c.Once {
		n += len(name)
	}
	for i := range c.Emit {
		n += len(c.Emit[i].ID) + len(c.Emit[i].Body)
	}
	for i := range c.Swap {
		n += len(c.Swap[i].Name) + len(c.Swap[i].Value)
	}
	for i := range c.Expect {
		n += len(c.Expect[i].Name)
	}
	return n
}
