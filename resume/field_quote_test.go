package resume_test

import (
	"context"
	"testing"
	"time"

	"github.com/pawlgo/pawl/guard"
	"github.com/pawlgo/pawl/machine"
	"github.com/pawlgo/pawl/resume"
	"github.com/pawlgo/pawl/store"
	"github.com/stretchr/testify/require"
)

// Field case B085: a swap is asked about at a quoted price, which is good for half a minute and may move by half a percent.
type (
	swap struct {
		Pair string `json:"pair" validate:"required" about:"pair"`
	}
	take struct {
		Pair  string `json:"pair" validate:"required" about:"pair"`
		Price int64  `json:"price" validate:"min=1"` // in cents
	}
	swapCase[P any] = guard.Case[swap, P]
)

var (
	quote     = guard.NewFact[int64]("quote", guard.From("market"), guard.About("pair"), guard.MaxAge(30*time.Second))
	slippage  = guard.Collar{BasisPoints: 50}
	askToTake = machine.NewEvent[machine.None]("ask_to_take")
	takeIt    = machine.NewEvent[take]("take_it")
	waitOn    = machine.NewEvent[machine.None]("wait_on")
)

func swaps() *machine.Machine[swap] {
	b := machine.New[swap]("swaps", "looking")
	b.Final("taken")
	machine.On(b, askToTake).From("looking").To("asked_price").By(guard.User).Require(guard.Known(quote)).
		Then(machine.Offer(takeIt, machine.TaskOwner, time.Hour, func(c swapCase[machine.None]) []take {
			now, _ := quote.Get(c)
			return []take{{c.Data.Pair, now}}
		}))
	machine.On(b, takeIt).From("asked_price").To("taken").By(guard.User).Fresh(quote).
		Check("within_slippage", func(c swapCase[take]) guard.Verdict {
			now, _ := quote.Get(c)
			return slippage.Check(c.Payload.Price, now)
		}, quote).
		Confirm(agreed)
	machine.On(b, waitOn).From("asked_price").To("looking").By(guard.User)
	return b.MustBuild()
}

// market is a desk of swaps whose quote tests can bend.
type market struct {
	*desk
	price int64
	since time.Time // when the market quoted it
}

func newMarket(t *testing.T) (*market, *resume.Session) {
	d := &market{desk: newDesk(t), price: 20000}
	d.since = d.clock()
	d.st = store.NewMemory(store.MemoryOptions{Now: d.clock})
	m := swaps()
	ctl, err := resume.Open(d.ctx, d.st, resume.Config{Machines: []machine.Definition{m}, Trust: []*guard.Authority{d.chat},
		Observers: []resume.Observer{resume.Pull(quote, func(_ context.Context, q guard.Query) (guard.Observed[int64], error) {
			return guard.Observed[int64]{Value: d.price, Subject: q.Subject, At: d.since}, nil
		})}})
	require.NoError(t, err)
	s, err := ctl.Start(d.ctx, m.Task("t1", alice, swap{"XY"}), alice)
	require.NoError(t, err)
	return d, s
}

// moves is a new quote.
func (d *market) moves(price int64) { d.price, d.since = price, d.clock() }

func (d *market) agrees(s *resume.Session) guard.Observation {
	return agreed.Observe(d.chat, guard.Observed[guard.Reply]{Value: guard.Reply{By: "alice", Choice: guard.ChoiceYes}, Subject: s.Offers()[0].ID, At: d.clock()})
}

// Case B085: nobody is asked about a quote that has run out.
func TestB085ExpiredQuoteOpensNothing(t *testing.T) {
	d, s := newMarket(t)
	d.sleep(31 * time.Second) // and the market has no other
	out := d.refuses(s, askToTake.With(machine.None{}).As(guard.User))
	require.Equal(t, machine.NeedsEvidence, out.Kind)
	require.Equal(t, "quote", out.Missing[0].Fact)
	require.Empty(t, s.Offers())
	d.moves(20000)
	d.commits(s, askToTake.With(machine.None{}).As(guard.User))
	require.Equal(t, int64(20000), s.Offers()[0].Payload.(take).Price)
}

// Case B085: the question was put in time and answered late. The price is observed again; it has moved by 75 parts of ten thousand, and
// the yes to the old one buys nothing. The new one is asked about anew.
func TestB085PriceMovedBeforeTheAnswer(t *testing.T) {
	d, s := newMarket(t)
	d.sleep(29 * time.Second)
	d.commits(s, askToTake.With(machine.None{}).As(guard.User))
	said := d.agrees(s)
	d.sleep(16 * time.Second)
	d.moves(20150)
	out := d.refuses(s, takeIt.With(take{"XY", 20000}).As(guard.User), said)
	require.Equal(t, machine.Refused, out.Kind)
	require.Contains(t, codesOf(out), guard.CodeOutsideCollar)
	require.Empty(t, s.Offers(), "what it stood on has changed")
	require.Equal(t, machine.CodeNotOffered, d.refuses(s, takeIt.With(take{"XY", 20150}).As(guard.User), said).Code())
	d.commits(s, waitOn.With(machine.None{}).As(guard.User))
	d.commits(s, askToTake.With(machine.None{}).As(guard.User))
	d.commits(s, takeIt.With(take{"XY", 20150}).As(guard.User), d.agrees(s))
}
