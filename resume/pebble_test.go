package resume_test

import (
	"context"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/pawlgo/pawl/examples/refund/refund"
	"github.com/pawlgo/pawl/machine"
	"github.com/pawlgo/pawl/store"
	"github.com/pawlgo/pawl/store/pebblestore"
	"github.com/stretchr/testify/require"
)

// pebbleDesk is a desk on Pebble, on a disk in memory that can lose what was not synced.
type pebbleDesk struct {
	*desk
	fs  *vfs.MemFS
	dir string
	st  *pebblestore.Store
}

func newPebbleDesk(t *testing.T) *pebbleDesk {
	d := &pebbleDesk{desk: newDesk(t), fs: vfs.NewCrashableMem(), dir: "store"}
	d.power()
	return d
}

// power opens the store on what is on the disk.
func (d *pebbleDesk) power() {
	st, err := pebblestore.Open(d.dir, pebblestore.Options{FS: d.fs, Now: d.clock})
	require.NoError(d.t, err)
	d.st, d.desk.st = st, st
	d.ctl = d.open(nil)
	d.t.Cleanup(func() { _ = st.Close() }) // a store that was cut off reports what it likes
}

// cut takes the power away: everything that was not synced is lost, and the task goes on from what is there.
func (d *pebbleDesk) cut() {
	old := d.st
	d.fs = d.fs.CrashClone(vfs.CrashCloneCfg{})
	require.NoError(d.t, old.Close())
	d.power()
}

// The power fails after each step of the path; every acknowledged commit is there, and the refund happens once.
func TestPowerFailsAfterEachStep(t *testing.T) {
	d := newPebbleDesk(t)
	d.asked()
	d.cut()
	d.sleep(24 * time.Hour)
	s := d.resume()
	require.Equal(t, refund.AwaitingUserConfirmation, s.State())
	d.commits(s, refund.AskAgain.With(refund.Question{Text: "Shall I?"}))
	d.cut()
	s = d.resume()
	d.commits(s, refund.ConfirmRefund.With(confirm), d.says(s, "yes, refund it"))
	d.cut()
	require.Len(t, d.resume().Snapshot().Intents, 1)

	d.world.send = func(_ context.Context, j job) (record, error) { d.pay(j); return record{}, errReset }
	d.work()
	d.cut()
	require.Equal(t, "unknown", status(t, d.desk, d.resume()))
	d.sleep(time.Minute)
	d.work()
	d.cut()
	s = d.resume()
	require.Equal(t, refund.Refunded, s.State())
	require.Len(t, d.world.sent, 1)
	require.Len(t, d.world.ledger, 1)

	versions := uint64(0)
	for e, err := range s.History(d.ctx) {
		require.NoError(t, err)
		require.Equal(t, s.Version()-versions, e.Version)
		versions++
	}
	require.Equal(t, s.Version(), versions)
	for p, err := range d.st.Verify(d.ctx) {
		require.NoError(t, err)
		require.Fail(t, "the store found a problem", "%+v", p)
	}
}

// A record whose bytes no longer make sense is an error that names the task, never an empty task.
func TestStoredBytesThatDoNotFit(t *testing.T) {
	d := newDesk(t)
	meta := store.Meta{Machine: "refund", State: "checking_eligibility", Owner: "alice"}
	for id, r := range map[string]store.Record{
		"garbage":       {Meta: meta, Snapshot: []byte("garbage"), Entry: []byte("{}")},
		"empty":         {Meta: meta, Snapshot: []byte("{}"), Entry: []byte("{}")},
		"newer":         {Meta: meta, Snapshot: []byte(`{"task_id":"newer","machine":"refund","definition":2,"digest":"x","state_version":1,"status":"checking_eligibility","data":{}}`), Entry: []byte("{}")},
		"other_machine": {Meta: store.Meta{Machine: "nobody_knows", State: "x"}, Snapshot: []byte("{}"), Entry: []byte("{}")},
	} {
		r.Task = id
		_, err := d.st.Commit(d.ctx, &store.Commit{Record: r})
		require.NoError(t, err, id)
		_, err = d.ctl.Resume(d.ctx, id, alice)
		require.Error(t, err, id)
		require.ErrorContains(t, err, id)
		require.NotErrorIs(t, err, machine.ErrTask)
	}
}
