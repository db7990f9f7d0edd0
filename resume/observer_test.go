package resume_test

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pawlgo/pawl/examples/refund/refund"
	"github.com/pawlgo/pawl/guard"
	"github.com/pawlgo/pawl/machine"
	"github.com/pawlgo/pawl/resume"
	"github.com/pawlgo/pawl/store"
	"github.com/stretchr/testify/require"
)

type size struct {
	Unit  string `json:"unit" validate:"required"`
	Count int64  `json:"count" validate:"min=1"`
}

var (
	sized   = guard.NewFact[size]("sized", guard.From("clerk"), guard.Dated(), guard.MaxAge(time.Hour))
	carryOn = machine.NewEvent[machine.None]("carry_on")
	right   = size{"box", 1}
	errOut  = errors.New("out for lunch, call 555-0100")
)

type errandOf struct{}

func sizes() *machine.Machine[errandOf] {
	b := machine.New[errandOf]("sizes", "open")
	b.Final("over")
	machine.On(b, carryOn).From("open").To("over").By(guard.User).Require(guard.Known(sized))
	return b.MustBuild()
}

// TestObservers has one row for each thing that an observer's answer is verified for: whatever is wrong with it, the fact stays unknown, and
// nothing is committed. Its authority is that of the fact, and cannot be another: see TestOneFactOfTwoSources.
func TestObservers(t *testing.T) {
	type answer = func(context.Context, guard.Query) (guard.Observed[size], error)
	says := func(change func(*guard.Observed[size], guard.Query)) answer {
		return func(_ context.Context, q guard.Query) (guard.Observed[size], error) {
			o := guard.Observed[size]{Value: right, Subject: q.Subject, At: q.Now}
			change(&o, q)
			return o, nil
		}
	}
	for _, row := range []struct {
		name   string
		answer answer
		text   string // of the finding; "" when it commits
	}{
		{"as it should be", says(func(*guard.Observed[size], guard.Query) {}), ""},
		{"about another task", says(func(o *guard.Observed[size], _ guard.Query) { o.Subject = "t2" }), "answered about something else"},
		{"about nothing", says(func(o *guard.Observed[size], _ guard.Query) { o.Subject = "" }), "answered about something else"},
		{"a value that is not valid", says(func(o *guard.Observed[size], _ guard.Query) { o.Value.Count = 0 }), "no evidence (form)"},
		{"the zero value", says(func(o *guard.Observed[size], _ guard.Query) { o.Value = size{} }), "no evidence (form)"},
		{"a value that is too long", says(func(o *guard.Observed[size], _ guard.Query) { o.Value.Unit = strings.Repeat("x", guard.MaxValue) }), "no evidence (too_long)"},
		{"a reference that is too long", says(func(o *guard.Observed[size], _ guard.Query) { o.Ref = strings.Repeat("x", guard.MaxRef+1) }), "no evidence (too_long)"},
		{"not dated", says(func(o *guard.Observed[size], _ guard.Query) { o.At = time.Time{} }), "no evidence (undated)"},
		{"from the future", says(func(o *guard.Observed[size], q guard.Query) { o.At = q.Now.Add(2 * guard.FutureTolerance) }), "no evidence (from_the_future)"},
		{"an error", func(context.Context, guard.Query) (guard.Observed[size], error) {
			return guard.Observed[size]{Value: right}, errOut
		}, "its source failed"},
		{"a panic", func(context.Context, guard.Query) (guard.Observed[size], error) { panic(errOut) }, "its source failed"},
		{"the end of its goroutine", func(context.Context, guard.Query) (guard.Observed[size], error) {
			runtime.Goexit()
			return guard.Observed[size]{}, nil
		}, "did not answer in time"},
		{"nothing within its time", func(ctx context.Context, _ guard.Query) (guard.Observed[size], error) {
			<-ctx.Done()
			return guard.Observed[size]{}, ctx.Err()
		}, "did not answer in time"},
	} {
		t.Run(row.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				m := sizes()
				ctl, err := resume.Open(t.Context(), store.NewMemory(store.MemoryOptions{}), resume.Config{Machines: []machine.Definition{m},
					Observers: []resume.Observer{resume.Pull(sized, row.answer)}})
				require.NoError(t, err)
				s, err := ctl.Start(t.Context(), m.Task("t1", alice, errandOf{}), alice)
				require.NoError(t, err)
				out, err := s.Propose(t.Context(), carryOn.With(machine.None{}).As(guard.User))
				require.NoError(t, err)
				if row.text == "" {
					require.NoError(t, out.Err())
					return
				}
				require.Equal(t, machine.NeedsEvidence, out.Kind)
				require.Equal(t, []guard.Key{{Fact: "sized", Subject: "t1"}}, out.Missing)
				require.Contains(t, out.String(), row.text)
				require.NotContains(t, out.String(), "555-0100", "an error's words are for the operator")
				require.Equal(t, uint64(1), s.Version())
				require.Zero(t, s.Snapshot().Facts.Len())
			})
		})
	}
}

