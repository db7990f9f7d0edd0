package workingstate

import "time"

// Limits (the specification, 1.2). Past one comes a refusal that names it, or a cut that the reply tells of.
const (
	MaxKeys        = 32             // keys that hold at once; expired ones do not count
	MaxKey         = 64             // bytes of a key
	MaxValue       = 400            // characters of a value; longer ones are cut
	MaxReason      = 200            // characters of a reason; longer ones are cut
	MaxNote        = 1200           // characters of a plain handoff; longer ones are cut
	DefaultHandoff = 16 << 10       // bytes of a structured handoff as it comes in; longer ones are refused
	MaxHandoff     = 48 << 10       // the most that [Options] may allow a structured handoff: a proposal has 64 KiB
	MaxTTLHours    = 720            // hours that a key or a handoff may hold
	MinTTL         = 1              // seconds: less would be over before it began
	MaxProofID     = 200            // bytes of the id of a proof
	MaxAgent       = 64             // bytes of an agent's id
	MaxRun         = 64             // bytes of a wake-up's id
	MaxModel       = 160            // bytes of the revision of model and prompt
	MaxHistory     = 100            // changes that Get returns
	DefaultHistory = 20             // changes that Get returns when nobody says
	DefaultBlock   = 3072           // bytes of the block, all of it
	MinBlock       = DefaultBlock   // the least budget: the newest key must fit with its whole value
	DefaultActions = 10             // rows of the block of recent actions
	MaxActions     = 50             // rows of the block of recent actions
	ActionsBytes   = 2400           // bytes of the rows of recent actions
	MaxSummary     = 200            // bytes of one row's summary
	ActionsSince   = 24 * time.Hour // how far back recent actions go
)
