package projection

// Limits of decisions and views. Past one comes a fault of Define or an error that names it; a quote is cut.
const (
	DefaultBudget = 3 << 10  // bytes of each rendering of a view
	MaxText       = 400      // bytes of a label, a question, a meaning
	MaxOrigin     = 64       // bytes of a quote's origin
	MaxQuote      = 1 << 10  // bytes of a quote's text that are shown; the rest is cut, and counted
	MinQuote      = 128      // bytes to which a quote may be shortened when the view is over budget
	MaxDetail     = 128      // bytes of a place in an answer that a refusal shows; longer details of a guard are left out
	MaxReason     = 512      // bytes of the text of a refusal
	MaxRefusal    = 1 << 10  // bytes that a refusal may take beside the budget of its view
	MaxQuotes     = 16       // quotes of one view
	MaxValue      = 512      // bytes of one value that are shown; the rest is cut, and counted
	MaxAnswer     = 96 << 10 // bytes of a model's whole answer; its payload has the limit of a proposal
	MaxNesting    = 10       // levels of objects and lists in a payload
	MaxFields     = 512      // fields in a payload's schema
)
