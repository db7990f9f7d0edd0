// Package pawl is the root of a framework for long-lived tasks in agent services. It holds no code: see guard, machine,
// context (package projection), store, store/pebblestore and resume, and the README for a first program.
package pawl
