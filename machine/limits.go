package machine

// Limits of a task and of one step (DESIGN, Limits). Past one comes a refusal or an error that names it.
const (
	MaxProposal   = 64 << 10  // bytes of a payload as canonical JSON
	MaxData       = 256 << 10 // bytes of a task's data as canonical JSON
	MaxFacts      = 256       // facts of a task
	MaxOffers     = 32        // offers open at once
	MaxTimers     = 16        // timers armed at once
	MaxEffects    = 16        // effects intended by one commit
	MaxEvidence   = 64        // observations of one step
	MaxKey        = 128       // bytes of an idempotency key
	MaxTaskID     = 128       // bytes of a task's id
	MaxInvariants = 64        // invariants of a machine
	MaxEdges      = 512       // edges of a machine
)
