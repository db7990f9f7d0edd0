// Package guard says what may be believed: facts and the one authority behind each, observations and the
// evidence they become, verdicts, guards over facts, replies to offers, and strict decoding of payloads.
//
// It knows no states and no events; those are in package machine. Two rules hold everywhere here. Nothing
// that was decoded from bytes is evidence: an [Observation] is made with an [Authority] handle or from a
// verified signature. And a verdict that looked at something unknown or stale is unknown, a denial included,
// so turning any fact into unknown can only turn allowed into blocked.
package guard
