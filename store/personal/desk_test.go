package personal_test

import (
	"context"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/stretchr/testify/require"

	"github.com/pawlgo/pawl/examples/refund/money"
	"github.com/pawlgo/pawl/examples/refund/refund"
	"github.com/pawlgo/pawl/guard"
	"github.com/pawlgo/pawl/machine"
	"github.com/pawlgo/pawl/resume"
	"github.com/pawlgo/pawl/store/pebblestore"
	"github.com/pawlgo/pawl/store/personal"
)

func source[T any](f guard.Fact[T], value T) resume.Observer {
	return resume.Pull(f, func(_ context.Context, q guard.Query) (guard.Observed[T], error) {
		return guard.Observed[T]{Value: value, Subject: q.Subject, Ref: "source/1"}, nil
	})
}

// TestDeskOnAPersonalStore checks that a controller works on a store whose personal data is encrypted, across restarts and after
// the person was forgotten, and that the customer's words never reach the store below.
func TestDeskOnAPersonalStore(t *testing.T) {
	fs := vfs.NewMem()
	keys, err := personal.OpenFiles(t.TempDir())
	require.NoError(t, err)
	var below *pebblestore.Store
	open := func() (*personal.Store, *resume.Controller) {
		below, err = pebblestore.Open("db", pebblestore.Options{FS: fs})
		require.NoError(t, err)
		s, err := personal.Wrap(below, keys, "notes", "text")
		require.NoError(t, err)
		never := func(context.Context, machine.Job[refund.Payment]) (refund.Record, error) { panic("not sent here") }
		ctl, err := resume.Open(ctx, s, resume.Config{
			Machines: []machine.Definition{refund.Machine},
			Trust:    []*guard.Authority{guard.NewAuthority("customer_channel")},
			Observers: []resume.Observer{source(refund.OrderOwner, "alice"), source(refund.OrderStatus, refund.OrderOpen),
				source(refund.Eligible, refund.Eligibility{Eligible: true, Policy: "v7"})},
			Effects: []resume.Handler{resume.Perform(refund.IssueRefund, never,
				func(ctx context.Context, j machine.Job[refund.Payment]) (refund.Record, bool, error) {
					r, err := never(ctx, j)
					return r, false, err
				})},
		})
		require.NoError(t, err)
		return s, ctl
	}
	alice := guard.Principal{ID: "alice"}
	const secret = "my late mother bought it"
	_, ctl := open()
	_, err = ctl.Start(ctx, refund.Machine.Task("refund_order_1", alice, refund.Refund{
		OrderID: "1", Amount: money.Money{Minor: 4300, Currency: "EUR"}, Notes: []string{secret},
	}), alice)
	require.NoError(t, err)
	move := func(ctl *resume.Controller, p machine.Proposal) {
		session, err := ctl.Resume(ctx, "refund_order_1", alice)
		require.NoError(t, err)
		out, err := session.Propose(ctx, p)
		require.NoError(t, err)
		require.NoError(t, out.Err())
	}
	move(ctl, refund.RequestRefund.With(machine.None{}).As(guard.User))
	require.NoError(t, below.Close())

	s, _ := open()
	rec, _, err := s.Load(ctx, "refund_order_1")
	require.NoError(t, err)
	require.Contains(t, string(rec.Snapshot), secret)
	raw, _, err := below.Load(ctx, "refund_order_1")
	require.NoError(t, err)
	require.NotContains(t, string(raw.Snapshot)+string(raw.Entry), secret)
	require.NoError(t, s.Forget(ctx, "alice"))
	require.NoError(t, below.Close())

	s, ctl = open()
	session, err := ctl.Resume(ctx, "refund_order_1", alice)
	require.NoError(t, err, "what is not personal stays readable")
	require.NotEmpty(t, session.State())
	rec, _, err = s.Load(ctx, "refund_order_1")
	require.NoError(t, err)
	require.Contains(t, string(rec.Snapshot), `"notes":["[erased]"]`)
	for p, err := range s.Verify(ctx) {
		require.NoError(t, err)
		require.Fail(t, p.What)
	}
	require.NoError(t, below.Close())
}
