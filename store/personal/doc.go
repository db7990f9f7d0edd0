// Package personal keeps personal data encrypted in a store, each person's under a key of its own that is kept elsewhere.
// To erase a person is to destroy the key: from then on what was written about the person, in every version, every backup and
// every copy, is unreadable, while the records stay and their chain stays verifiable, since it covers the encrypted bytes.
//
// What is personal is declared by the names of JSON members. Every text at or below such a member, anywhere in the snapshot
// and the entry of a record and in the body of a refused attempt, is encrypted under the key of the owner of the record. What
// is no text (a number, a truth value) cannot be replaced without changing its type, and is refused there. Everything else
// stays as it is, byte for byte: what must never leave with a person, such as amounts, is not declared.
//
// The same text of the same task under the same key gives the same bytes, so that versions compress well and a repeated commit
// has the same hash; it shows who can read the store that two texts of one task are equal, and about how long they are. The
// names of tasks, owners, effects, resources and used-up names are not encrypted, nor are the bodies of effects, which are
// removed when an effect is settled: put no personal data there.
package personal
