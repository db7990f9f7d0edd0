//go:build !race

package pebblestore

// thinned is how much less the tests of every point do: nothing is left out.
const thinned = 1
