package resume_test

import (
	"context"
	"testing"

	"github.com/pawlgo/pawl/machine"
	"github.com/pawlgo/pawl/store"
	"github.com/stretchr/testify/require"
)

// Another task uses the message up between what a proposal was judged on and its write: the write is refused by the resource.
func TestAttackMessageUsedBeforeTheWrite(t *testing.T) {
	d := newLab(t)
	a, b := d.decide("lab1", "pen"), d.decide("lab2", "pen")
	toA, toB := d.reply(a.Offers()[0].ID, "yes").Identified("msg1"), d.reply(b.Offers()[0].ID, "yes").Identified("msg1")
	st := &bent{Store: d.st}
	d.st = st
	late, err := d.lab(nil).Resume(d.ctx, "lab2", alice)
	require.NoError(t, err)
	st.commit = func(ctx context.Context, c *store.Commit) (store.Tip, error) {
		st.mu.Lock()
		st.commit = nil
		st.mu.Unlock()
		d.commits(a, buys("pen"), toA)
		return st.Store.Commit(ctx, c)
	}
	out := d.refuses(late, buys("pen"), toB)
	require.Equal(t, machine.CodeNotEvidence, out.Code())
	require.Empty(t, late.Offers()[0].Answers)
}
