package mcp

import (
	"time"

	"github.com/pawlgo/pawl/resume"
)

// Limits of a server.
const (
	MaxArguments = 128 << 10 // bytes of one call's arguments; a proposal's payload has its own, smaller limit
	MaxBody      = 1 << 20   // bytes of one HTTP request, and of one line on stdin: arguments, with room for what escaping adds
	MaxViews     = 64        // views that a server remembers of one agent, the newest ones
	MaxFound     = 100       // tasks that task_find lists
	MaxHistory   = 100       // entries of task_history, and as many refused attempts
	MaxBuckets   = 1 << 12   // agents that a rate is counted for at once
	MaxSessions  = 256       // sessions at once of clients of the session era
	MaxRequests  = 256       // HTTP requests that are served side by side; more are told to come back
)

// Defaults of a server.
const (
	DefaultFound   = 20               // tasks of task_find
	DefaultHistory = 20               // entries of task_history
	DefaultWithin  = 30 * time.Second // one call
	DefaultGrace   = 10 * time.Second // what calls under way are given when the server ends
	DefaultIdle    = 30 * time.Minute // how long a session without requests is kept
)

// Times of HTTP connections.
const (
	readingHead = 10 * time.Second // the head of a request
	keptAlive   = 2 * time.Minute  // a connection without requests
	oneRequest  = time.Minute      // reading a request and writing its answer, beside the call itself
)

// How often one agent may call, when the options do not say.
var (
	DefaultReads  = resume.Rate{Burst: 240, Per: time.Minute} // calls that need the scope read, and all other requests
	DefaultWrites = resume.Rate{Burst: 60, Per: time.Minute}  // calls that need the scope write
)
