// Package days simulates a refund desk through many days in virtual time, from one seed: customers who answer, contradict
// themselves and answer late, a model that proposes at random, a payment service that loses calls and answers, is late, says
// wrong amounts and forgets its keys, and two controllers on one store, each of which dies now and then between any two calls
// of the store. The oracle is the laws: see [Check].
//
// Everything happens in one goroutine's order and every choice comes from the seed, so a failure is seen again with it.
package days
