package resume_test

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/pawlgo/pawl/examples/refund/refund"
	"github.com/pawlgo/pawl/guard"
	"github.com/pawlgo/pawl/machine"
	"github.com/pawlgo/pawl/resume"
	"github.com/pawlgo/pawl/store"
	"github.com/stretchr/testify/require"
)

// losing makes the next n commits that match lose a race.
func (b *bent) losing(n int, match func(*store.Commit) bool) {
	b.commit = func(ctx context.Context, c *store.Commit) (store.Tip, error) {
		if match(c) && n > 0 {
			n--
			return store.Tip{}, &store.ConflictError{Task: c.Task, Base: c.Base}
		}
		return b.Store.Commit(ctx, c)
	}
}

func anyCommit(*store.Commit) bool { return true }

func newBentDesk(t *testing.T) (*desk, *bent) {
	d := newDesk(t)
	b := &bent{Store: d.st}
	d.st = b
	d.ctl = d.open(nil)
	return d, b
}

// An observation is about the world, not about a version: it is judged again when another commit came first, a bounded number of
// times. So is a receipt, whose effect is then left to a later lookup, and a freeze.
func TestMaxRaces(t *testing.T) {
	for _, lost := range []int{resume.MaxRaces - 1, resume.MaxRaces} {
		over := lost == resume.MaxRaces
		d, b := newBentDesk(t)
		s := d.asked()
		b.losing(lost, anyCommit)
		out, err := s.Observe(d.ctx, d.says(s, "yes, refund it"))
		require.NoError(t, err)
		if over {
			require.Equal(t, machine.Conflict, out.Kind)
			require.Equal(t, machine.CodeStaleVersion, out.Code())
			require.ErrorIs(t, out.Err(), machine.ErrConflict)
		} else {
			require.NoError(t, out.Err())
		}

		b.losing(lost, anyCommit)
		err = d.ctl.Freeze(d.ctx, "refund", operator, "the bank has called")
		if over {
			require.ErrorIs(t, err, store.ErrConflict)
		} else {
			require.NoError(t, err)
			require.NoError(t, d.ctl.Thaw(d.ctx, "refund", operator, "false alarm"))
		}

		d, b = newBentDesk(t)
		d.dispatched()
		b.losing(lost, func(c *store.Commit) bool { return len(c.Settle) > 0 })
		d.work()
		if over {
			require.Equal(t, "unknown", status(t, d, d.resume()))
			b.commit = nil
			d.sleep(time.Minute)
			d.work()
		}
		require.Equal(t, refund.Refunded, d.resume().State())
		require.Len(t, d.world.sent, 1)
	}
}

// A chain is a machine whose guard learns from each answer what to ask next.
type chain struct {
	First string `json:"first" about:"link"`
	Long  int    `json:"long"`
}

var (
	link   = guard.NewFact[string]("link", guard.From("chain"), guard.About("link"), guard.MaxAge(time.Hour))
	follow = machine.NewEvent[machine.None]("follow")
)

func chainMachine() *machine.Machine[chain] {
	b := machine.New[chain]("chain", "here")
	b.Final("there")
	machine.On(b, follow).From("here").To("there").By(guard.User).
		Check("reaches the end", func(c guard.Case[chain, machine.None]) guard.Verdict {
			id := c.Data.First
			for range c.Data.Long {
				next, known := link.Of(id).Get(c)
				if !known {
					return guard.Missing(guard.Key{Fact: "link", Subject: id})
				}
				id = next
			}
			return guard.Allow()
		}, link)
	return b.MustBuild()
}

// A guard that always wants to know one thing more is not asked for ever.
func TestMaxRounds(t *testing.T) {
	d := newDesk(t)
	m, asked := chainMachine(), 0
	ctl, err := resume.Open(d.ctx, d.st, resume.Config{Machines: []machine.Definition{m}, Observers: []resume.Observer{
		resume.Pull(link, func(_ context.Context, q guard.Query) (guard.Observed[string], error) {
			asked++
			return guard.Observed[string]{Value: fmt.Sprintf("after_%.20s", q.Subject), Subject: q.Subject}, nil
		})}})
	require.NoError(t, err)
	propose := func(long int) machine.Outcome {
		asked = 0
		s, err := ctl.Start(d.ctx, m.Task(fmt.Sprint("chain", long), alice, chain{"x", long}), alice)
		require.NoError(t, err)
		out, err := s.Propose(d.ctx, follow.With(machine.None{}).As(guard.User))
		require.NoError(t, err)
		return out
	}
	require.NoError(t, propose(resume.MaxRounds).Err(), "the last answer is judged, too")
	require.Equal(t, resume.MaxRounds, asked)
	out := propose(resume.MaxRounds + 1)
	require.Equal(t, machine.NeedsEvidence, out.Kind)
	require.NotEmpty(t, out.Missing, "and what is still missing is told")
	require.Equal(t, resume.MaxRounds, asked)
}

// crowd is a store that finds as many tasks as it is told, in pages that may be short.
type crowd struct {
	bent
	found map[store.Query]int // by query, without its page
	page  int
}

