// Package exchange is the outside world of the trading example: an exchange that plays back a day of prices, and the broker that
// keeps the position. It runs as a process of its own and is reached by HTTP on loopback.
//
// A parent process starts it with [Launch], which runs a child that calls [Main]; a test runs it in its own process with [Serve].
// Both talk to it through a [Client]. The protocol is JSON over HTTP/1.1:
//
//	GET  /quotes/{symbol}                 Quote
//	GET  /positions/{symbol}              Position
//	POST /orders                          Request -> Order; a rejection is 422
//	GET  /orders?client_order_id=ID       Order with its fills, or 404 with code "no_order": surely nothing
//	GET  /orders/open                     []Order: those that can still be filled
//	GET  /orders/all                      []Order, oldest first
//
// An order is filled at once as far as there is somebody to trade with, and what is left is cancelled; so it never stands among
// the open ones, and neither does one that was rejected. Whoever looks only there does not find what has happened (field case
// B015). An order is found by its client order id.
//
// What the driver of the story may do to the world stands under /admin/, has no authentication, and is reached on loopback only.
// The exchange keeps its book in memory: in this story it is the desk that dies.
//
// # Time
//
// The exchange's time is what the story says it is; it does not go on by itself.
package exchange
