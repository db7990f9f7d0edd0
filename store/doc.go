// Package store is the persistence contract of pawl: bytes and versions.
//
// A store keeps tasks. A task is a chain of records, one per version; only [Store.Commit] adds one,
// and one transaction is one commit of one task: its record, its index rows, its effects, the names it
// uses up and the resources it swaps land together, synced, or not at all. A store knows nothing of
// machines: it never looks into a snapshot, an entry or a body, and a commit is data, never a callback.
//
// # Promises
//
// Every store keeps these, and storetest.Exercise (package store/storetest) checks them one by one:
//
//   - acknowledged means durable; a commit that was refused leaves no byte;
//   - a commit lands only on the tip it was judged on, compared by version and hash;
//   - conditions of time are judged under the task's lock on the store's own clock, which never goes back;
//   - nobody reads what is not durable yet;
//   - a corrupt record is an error, never an empty task; an erased id is never used again;
//   - what the store keeps it has copied, and what it hands out belongs to the caller.
//
// # Order and time
//
// Instants are [Micros]. Order is bytewise, never by locale. Everything has a limit (see the Max constants);
// past it the error is [ErrTooBig] or [ErrInvalid] and nothing changes.
package store
