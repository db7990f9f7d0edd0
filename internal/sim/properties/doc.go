// Package properties holds a controller on a real Pebble store to eight properties, on random walks that rapid draws: tasks begin,
// sources speak and contradict themselves, owners answer, liars propose, workers work, the provider loses replies, the power
// fails. Each property has a name from P1 to P8, and for each there is a seeded bug that it must catch.
//
//	P1  the provider sees an effect at most once for each task, event and payload
//	P2  every committed version satisfies the invariants; what is refused leaves the stored bytes as they were
//	P3  observations in any order, and repeated, end in the same facts
//	P4  nothing that a model, a note or a tool says becomes a confirmation, an authorization or an end
//	P5  what is stored reads back as it was; what was cut off anywhere is noticed
//	P6  a view holds the facts that its events' guards read, no secret, no other task's id, and the same bytes for the same state
//	P7  a fact that becomes unknown lets nothing pass that was blocked
//	P8  other dates and another time zone change no outcome
package properties
