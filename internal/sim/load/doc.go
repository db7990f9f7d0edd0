// Package load keeps many sessions busy with many open tasks on one store, and counts: no acknowledged commit may be lost, and memory
// may not grow with the time that it goes on.
package load
