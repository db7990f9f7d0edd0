package refund_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/pawlgo/pawl/examples/refund/refund"
	"github.com/pawlgo/pawl/guard"
	"github.com/pawlgo/pawl/machine"
	"github.com/pawlgo/pawl/machine/machinetest"
	"github.com/pawlgo/pawl/resume"
	"github.com/pawlgo/pawl/store/pebblestore"
)

// deskDriver is a controller on a Pebble store, on a disk that forgets what was not synced. It is a machinetest.Driver.
type deskDriver struct {
	ctx   context.Context
	hands []*guard.Authority
	now   time.Time
	fs    *vfs.MemFS
	st    *pebblestore.Store
	ctl   *resume.Controller
}

// open opens store and controller on what is on the disk.
func (d *deskDriver) open() (err error) {
	if d.st, err = pebblestore.Open("desk", pebblestore.Options{FS: d.fs, Now: func() time.Time { return d.now }, CacheBytes: 1 << 20}); err != nil {
		return err
	}
	d.ctl, err = resume.Open(d.ctx, d.st, resume.Config{
		Machines: []machine.Definition{refund.Machine}, Trust: d.hands,
		May: func(guard.Principal, machine.Head) bool { return true }, // the machine's own guards say who may
		Effects: []resume.Handler{resume.Perform(refund.IssueRefund,
			func(context.Context, machine.Job[refund.Payment]) (refund.Record, error) {
				return refund.Record{}, machine.Declined(errors.New("card closed"))
			},
			func(context.Context, machine.Job[refund.Payment]) (refund.Record, bool, error) {
				return refund.Record{}, false, nil
			})},
	})
	return err
}

func (d *deskDriver) Start(t machine.Task, at time.Time) error {
	d.now = at
	_, err := d.ctl.Start(d.ctx, t, guard.Principal{ID: t.Owner})
	return err
}

func (d *deskDriver) Take(task string, s machinetest.Step) (machine.Outcome, error) {
	d.now = s.At
	switch {
	case s.Proposal.Event() == "":
		return d.ctl.Observe(d.ctx, task, s.Observations...)
	case !s.Proposal.Actor().Outside():
		return machine.Outcome{}, d.ctl.Work(d.ctx)
	}
	session, err := d.ctl.Resume(d.ctx, task, s.Principal)
	if err != nil {
		return machine.Outcome{}, err
	}
	return session.Propose(d.ctx, s.Proposal, s.Observations...)
}

func (d *deskDriver) Newest(task string) (machine.Snapshot[any], error) {
	record, _, err := d.st.Load(d.ctx, task)
	if err != nil {
		return machine.Snapshot[any]{}, err
	}
	return machine.Erase(refund.Machine).Decode(record.Snapshot)
}

// Restart fails the power.
func (d *deskDriver) Restart() error {
	old := d.st
	d.fs = d.fs.CrashClone(vfs.CrashCloneCfg{})
	_ = old.Close() // a store that was cut off reports what it likes
	return d.open()
}

// TestDrive goes through random days at the desk with a controller on a store, whose power fails now and then. It does what the pure
// machine does, to the byte.
func TestDrive(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var d *deskDriver
		actions, err := machinetest.Drive(refund.Machine, "testdata/refund.txtar", func(hands []*guard.Authority) (machinetest.Driver, error) {
			d = &deskDriver{ctx: t.Context(), hands: hands, fs: vfs.NewCrashableMem()}
			return d, d.open()
		})
		require.NoError(t, err)
		t.Repeat(actions)
		require.NoError(t, d.st.Close())
	})
}
