// Package projection decides what a model sees for one kind of decision, and what it may answer. Its folder is called
// context, so goimports cannot find it from the name alone:
//
//	import projection "github.com/pawlgo/pawl/context"
//
// A [Decision] is declared beside a machine with [Define], which checks it as a whole: every allowed event has an edge,
// every fact that a guard of an allowed event reads is shown or hidden for a stated reason, and nothing secret is shown.
// [Decision.View] turns a snapshot into a [View]: the least context for that decision, as Markdown and as JSON, with the
// schema of each answer that is open now. The View alone reads answers, [View.Read] and [View.Call], and whatever it
// reads is a proposal: based on the version that was shown, with the digest of what was shown.
//
// A view never holds a task's id, a version, a reference, a key or the history. Text that others wrote is always quoted,
// on one line: it can neither open a heading or a fence nor pass for a status.
package projection
