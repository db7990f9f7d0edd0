// Package machinetest checks definitions. [RunTables] runs transition tables that people read in review and says which cells
// they leave out; [Missing] writes the rows for those; [Explore] visits, breadth first, all that a table names; [Actions] are
// random walks through it for property tests, and [Drive] takes them to a controller on a store.
//
// A table is a txtar file: prose on top, then sections. Lines that begin with # are comments.
//
//	-- facts --
//	owner = order_owner(123) "alice"
//	yes   = user_confirmation(@confirm_refund) {"by":"alice","text":"yes, refund it"}
//	-- payloads --
//	the_refund = confirm_refund {"order_id":"123","amount":{"minor":4300,"currency":"EUR"}}
//	-- situation new --
//	start refund_order_123 alice {"order_id":"123"}
//	-- situation waiting --
//	from new
//	user/alice request_refund with owner, eligible after 5m
//	-- table --
//	given   | after | facts | by         | event          | payload    | outcome | state | brings | why
//	waiting | 24h   | yes   | user/alice | confirm_refund | the_refund | refused | =     |        | not_owner
//	-- impossible --
//	waiting | lapsed | - | - | the reason why no row can show this cell
//
// A fact of a table is a fact of the machine about a subject, with a value. The subject @event is the open offer of the
// event, $effect the newest intent of the effect. A reply comes right after the question, which was shown as soon as it was put, unless
// its value names another message as "shown", or null. A situation starts a task or goes on from another situation, by legal
// steps only: each is "actor/principal event payload with facts after a time", and must be committed. A row is one step from a
// situation:
//
//   - given names situations; with several, or with several events, the row holds for each of them
//   - after is how long after the situation's last commit, one second when empty
//   - facts arrive with the step: name is observed now, name=1h ago at the source an hour ago, name=stale just too long ago,
//     name=asked as the answer to a question; name=unknown brings nothing and claims that nothing is recorded; effect=unsent
//     says that the newest intent of an effect was not sent, without which it may have been
//   - by is actor/principal, with roles as actor/principal+role; observer, with no event, brings the facts alone
//   - event is a declared event or an effect's own; "event based on 3" names the version that the proposer had seen
//   - payload is the name of a payload or JSON (a bar in it is written \u007c); empty, it is the first one named for the
//     event, {} when none is; $effect in JSON stands for the key of the newest intent
//   - outcome, state (= for the same), brings and why are expectations: "go test -update" writes them, and aligns the columns
//   - leaves, which a section may have as one column more, are all the facts of the task after the step, by the names of the table: "=" for
//     those of before, untouched, "-" for none; name=stale needs to be observed again, fact(subject)=disputed is contradicted by its own
//     source. Without the column facts are held only to what brings says of them
//
// Every row is also run a second time and from the stored bytes of its situation, with equal bytes as a result; and Step must
// leave the snapshot that it was given as it was, make no version of a refusal, and give a version that can be stored
// and read back.
//
// A file with a section "impossible" must be complete. Its cells are each state and event without an edge, and each state, event and
// fact that the event's guards read, with each value that the table names, unknown and stale. A line of the section
// excuses cells and gives the reason; * stands for anything. A section "uncovered" excuses cells that nobody has
// written yet, so that only new ones fail; a line that excuses nothing fails, too.
package machinetest
