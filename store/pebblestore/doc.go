// Package pebblestore is the embedded store: one process, one directory, Pebble v2 below.
//
// One commit is atomic and synced: a batch, or a part of one that commits of several tasks share when they are ready at
// the same time. Each task has a lock that its commits hold through their sync, and that remembers the task's tip, so a
// commit reads nothing; no lock that all tasks share is held while anything is judged, sealed or written, and Pebble joins the
// syncs of batches. Reads see only what is durable: one that met a write in flight waits for it.
//
// # Keys
//
// 00 ends every string and none contains it; integers are big-endian; ^ inverts.
//
//	t task 00 01 effect         an unsettled effect
//	t task 00 02 ^version       a sealed record (package store), newest first; the oldest may be a base
//	t task 00 03 ^n             a refused attempt
//	k task 00 hash16(name)      the version that used a name up
//	d wake task                 the wake-up of a task
//	o ready task 00 effect      an effect that nobody holds
//	h hold task 00 effect       an effect that somebody holds, by the end of the hold
//	xs machine 00 state 00 since task
//	xo owner 00 final task
//	xw who 00 since task
//	r name                      a resource
//	mid, mclock                 format, identity, incarnation; the clock, and below which instants d, o and h are empty
//
// Rows of d, o, h and x are set once and removed by SingleDelete. A store that failed once (its first failed write
// is its last) answers ErrFailed until it is opened again; the process lives.
package pebblestore
