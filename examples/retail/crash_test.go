package main

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlgo/pawl/examples/retail/retail"
	"github.com/pawlgo/pawl/guard"
	"github.com/pawlgo/pawl/machine"
	"github.com/pawlgo/pawl/resume"
	"github.com/pawlgo/pawl/store"
)

// A process that ends between a write and its receipt leaves an intent. A worker asks for the same key again, gets the record
// of the one write, and the money has moved once.
func TestAWriteWhoseReceiptWasLostIsMadeOnce(t *testing.T) {
	ctx, ann := t.Context(), guard.Principal{ID: "customer_of_1"}
	s, err := load(os.DirFS("testdata"))
	require.NoError(t, err)
	chat := guard.NewAuthority("customer_channel")
	ctl, err := resume.Open(ctx, store.NewMemory(store.MemoryOptions{}), resume.Config{
		Machines: []machine.Definition{retail.Machine}, Observers: s.Observers(), Effects: s.Handlers(), Trust: append(s.Trust(), chat),
	})
	require.NoError(t, err)
	task, w := s.Begin("retail:1", "tau1", ann)
	desk, err := ctl.Start(ctx, task, ann)
	require.NoError(t, err)
	propose := func(p machine.Proposal) machine.Outcome {
		out, err := desk.Propose(ctx, p)
		require.NoError(t, err)
		require.NoError(t, out.Err())
		return out
	}
	propose(retail.FindByEmail.With(retail.ByEmail{Email: "Ann.Lee@example.com"}))
	cancel := retail.Cancel{OrderID: "#W1", Reason: "no longer needed"}
	listed := propose(retail.ListWrites.With(retail.Listing{
		Cancel: []retail.Cancel{cancel}, ModifyAddress: []retail.Readdress{}, ModifyPayment: []retail.Repay{}, ModifyItems: []retail.Swap{},
		Return: []retail.Return{}, Exchange: []retail.Swap{}, ModifyUser: []retail.MoveHouse{},
	}))
	yes, err := desk.Observe(ctx, retail.Reply.Observe(chat, guard.Observed[guard.Reply]{
		Value: guard.Reply{By: ann.ID, Text: "Yes, please go ahead.", Shown: &guard.Shown{Message: "m1", At: listed.Offers[0].OpenedAt}}, Subject: listed.Offers[0].ID}))
	require.NoError(t, err)
	require.NoError(t, yes.Err())

	written := propose(retail.CancelOrder.With(cancel))
	require.Len(t, written.Intents, 1)
	_, err = w.Perform(written.Intents[0]) // and here the process ends
	require.NoError(t, err)
	before := w.Changes()

	require.NoError(t, ctl.Work(ctx))
	desk, err = ctl.Resume(ctx, "retail:1", ann)
	require.NoError(t, err)
	intent, ok := desk.Snapshot().Intent(written.Intents[0].Key)
	require.True(t, ok)
	require.Equal(t, machine.Confirmed, intent.Status)
	require.Equal(t, before, w.Changes())
}

func TestNothingElseCanBeChangedFromOutside(t *testing.T) {
	s, err := load(os.DirFS("testdata"))
	require.NoError(t, err)
	_, w := s.Begin("retail:1", "tau1", guard.Principal{ID: "c"})
	require.NoError(t, w.Set([]string{"orders", "#W1", "status"}, []byte(`"processed"`)))
	require.Error(t, w.Set([]string{"orders", "#W1", "user_id"}, []byte(`"bob_ray_1002"`)))
	require.Error(t, w.Set([]string{"orders", "#W1", "status"}, []byte(`7`)))
	require.Error(t, w.Set(nil, nil))
}
