// Package machine declares the legal life of a task, states, events, guarded edges, invariants, facts, offers, effects
// and timers, and judges one step of it. [Machine.Step] is pure: it reads no clock, does no I/O and starts no goroutine.
// Everything that touches the world is in package resume.
//
// A definition is collected by a [Builder] and checked as a whole by Build, which reports every fault at once.
package machine
