package machine

// Limits of a task and of one step (DESIGN, Limits). Past one comes a refusal or an error that names it.
const (
	MaxProposal   = 64 << 10  // bytes of a payload as canonical JSON: a proposal's, an offer's
	MaxData       = 256 << 10 // bytes of a task's data as canonical JSON
	MaxArgs       = 32 << 10  // bytes of an effect's arguments as canonical JSON
	MaxReturned   = 64 << 10  // bytes of what an edge answers its proposer, as canonical JSON
	MaxSnapshot   = 320 << 10 // bytes of a snapshot as it is stored
	MaxEntry      = 256 << 10 // bytes of a history entry as it is stored
	MaxFacts      = 256       // facts of a task
	MaxOffers     = 32        // offers open at once
	MaxTimers     = 16        // timers armed at once
	MaxApprovers  = 16        // people of whom a quorum is
	MaxAnswers    = 32        // people whose answers one offer keeps
	MaxEffects    = 16        // effects intended by one commit
	MaxEvidence   = 64        // observations of one step
	MaxKey        = 128       // bytes of an idempotency key
	MaxShown      = 128       // bytes of the digest of a view
	MaxRevision   = 256       // bytes of the revision of model and prompt
	MaxReason     = 512       // bytes of the reason of a failed effect; longer ones are cut
	MaxPrincipal  = 250       // bytes of a principal's id; stores find what waits for it under a longer name
	MaxTaskID     = 128       // bytes of a task's id
	MaxInvariants = 64        // invariants of a machine
	MaxEdges      = 512       // edges of a machine
)
