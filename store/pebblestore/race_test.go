//go:build race

package pebblestore

// thinned is how much less the tests of every point do under the race detector, which makes them ten times as slow and
// looks for something else: they are whole without it.
const thinned = 4
