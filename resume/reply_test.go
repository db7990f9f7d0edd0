package resume_test

import (
	"testing"

	"github.com/pawlgo/pawl/examples/refund/refund"
	"github.com/pawlgo/pawl/guard"
	"github.com/pawlgo/pawl/machine"
	"github.com/stretchr/testify/require"
)

// What the party said to an offer stands: after a no, or a word that is neither, a later yes to the same offer is not consent
// (DESIGN 8: the party's first message after it). Asked again, it is.
func TestFirstWordToAnOfferStands(t *testing.T) {
	for _, first := range []string{"no", "do NOT send it", "hm, let me think", "continue with yesterday's one"} {
		d := newDesk(t)
		s := d.asked()
		d.refuses(s, refund.ConfirmRefund.With(confirm), d.says(s, first))
		if len(s.Offers()) > 0 {
			d.refuses(s, refund.ConfirmRefund.With(confirm), d.says(s, "yes, refund it"))
			d.refuses(s, refund.ConfirmRefund.With(confirm))
		}
		d.commits(s, refund.AskAgain.With(refund.Question{Text: "Shall I?"}))
		d.commits(s, refund.ConfirmRefund.With(confirm), d.says(s, "yes, refund it"))
	}
}

// A no counts whenever it comes, until the effect is intended.
func TestNoAfterYesStops(t *testing.T) {
	d := newDesk(t)
	s := d.asked()
	out, err := s.Observe(d.ctx, d.says(s, "yes, refund it"))
	require.NoError(t, err)
	require.NoError(t, out.Err())
	stop := refund.Reply.Observe(d.chat, guard.Observed[guard.Reply]{Value: guard.Reply{By: "alice", Text: "wait, do not run that"},
		Subject: s.Offers()[0].ID, At: d.clock()})
	_, err = s.Observe(d.ctx, stop)
	require.NoError(t, err)
	out = d.refuses(s, refund.ConfirmRefund.With(confirm))
	require.Contains(t, []string{machine.CodeDeclined, machine.CodeNotOffered}, out.Code())
}
