package resume_test

import (
	"context"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"
	"github.com/pawlgo/pawl/examples/refund/refund"
	"github.com/pawlgo/pawl/guard"
	"github.com/pawlgo/pawl/machine"
	"github.com/pawlgo/pawl/resume"
	"github.com/pawlgo/pawl/store"
	"github.com/pawlgo/pawl/store/pebblestore"
	"github.com/stretchr/testify/require"
)

// mute is a store that can leave a commit without an answer.
type mute struct {
	bent
	loads int   // of records
	deaf  error // what Tip fails with, when it fails
}

func (m *mute) Load(ctx context.Context, task string) (store.Record, []store.Effect, error) {
	m.loads++
	return m.bent.Load(ctx, task)
}

func (m *mute) Tip(ctx context.Context, task string) (store.Tip, error) {
	if m.deaf != nil {
		return store.Tip{}, m.deaf
	}
	return m.bent.Tip(ctx, task)
}

// lands commits, and loses the answer.
func (m *mute) lands(ctx context.Context, c *store.Commit) (store.Tip, error) {
	tip, err := m.Store.Commit(ctx, c)
	if err != nil {
		return tip, err
	}
	return store.Tip{}, &store.UncertainError{Task: c.Task, Tip: tip, Cause: errReset}
}

// sinks does not commit, and nobody knows.
func (m *mute) sinks(_ context.Context, c *store.Commit) (store.Tip, error) {
	return store.Tip{}, &store.UncertainError{Task: c.Task, Tip: store.Tip{Version: c.Base.Version + 1, Hash: [32]byte{1}}, Cause: errReset}
}

func newMuteDesk(t *testing.T) (*desk, *mute) {
	d := newDesk(t)
	m := &mute{bent: bent{Store: d.st}}
	d.st = m
	d.ctl = d.open(nil)
	return d, m
}

func aNote(text string) machine.Proposal {
	return refund.LeaveNote.With(refund.Note{Text: text}).As(guard.User)
}

// A commit that landed and whose answer was lost is known by its hash: the outcome is the commit, and session and cache stand at
// the new version.
func TestCommitWhoseAnswerWasLost(t *testing.T) {
	d, m := newMuteDesk(t)
	s := d.asked()
	v := s.Version()
	m.commit = m.lands
	loads := m.loads
	out := d.commits(s, aNote("x"))
	require.False(t, out.Replayed)
	require.Equal(t, v+1, out.Version)
	require.Equal(t, v+1, s.Version())
	require.Equal(t, v+1, d.resume().Version())
	require.Equal(t, loads, m.loads, "the new version was in the cache")
	r, _ := d.kept()
	require.Equal(t, v+1, r.Tip.Version)
	m.commit = nil
	d.commits(s, aNote("y"))
}

// Every answer is lost, from the start to the receipt: the story goes on, and the refund happens once.
func TestEveryAnswerIsLost(t *testing.T) {
	d, m := newMuteDesk(t)
	m.commit = m.lands
	d.dispatched()
	d.work()
	s := d.resume()
	require.Equal(t, refund.Refunded, s.State())
	require.Equal(t, []string{d.key()}, d.world.sent)
	versions := uint64(0)
	for _, err := range s.History(d.ctx) {
		require.NoError(t, err)
		versions++
	}
	require.Equal(t, uint64(4), versions, "started, asked, confirmed, settled")
}

// A commit that did not land is an error that says that it may have: nothing is changed, and the same proposal commits once.
func TestCommitThatDidNotLand(t *testing.T) {
	d, m := newMuteDesk(t)
	s := d.asked()
	before, _ := d.kept()
	p, says := refund.ConfirmRefund.With(confirm).Keyed("click-1"), d.says(s, "yes, refund it")
	m.commit = m.sinks
	out, err := s.Propose(d.ctx, p, says)
	require.ErrorIs(t, err, store.ErrUncertain)
	require.ErrorIs(t, err, errReset)
	require.NotErrorIs(t, err, store.ErrConflict)
	require.Zero(t, out)
	require.Equal(t, before.Tip.Version, s.Version())
	require.Equal(t, refund.AwaitingUserConfirmation, s.State())
	after, effects := d.kept()
	require.Equal(t, before, after)
	require.Empty(t, effects)

	m.commit = nil
	require.False(t, d.commits(s, p, says).Replayed)
	require.True(t, d.commits(s, p, says).Replayed)
	d.work()
	require.Len(t, d.world.ledger, 1)
}

