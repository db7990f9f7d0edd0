// Package crash kills a refund desk at every point at which it touches the world, and sees that the money is paid back once.
//
// What lies between two such points leaves nothing behind, so they are all the points that there are: before and after each
// call of the store, of an observer and of the payment service.
package crash
