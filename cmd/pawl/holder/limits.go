package holder

import "time"

// Limits of the socket. Each is inclusive.
const (
	MaxNote        = 4 << 10         // bytes of a note
	MaxConnections = 32              // at once; more wait
	MaxHeader      = 16 << 10        // bytes of a question's header
	MaxAnswer      = 64 << 20        // bytes of an answer that is no stream, and of a line of one that is
	MaxPage        = 16              // records, effects or attempts that one answer carries
	MaxSocketPath  = 103             // bytes of a socket's path that every system takes; a longer one goes to the temporary directory
	QuestionWithin = 5 * time.Second // a question must have been read by then
	AnswerWithin   = 30 * time.Second
	DialWithin     = 2 * time.Second
)