func (c *crowd) Find(_ context.Context, q store.Query) ([]store.Row, string, error) {
	limit, err := q.Check()
	if err != nil {
		return nil, "", err
	}
	from, _ := strconv.Atoi(q.After)
	q.Limit, q.After = 0, ""
	to := min(from+min(limit, c.page), c.found[q])
	var rows []store.Row
	for i := from; i < to; i++ {
		rows = append(rows, store.Row{Task: fmt.Sprint(q.Owner, q.WaitsFor, i), Meta: store.Meta{Machine: "refund", State: "checking_eligibility"}})
	}
	if to == c.found[q] {
		return rows, "", nil
	}
	return rows, strconv.Itoa(to), nil
}

// A search gives no more than MaxFound tasks, whatever the pages of the store are, and none of them twice.
func TestMaxFound(t *testing.T) {
	d := newDesk(t)
	c := &crowd{bent: bent{Store: d.st}, found: map[store.Query]int{}}
	d.st = c
	d.ctl = d.open(nil)
	ben := guard.Principal{ID: "ben", Roles: []string{"approver", "clerk"}}
	distinct := func(found []resume.Found, err error) int {
		require.NoError(t, err)
		tasks := map[string]bool{}
		for _, f := range found {
			tasks[f.Task] = true
		}
		require.Len(t, tasks, len(found))
		return len(found)
	}
	for _, c.page = range []int{7, store.MaxPage} {
		for there, want := range map[int]int{0: 0, 1: 1, resume.MaxFound - 1: resume.MaxFound - 1, resume.MaxFound: resume.MaxFound, resume.MaxFound + 1: resume.MaxFound} {
			clear(c.found)
			c.found[store.Query{Owner: "ben"}] = there
			require.Equal(t, want, distinct(d.ctl.Owned(d.ctx, ben)), "%d there", there)
			require.Zero(t, distinct(d.ctl.Waiting(d.ctx, ben)))
			c.found[store.Query{WaitsFor: "user/ben"}] = there / 2
			c.found[store.Query{WaitsFor: "role/clerk"}] = there - there/2
			require.Equal(t, want, distinct(d.ctl.Waiting(d.ctx, ben)), "%d there", there)
		}
	}
}

// As many offers as may be open at once, and one more.
func TestMaxOffersAtTheController(t *testing.T) {
	items := make([]string, machine.MaxOffers+1)
	for i := range items {
		items[i] = fmt.Sprint("item", i)
	}
	d := newLab(t)
	s := d.decide("most", items[1:]...)
	o := s.Offers()[machine.MaxOffers-1]
	d.commits(s, yes.With(buy{"s1", []string{items[machine.MaxOffers]}}), d.button(o.ID))

	s = d.begin("more", items...)
	out := d.refuses(s, ask.With(machine.None{}).As(guard.User))
	require.Equal(t, machine.CodeTooMany, out.Code())
	require.Empty(t, s.Offers())
}

// The payload of a refused proposal is kept up to a size; of a larger one it is kept that it came.
func TestMaxAttemptPayload(t *testing.T) {
	const around = len(`{"text":""}`)
	d := newDesk(t)
	s := d.asked()
	for _, over := range []int{0, 1} {
		text := strings.Repeat("x", resume.MaxAttemptPayload-around+over)
		require.Equal(t, machine.CodeForm, d.refuses(s, aNote(text)).Code())
		attempts, err := s.Attempts(d.ctx)
		require.NoError(t, err)
		require.Equal(t, "leave_note", attempts[0].Event)
		if over == 0 {
			require.Equal(t, `{"text":"`+text+`"}`, string(attempts[0].Payload))
		} else {
			require.Empty(t, attempts[0].Payload)
		}
	}
}

// A watcher that is far behind is told in pieces, and of each version once.
func TestMaxWatched(t *testing.T) {
	d := newLab(t)
	s := d.begin("lab1", "pen")
	for s.Version() < 2*resume.MaxWatched+10 {
		d.commits(s, put.With(setItems{[]string{"ink"}}).As(guard.User))
	}
	want := uint64(4)
	for e, err := range s.Watch(d.ctx, want-1) {
		require.NoError(t, err)
		require.Equal(t, want, e.Version)
		if want++; want > s.Version() {
			break
		}
	}
}

// The cache keeps as many snapshots as it is told, and serves only what the store says is the newest.
func TestCacheIsBounded(t *testing.T) {
	for most, loads := range map[int]int{-1: 4, 1: 2, 2: 0} {
		d := newDesk(t)
		m := &mute{bent: bent{Store: d.st}}
		d.st = m
		d.ctl = d.open(func(c *resume.Config) { c.Cache = most })
		for _, id := range []string{"a", "b"} {
			_, err := d.ctl.Start(d.ctx, refund.Machine.Task(id, alice, refund.Refund{OrderID: "123", Amount: euros}), alice)
			require.NoError(t, err)
		}
		b, err := d.ctl.Resume(d.ctx, "b", alice)
		require.NoError(t, err)
		d.commits(b, refund.RequestRefund.With(machine.None{}))
		for range 20 {
			d.commits(b, aNote("x")) // makes no other task lose its place
		}
		m.loads = 0
		for _, id := range []string{"b", "a", "a", "b"} {
			s, err := d.ctl.Resume(d.ctx, id, alice)
			require.NoError(t, err)
			require.Equal(t, id, s.Task())
		}
		require.Equal(t, loads, m.loads, "room for %d", most)
	}
}
