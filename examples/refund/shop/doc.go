// Package shop is the outside world of the refund example: an order service, a policy service and a payment
// service, which run as one process of their own with a durable ledger and are reached by HTTP on loopback.
//
// A parent process starts it with [Launch], which runs a child that calls [Main]; a test runs it in its own
// process with [Serve]. Both talk to it through a [Client]. The protocol is JSON over HTTP/1.1:
//
//	GET  /orders/{id}                     Order
//	GET  /policy/eligibility?order=ID     Eligibility
//	POST /payments/refunds                RefundRequest, header Idempotency-Key -> Refund (201, or 200 when stored)
//	GET  /payments/refunds?key=KEY        Refund, or 404 with code "no_refund": surely nothing
//	GET  /payments/ledger                 []Refund, oldest first
//
// What the driver of the story may do to the world stands under /admin/, has no authentication, and is
// reached on loopback only; see [Client.SetFault] and its neighbours.
//
// # Webhooks
//
// Every refund is announced by a POST to the registered URL, whose body is an [Event] and which carries the
// header "Shop-Signature: t=UNIX,v1=HEX". UNIX is the time of this attempt in seconds on the shop's clock; HEX
// is the lower-case hexadecimal HMAC-SHA256, under the shared secret, of the bytes "UNIX.BODY": the same
// decimal digits, one dot, and the raw body. Any 2xx answer acknowledges it. An event is sent at least once, so
// a receiver deduplicates by its id; it is tried a bounded number of times, and again after a restart of the
// shop or a new registration.
//
// # Time
//
// The shop's clock is the machine's clock plus an offset, since the second day of the story is simulated.
package shop