// A source that hangs for one task holds up no other, and neither what is pushed to that task nor whoever looks at it.
func TestSlowSourceHoldsUpNobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDesk(t)
		slow, quick := d.another("slow"), d.another("quick")
		d.world.policy = func(ctx context.Context, q guard.Query) (guard.Observed[refund.Eligibility], error) {
			if q.Task == "slow" {
				<-ctx.Done()
			}
			return guard.Observed[refund.Eligibility]{Value: refund.Eligibility{Eligible: true, Policy: "v7"}, Subject: q.Subject}, ctx.Err()
		}
		done := make(chan machine.Outcome)
		began := time.Now()
		go func() {
			out, err := slow.Propose(d.ctx, askFor)
			if err != nil {
				t.Error(err)
			}
			done <- out
		}()
		synctest.Wait() // it hangs now
		d.commits(quick, askFor)
		clerk := guard.NewAuthority(refund.OrderStatus.Info().Source)
		other := d.open(func(c *resume.Config) { c.Trust = append(c.Trust, clerk) })
		out, err := other.Observe(d.ctx, "slow", refund.OrderStatus.Observe(clerk, guard.Observed[string]{Value: refund.OrderOpen, Subject: "slow", At: d.clock()}))
		require.NoError(t, err)
		require.NoError(t, out.Err())
		found, err := d.ctl.Owned(d.ctx, alice)
		require.NoError(t, err)
		require.Len(t, found, 2)
		require.Zero(t, time.Since(began))
		require.Equal(t, machine.NeedsEvidence, (<-done).Kind)
		require.Equal(t, resume.DefaultObserveWithin, time.Since(began))
	})
}

// TestObserverIsOfItsFact: an observer of a namesake asks the wrong source, or for something else, and nothing starts.
func TestObserverIsOfItsFact(t *testing.T) {
	age := guard.MaxAge(time.Hour)
	for want, o := range map[string]resume.Observer{
		`asks "baker" for sized, whose authority is "clerk"`: resume.Pull(guard.NewFact[size]("sized", guard.From("baker"), age), observed(right)),
		"of another type": resume.Pull(guard.NewFact[int64]("sized", guard.From("clerk"), age), observed(int64(1))),
		"about something": resume.Pull(guard.NewFact[size]("sized", guard.From("clerk"), guard.About("parcel"), age), observed(right)),
		"asks for weighed, which no machine declares": resume.Pull(guard.NewFact[size]("weighed", guard.From("clerk"), age), observed(right)),
	} {
		_, err := resume.Open(t.Context(), store.NewMemory(store.MemoryOptions{}), resume.Config{Machines: []machine.Definition{sizes()},
			Observers: []resume.Observer{o}, Trust: []*guard.Authority{guard.NewAuthority("clerk")}})
		require.ErrorIs(t, err, resume.ErrConfig, want)
		require.ErrorContains(t, err, want)
	}
}
