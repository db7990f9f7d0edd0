package store

// Limits of every store. Each is inclusive.
const (
	MaxTask     = 128         // bytes of a task id
	MaxName     = 256         // bytes of any other name: machine, state, owner, effect, once-name, resource, holder
	MaxRows     = 64          // rows one commit touches: 9, and 1 per once-name and resource, 2 per emitted or settled effect
	MaxCommit   = 384 << 10   // bytes of one commit: snapshot, entry, names, bodies and values
	MaxBody     = 64 << 10    // bytes of an effect's or an attempt's body
	MaxResource = 16 << 10    // bytes of a resource's value
	MaxExpect   = 8           // resources that one commit expects
	MaxAttempts = 100         // refused attempts kept per task
	MaxPage     = 1000        // rows one call returns
	MaxScan     = 10_000      // index rows one call of Find looks at before it returns a short page
	MaxSlot     = 1 << 12     // number of slots
	MaxVersion  = 1<<44 - 1   // of a task
	MaxHold     = 86400 * 1e6 // Micros one claim may hold an effect: one day
)