// Another's commit at the version that ours would have made is not ours: the hash tells, not the number.
func TestAnothersCommitIsNotTakenForOurs(t *testing.T) {
	d, m := newMuteDesk(t)
	s, other := d.asked(), d.resume()
	m.commit = func(ctx context.Context, c *store.Commit) (store.Tip, error) {
		m.commit = nil
		d.commits(other, aNote("theirs"))
		return m.sinks(ctx, c)
	}
	v := s.Version()
	_, err := s.Propose(d.ctx, aNote("ours"))
	require.ErrorIs(t, err, store.ErrUncertain)
	require.Equal(t, v, s.Version())
	require.Equal(t, machine.Conflict, d.refuses(s, aNote("ours").BasedOn(v)).Kind)
}

// When nobody can be asked what became of the commit, that is said; asked later, it is found again and not made twice.
func TestNobodyKnowsYet(t *testing.T) {
	d, m := newMuteDesk(t)
	s := d.asked()
	v := s.Version()
	m.commit = func(ctx context.Context, c *store.Commit) (store.Tip, error) {
		m.deaf = errReset
		return m.lands(ctx, c)
	}
	_, err := s.Propose(d.ctx, aNote("x"))
	require.ErrorIs(t, err, store.ErrUncertain)
	require.Equal(t, v, s.Version())
	m.commit, m.deaf = nil, nil
	out := d.commits(s, aNote("x").BasedOn(v))
	require.True(t, out.Replayed)
	require.Equal(t, v+1, out.Version)
}

// The disk runs full under a commit: the caller hears that the store has failed and why, everybody else does too, and the
// process lives. Opened again with room on the disk, the task goes on from where it stood, and the refund happens once.
func TestDiskRunsFullUnderACommit(t *testing.T) {
	for _, powerCut := range []bool{false, true} {
		d := newDesk(t)
		disk := vfs.NewCrashableMem()
		var full atomic.Bool
		fs := errorfs.Wrap(disk, errorfs.InjectorFunc(func(op errorfs.Op) error {
			if full.Load() && op.Kind.ReadOrWrite() == errorfs.OpIsWrite {
				return syscall.ENOSPC
			}
			return nil
		}))
		ctx, stop := context.WithCancel(d.ctx) // ends a Run that would try again
		open := func(fs vfs.FS) {
			st, err := pebblestore.Open("store", pebblestore.Options{FS: fs, Now: d.clock, CacheBytes: 1 << 20})
			require.NoError(t, err)
			d.st = st
			d.ctl = d.open(func(c *resume.Config) { c.Problem = func(error) { stop() } })
		}
		open(fs)
		s := d.asked()
		v := s.Version()
		p, says := refund.ConfirmRefund.With(confirm).Keyed("click-1").BasedOn(v), d.says(s, "yes, refund it")
		full.Store(true)
		out, err := s.Propose(d.ctx, p, says)
		require.ErrorIs(t, err, store.ErrFailed)
		require.ErrorIs(t, err, syscall.ENOSPC)
		require.Zero(t, out)
		require.Equal(t, v, s.Version())
		d.failed(ctx, s)
		_ = d.st.Close() // of a store that has failed

		full.Store(false)
		left := disk
		if powerCut {
			left = disk.CrashClone(vfs.CrashCloneCfg{})
		}
		open(left)
		s = d.resume()
		require.Contains(t, []uint64{v, v + 1}, s.Version())
		d.commits(s, p, says)
		require.Equal(t, v+1, s.Version())
		d.work()
		require.Equal(t, refund.Refunded, d.resume().State())
		require.Len(t, d.world.sent, 1)
		require.NoError(t, d.st.Close())
	}
}

// failed sees that a store that has failed says so to everybody, and that Run gives up.
func (d *desk) failed(ctx context.Context, s *resume.Session) {
	_, err := s.Propose(d.ctx, aNote("x"))
	require.ErrorIs(d.t, err, store.ErrFailed)
	_, err = s.Report(d.ctx)
	require.ErrorIs(d.t, err, store.ErrFailed)
	_, err = d.ctl.Resume(d.ctx, taskID, alice)
	require.ErrorIs(d.t, err, store.ErrFailed)
	_, err = d.ctl.Waiting(d.ctx, alice)
	require.ErrorIs(d.t, err, store.ErrFailed)
	require.ErrorIs(d.t, d.ctl.Work(d.ctx), store.ErrFailed)
	require.ErrorIs(d.t, d.ctl.Run(ctx), store.ErrFailed)
}
