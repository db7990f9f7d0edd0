package load_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/pawlgo/pawl/guard"
	"github.com/pawlgo/pawl/machine"
	"github.com/pawlgo/pawl/resume"
	"github.com/pawlgo/pawl/store/pebblestore"
	"github.com/stretchr/testify/require"
)

var (
	soak  = flag.Bool("soak", false, "10,000 tasks for -for; else a few tasks and rounds")
	tasks = flag.Int("tasks", 10_000, "how many tasks are open in a soak")
	last  = flag.Duration("for", 2*time.Minute, "how long a soak goes on")
	seed  = flag.Uint64("seed", 1, "of the choices of each session")
)

// sessions is how many go on side by side.
const sessions = 64

type tally struct {
	Count int64  `json:"count"`
	Last  string `json:"last"`
}

type step struct {
	Note string `json:"note" validate:"required,max=200"`
}

var (
	ready = guard.NewFact[bool]("ready", guard.From("shop"), guard.MaxAge(time.Hour))
	tick  = machine.NewEvent[step]("tick")
	stop  = machine.NewEvent[machine.None]("stop")
)

func counter(t *testing.T) *machine.Machine[tally] {
	b := machine.New[tally]("counter", "open")
	b.Final("closed")
	machine.On(b, tick).From("open").Stay().By(guard.User).Require(guard.True(ready)).
		Apply(func(d *tally, c guard.Case[tally, step]) { d.Count++; d.Last = c.Payload.Note })
	machine.On(b, stop).From("open").To("closed").By(guard.User)
	m, err := b.Build()
	require.NoError(t, err)
	return m
}

// run is one load on one store.
type run struct {
	t      *testing.T
	m      *machine.Machine[tally]
	ctl    *resume.Controller
	acked  []atomic.Uint64 // highest version that a session was told of, by task
	ok     atomic.Uint64
	lost   atomic.Uint64 // conflicts: another session was first
	who    guard.Principal
	rounds int // of each session; 0 goes on until the deadline
	until  time.Time
}

// TestLoad: no lost commit, bounded memory.
func TestLoad(t *testing.T) {
	r := &run{t: t, m: counter(t), who: guard.Principal{ID: "ann"}, rounds: 20}
	n := 200
	if *soak {
		n, r.rounds = *tasks, 0
	}
	dir := t.TempDir()
	st, err := pebblestore.Open(dir, pebblestore.Options{})
	require.NoError(t, err)
	r.acked = make([]atomic.Uint64, n)
	r.open(st)
	began := time.Now()
	r.each(func(i int) {
		for k := i; k < n; k += sessions {
			s, err := r.ctl.Start(t.Context(), r.m.Task(name(k), r.who, tally{}), r.who)
			if err != nil {
				t.Error(err)
				return
			}
			r.acked[k].Store(s.Version())
		}
	})
	t.Logf("%d tasks begun in %s", n, time.Since(began).Round(time.Millisecond))
	began = time.Now()
	r.until = began.Add(*last)
	heap := r.watch()
	r.each(r.session)
	took := time.Since(began)
	grown := heap()
	t.Logf("%d commits in %s (%.0f a second), %d conflicts; live heap at each tenth (MiB): %v", r.ok.Load(), took.Round(time.Millisecond),
		float64(r.ok.Load())/took.Seconds(), r.lost.Load(), grown)
	require.NoError(t, st.Close())
	if *soak {
		early, late := slices.Max(grown[1:len(grown)/2]), slices.Max(grown[len(grown)/2:])
		require.Less(t, late, 2*early+64, "memory grows with time")
	}
	r.verify(dir)
}

func name(k int) string { return fmt.Sprintf("task-%06d", k) }

func (r *run) open(st *pebblestore.Store) {
	var err error
	r.ctl, err = resume.Open(r.t.Context(), st, resume.Config{
		Machines:  []machine.Definition{r.m},
		Observers: []resume.Observer{resume.Pull(ready, r.observe)},
		Cache:     2048, // fewer than there are tasks: some are read back from the store
	})
	require.NoError(r.t, err)
}

// observe is a shop that is always ready.
func (r *run) observe(_ context.Context, q guard.Query) (guard.Observed[bool], error) {
	return guard.Observed[bool]{Value: true, Subject: q.Subject}, nil
}

// each runs f for every session, and waits for all.
func (r *run) each(f func(i int)) {
	var wg sync.WaitGroup
	for i := range sessions {
		wg.Go(func() { f(i) })
	}
	wg.Wait()
}

// session proposes to one task after another until its time is over.
func (r *run) session(i int) {
	choose := rand.New(rand.NewPCG(*seed, uint64(i)))
	for n := 0; r.rounds > 0 && n < r.rounds || r.rounds == 0 && time.Now().Before(r.until); n++ {
		k := choose.IntN(len(r.acked))
		s, err := r.ctl.Resume(r.t.Context(), name(k), r.who)
		if err != nil {
			r.t.Error(err)
			return
		}
		out, err := s.Propose(r.t.Context(), tick.With(step{fmt.Sprintf("session %d, round %d", i, n)}).As(guard.User))
		switch {
		case err != nil:
			r.t.Error(err)
			return
		case out.Kind == machine.Conflict:
			r.lost.Add(1)
		case out.Err() != nil:
			r.t.Error(out.Err())
			return
		default:
			r.ok.Add(1)
			raise(&r.acked[k], out.Version)
		}
	}
}

func raise(v *atomic.Uint64, to uint64) {
	for old := v.Load(); old < to && !v.CompareAndSwap(old, to); old = v.Load() {
	}
}

// watch takes the size of the live heap now and then; the function that it returns ends it and gives what was seen.
func (r *run) watch() func() []uint64 {
	done, out := make(chan struct{}), make(chan []uint64, 1)
	go func() {
		var seen []uint64
		every := time.NewTicker(max(*last/10, time.Millisecond))
		defer every.Stop()
		for {
			select {
			case <-every.C:
				seen = append(seen, liveHeap())
			case <-done:
				out <- append(seen, liveHeap())
				return
			}
		}
	}()
	return func() []uint64 { close(done); return <-out }
}

func liveHeap() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc >> 20
}

// verify opens the store again: what was acknowledged is there, the counts agree with the versions, and nothing is damaged.
func (r *run) verify(dir string) {
	st, err := pebblestore.Open(dir, pebblestore.Options{})
	require.NoError(r.t, err)
	defer func() { require.NoError(r.t, st.Close()) }()
	r.open(st)
	commits := uint64(0)
	for k := range r.acked {
		s, err := r.ctl.Resume(r.t.Context(), name(k), r.who)
		require.NoError(r.t, err)
		require.GreaterOrEqual(r.t, s.Version(), r.acked[k].Load(), name(k))
		snap, ok := machine.As[tally](s.Snapshot())
		require.True(r.t, ok)
		commits += uint64(snap.Data.Count)
	}
	require.Equal(r.t, r.ok.Load(), commits, "acknowledged commits, and those that the tasks hold")
	var problems []error
	for p, err := range st.Verify(r.t.Context()) {
		problems = append(problems, fmt.Errorf("%v", p), err)
	}
	require.NoError(r.t, errors.Join(problems...))
}
