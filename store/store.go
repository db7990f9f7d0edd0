package store

import (
	"context"
	"iter"
)

// Store keeps tasks. It is safe for concurrent use. Every method returns [ErrClosed] after Close, and
// [ErrFailed] once the store has met an error it cannot recover from without being opened again.
// A context is looked at before work begins and again when its turn has come; a commit that has begun to write is not
// abandoned. Task ids that [CheckTask] refuses are [ErrInvalid] everywhere.
type Store interface {
	// Info says what this store is.
	Info() Info

	// Now is the clock that judges the conditions of a commit. It never goes back, also not across restarts.
	Now(ctx context.Context) (Micros, error)

	// Tip is the version and hash of the newest durable record. ErrNotFound: no such task. For an erased
	// task it is ErrErased together with the tip of its tombstone.
	Tip(ctx context.Context, task string) (Tip, error)

	// Load returns the newest durable record and the unsettled effects in order of their ids.
	// ErrNotFound, ErrErased, or ErrCorrupt naming task and version.
	Load(ctx context.Context, task string) (Record, []Effect, error)

	// Commit adds the next version of one task and returns its tip after the sync. It fills in c.Tip, c.Prev,
	// c.Changes and, if it was zero, c.At. Judged in this order, under the task's lock: form (ErrInvalid,
	// ErrTooBig), ErrErased, ErrNotFound, ErrConflict, ErrLapsed, ErrTaken (once-names and emitted effects),
	// ErrFenced, ErrSwap (resources that it expects or swaps). ErrUncertain means that it may have landed: open again and compare the hash.
	Commit(ctx context.Context, c *Commit) (Tip, error)

	// History yields durable records from newest down to oldest, both included; zero newest is the tip and
	// zero oldest is the beginning. It checks the chain as it goes, ends at the base of a pruned task, and
	// holds nothing open between the records it yields: a slow reader costs the store nothing.
	History(ctx context.Context, task string, newest, oldest uint64) iter.Seq2[Record, error]

	// Once is the version whose commit used the name up, 0 if none has.
	Once(ctx context.Context, task, name string) (version uint64, err error)

	// Find lists tasks; see Query. Paging is stable: a task that does not change while pages are read
	// is returned exactly once. A page may be short; only an empty next is the end.
	Find(ctx context.Context, q Query) (rows []Row, next string, err error)

	// Due lists tasks whose wake-up has come, earliest first. It is a hint: whoever acts on it commits.
	// Limit is 1 to MaxPage; zero means MaxPage.
	Due(ctx context.Context, s Slots, limit int) ([]Row, error)

	// Claim takes effects that are ready and not held, marks them Sent under the holder until now+hold and
	// raises their revision, durably, before it returns: from then on they may have been sent. Effect.Was tells
	// the status before: only Was == Intent may be sent, anything else is reconciled by lookup.
	// Limit is 1 to MaxPage, zero means MaxPage; holder is 1 to MaxName bytes; hold is positive.
	Claim(ctx context.Context, s Slots, limit int, holder string, hold Micros) ([]Effect, error)

	// Update changes one unsettled effect if its revision is e.Rev, and returns the new revision. It sets
	// status, ready time and body. Intent and Unknown clear the holder. Sent renews: it keeps e.Holder
	// until e.Hold, which must lie ahead. ErrFenced: another revision, or settled.
	Update(ctx context.Context, e Effect) (rev uint64, err error)

	// Effects lists all unsettled effects in a stable order: one that does not change while pages are read is
	// returned exactly once. After is the next of the page before; only an empty next is the end.
	Effects(ctx context.Context, after string, limit int) (es []Effect, next string, err error)

	// Note keeps a refused attempt outside the versions: not synced, the newest MaxAttempts are kept.
	Note(ctx context.Context, task string, a Attempt) error

	// Attempts lists the refused attempts that are kept, newest first.
	Attempts(ctx context.Context, task string) ([]Attempt, error)

	// Close waits for what is running and releases the store. Closing twice is ErrClosed.
	Close() error
}

// Resources is a store whose named resources can be read. Every store whose Info().Swap is true has it.
type Resources interface {
	// Resource returns a durable resource; one that no commit has written yet has revision 0 and no value.
	Resource(ctx context.Context, name string) (Resource, error)
}

// Keeper is a store that can forget, by explicit policy only.
type Keeper interface {
	// Prune removes the records below a version, which must exist, and leaves a base row with the version
	// and hash of the newest one removed, so that the chain above stays verifiable. Unsettled effects,
	// once-names and the tip are never touched. Pruning again below the same version is a no-op. ErrUncounted while
	// the task is [Imported] and not counted.
	Prune(ctx context.Context, task string, below uint64) error

	// Erase removes every byte about a task but a base row and a chained tombstone that holds the entry
	// (who asked and why; nothing personal). The id is never used again. ErrUnsettled while an effect is
	// unsettled, ErrUncounted while it is [Imported] and not counted; erasing an erased task returns its tombstone's tip and ErrErased.
	Erase(ctx context.Context, task string, entry []byte) (Tip, error)
}

// Copier is a store that can be copied while it serves.
type Copier interface {
	// Backup writes a consistent copy to a new directory. Opened, the copy is a new incarnation.
	Backup(ctx context.Context, dir string) error

	// Import adds a task that does not exist yet: its records in rising order, the first of them the first
	// version or the first after a base, and its unsettled effects, which become Unknown and are due at once.
	// The chain and the hashes are kept and checked; a fault anywhere imports nothing. With what it imports the store is a new
	// incarnation: the original may go on elsewhere. Resources are not imported: they belong to many tasks, and a record knows only the
	// hash of their value. A task whose records swap resources, or do not begin at the first version, gets the mark [Imported] in the
	// same write.
	Import(ctx context.Context, task string, records iter.Seq2[Record, error], effects []Effect) error
}

// Verifier is a store that can check itself.
type Verifier interface {
	// Verify reads everything and yields each problem it finds: broken chains, records that do not match
	// their checksums, index rows, timers, effects and names that disagree with the records, orphan keys.
	// It changes nothing. An error ends it.
	Verify(ctx context.Context) iter.Seq2[Problem, error]
}

// Watcher is a store that tells when tasks change.
type Watcher interface {
	// Watch yields the row of each task after it changed, until the context ends. It is a hint: changes of one
	// task may be merged into the newest one, and what happened before the first call to the iterator is not told.
	Watch(ctx context.Context) iter.Seq2[Row, error]
}

// Problem is something Verify found.
type Problem struct {
	Task    string // empty if it belongs to no task
	Version uint64 // 0 if it belongs to no version
	What    string // what is wrong, in words
}

// Info describes a store.
type Info struct {
	ID          [16]byte // drawn at random when the store was created; a copy keeps it
	Incarnation uint64   // 1 when created, one more each time a copy of it begins to live, and with each task that is imported
	Format      int      // of the stored bytes
	Sole        bool     // one process at a time has it open: holders of an earlier open are dead
	Swap        bool     // Commit.Swap and Commit.Expect work, and the store is a Resources
}
