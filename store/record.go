package store

// Micros is an instant: microseconds since 1970-01-01 UTC. Zero means none.
type Micros = int64

// Tip names one version of one task. The hash covers the whole record and, through Prev, every record before it,
// so two tips are equal only if the histories are. The zero Tip is the tip of a task that does not exist.
type Tip struct {
	Version uint64
	Hash    [32]byte
}

// Meta is what a store needs to know of a snapshot in order to find the task again.
type Meta struct {
	Machine  string // required
	State    string // required
	Owner    string // empty: not found by owner
	WaitsFor string // empty: waits for nobody
	Since    Micros // when it entered the state
	Wake     Micros // earliest time at which something is due, 0: nothing
	Final    bool
}

// Row is a task as a list shows it.
type Row struct {
	Task string
	Meta Meta
}

// Record is one version of one task. The store never looks into Snapshot and Entry.
type Record struct {
	Task     string
	Tip      Tip      // its version, and its own hash
	Prev     [32]byte // hash of the version before, zero for the first
	At       Micros   // when; never below the At of the version before
	Nonce    uint64   // drawn by the committer: tells its own commit from another's with the same content
	Meta     Meta
	Changes  []byte // what else the commit wrote, see ParseChanges; filled in by the store
	Snapshot []byte
	Entry    []byte
}
