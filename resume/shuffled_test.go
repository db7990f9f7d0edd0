package resume_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/pawlgo/pawl/guard"
	"github.com/pawlgo/pawl/machine"
	"github.com/pawlgo/pawl/resume"
	"github.com/pawlgo/pawl/store"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// tracked is a machine whose facts are in order of time and of number, and of which one moves the task.
func tracked() *machine.Machine[consignment] {
	b := machine.New[consignment]("tracked", "under_way")
	b.Final("closed")
	b.Facts(scans)
	machine.When(b, place).From("under_way").To("arrived").Require(guard.Is(place, "home"))
	machine.When(b, place).From("arrived").To("closed").Require(guard.Is(place, "gone"))
	return b.MustBuild()
}

// delivery is one observation as a carrier sends it; what it says stays the same however often it comes.
type delivery struct {
	Fact  string
	Value int // of what it says; for places the number of one
	At    int // seconds
	Seq   int // of scans only
	ID    bool
	N     int // which one it is
}

var places = []string{"depot", "van", "home", "gone"}

func (v delivery) observation(by *guard.Authority) guard.Observation {
	at, ref := minute.Add(time.Duration(v.At-60)*time.Second), fmt.Sprintf("carrier/%d", v.N)
	o := scans.Observe(by, guard.Observed[int64]{Value: int64(v.Value), Subject: "p1", At: at, Seq: uint64(v.Seq), Ref: ref})
	if v.Fact == "place" {
		o = place.Observe(by, guard.Observed[string]{Value: places[v.Value], Subject: "p1", At: at, Ref: ref})
	}
	if v.ID {
		o = o.Identified(ref)
	}
	return o
}

func drawDeliveries(t *rapid.T) (all []delivery) {
	for n := range rapid.IntRange(1, 8).Draw(t, "count") {
		all = append(all, delivery{
			Fact:  rapid.SampledFrom([]string{"place", "scans"}).Draw(t, "fact"),
			Value: rapid.IntRange(0, 3).Draw(t, "value"), At: rapid.IntRange(0, 3).Draw(t, "at"),
			Seq: rapid.IntRange(0, 3).Draw(t, "seq"), ID: rapid.Bool().Draw(t, "id"), N: n,
		})
	}
	return all
}

// believes is what counts of the newest snapshot's facts. Left out are the reference, which is for audit only, the version that an
// entry came in at, and when a disputed one was: it has no value whose age could count.
func believes(s *resume.Session) (out []guard.Entry) {
	for _, e := range s.Snapshot().Facts.All() {
		e.Ref, e.BasedOn = "", 0
		if e.Disputed {
			e.At = time.Time{}
		}
		out = append(out, e)
	}
	return out
}

// Law 6, through controllers and a store: whatever order the same observations come in, however often, in whichever batches and at
// whichever of two controllers, the task ends with the same facts, also where they moved it on the way.
func TestAnyOrderAtControllers(t *testing.T) {
	m, carrier := tracked(), guard.NewAuthority("carrier")
	rapid.Check(t, func(rt *rapid.T) {
		all := drawDeliveries(rt)
		shuffled := rapid.Permutation(append(append([]delivery{}, all...), all...)).Draw(rt, "order")
		st := store.NewMemory(store.MemoryOptions{Now: func() time.Time { return minute }})
		var ctls []*resume.Controller
		for range 2 {
			ctl, err := resume.Open(t.Context(), st, resume.Config{Machines: []machine.Definition{m}, Trust: []*guard.Authority{carrier}})
			require.NoError(rt, err)
			ctls = append(ctls, ctl)
		}
		begin := func(task string) {
			_, err := ctls[0].Start(t.Context(), m.Task(task, alice, consignment{"p1"}), alice)
			require.NoError(rt, err)
		}
		deliver := func(task string, at int, batch []delivery) {
			var observations []guard.Observation
			for _, v := range batch {
				observations = append(observations, v.observation(carrier))
			}
			out, err := ctls[at].Observe(t.Context(), task, observations...)
			require.NoError(rt, err)
			require.Contains(rt, []machine.Kind{machine.Committed, machine.Unchanged}, out.Kind, out.String())
		}
		believed := func(task string) []guard.Entry {
			s, err := ctls[0].Resume(t.Context(), task, alice)
			require.NoError(rt, err)
			return believes(s)
		}
		begin("straight")
		begin("shuffled")
		for _, v := range all {
			deliver("straight", 0, []delivery{v})
		}
		for len(shuffled) > 0 {
			n := rapid.IntRange(1, len(shuffled)).Draw(rt, "batch")
			deliver("shuffled", rapid.IntRange(0, 1).Draw(rt, "controller"), shuffled[:n])
			shuffled = shuffled[n:]
		}
		require.Equal(rt, believed("straight"), believed("shuffled"))
	})
}
