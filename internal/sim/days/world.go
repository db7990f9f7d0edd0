package days

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/pawlgo/pawl/guard"
	"github.com/pawlgo/pawl/machine"
	"github.com/pawlgo/pawl/resume"
	"github.com/pawlgo/pawl/store"
)

// Deadly is how many of a thousand calls of the store a controller does not survive.
const Deadly = 4

// Result is what happened in a run.
type Result struct {
	Days, Steps, Tasks, Commits, Refused, Deaths, Payments, Calls int
	States                                                        map[machine.State]int
	Stuck                                                         int // unknown for longer than keys are kept: for a person
}

// World is a desk, its customers and its payment service. It is not safe for concurrent use.
type World struct {
	ctx     context.Context
	seed    uint64
	chance  chance
	rand    *rand.Rand
	clock   *clock
	begun   time.Time
	store   *store.Memory
	machine *machine.Machine[claim]
	service *service
	procs   [2]*process
	ctls    [2]*resume.Controller
	chat    *guard.Authority
	bank    *guard.Authority
	tasks   []*customer
	mail    []message
	acked   map[string]map[uint64]string // task, version, event: what a caller was told is committed
	result  Result
	trace   []string
}

// customer is a task as its owner knows it.
type customer struct {
	task string
	who  guard.Principal
	claim
	held *resume.Session // a session that somebody has left open
	at   *process        // and the process that it lives in
	yes  map[string]bool // offers that the customer agreed to, explicitly and in time
}

// message is what a customer wrote, on its way.
type message struct {
	at  time.Time
	c   *customer
	obs guard.Observation
}

// New is the world of a seed.
func New(ctx context.Context, seed uint64) (*World, error) {
	begun := time.Date(2026, 1, 5, 9, 0, 0, 0, time.UTC)
	w := &World{
		ctx: ctx, seed: seed, chance: chance(seed), rand: rand.New(rand.NewPCG(seed, 7)), clock: &clock{begun}, begun: begun,
		chat: guard.NewAuthority("chat"), bank: guard.NewAuthority("payments"), acked: map[string]map[uint64]string{},
		result: Result{States: map[machine.State]int{}},
	}
	w.store = store.NewMemory(store.MemoryOptions{Now: w.clock.now})
	w.service = newService(w.chance, w.clock)
	m, err := desk()
	if err != nil {
		return nil, err
	}
	w.machine = m
	for i := range w.ctls {
		if err := w.boot(i, Deadly); err != nil {
			return nil, err
		}
	}
	return w, nil
}

// boot starts a controller's process anew: all that the last one held in memory is gone.
func (w *World) boot(i, deadly int) error {
	w.procs[i] = &process{Store: w.store, chance: w.chance, name: fmt.Sprintf("controller-%d life %d", i, w.result.Deaths), deadly: deadly}
	ctl, err := resume.Open(w.ctx, w.procs[i], resume.Config{
		Machines: []machine.Definition{w.machine},
		Observers: []resume.Observer{
			resume.Pull(owner, func(_ context.Context, q guard.Query) (guard.Observed[string], error) {
				return guard.Observed[string]{Value: w.ownerOf(q.Subject), Subject: q.Subject}, w.down("orders", q)
			}),
			resume.Pull(eligible, func(_ context.Context, q guard.Query) (guard.Observed[bool], error) {
				return guard.Observed[bool]{Value: w.allows(q.Subject), Subject: q.Subject}, w.down("policy", q)
			}),
		},
		Effects: []resume.Handler{resume.Perform(pay,
			func(_ context.Context, j machine.Job[payment]) (slip, error) { return w.service.send(j) },
			func(_ context.Context, j machine.Job[payment]) (slip, bool, error) { return w.service.find(j) })},
		Trust:  []*guard.Authority{w.chat, w.bank},
		Holder: w.procs[i].name,
	})
	if err != nil {
		return fmt.Errorf("boot controller %d: %w", i, err)
	}
	w.ctls[i] = ctl
	return nil
}

func (w *World) ownerOf(order string) string {
	for _, c := range w.tasks {
		if c.Order == order {
			return c.who.ID
		}
	}
	return "nobody"
}

// allows is the policy: it changes its mind about an order once in a while.
func (w *World) allows(order string) bool {
	return w.chance.roll("policy %s %d", order, int(w.clock.now().Sub(w.begun).Hours())/6) < 99
}

func (w *World) down(source string, q guard.Query) error {
	if !w.service.honest && w.chance.roll("%s down %s %d", source, q.Subject, w.clock.now().Unix()) < 5 {
		return errTimeout
	}
	return nil
}

// note keeps the newest steps, to be shown when something fails.
func (w *World) note(format string, args ...any) {
	if len(w.trace) == 200 {
		w.trace = w.trace[1:]
	}
	w.trace = append(w.trace, w.clock.now().Format("01-02 15:04:05 ")+fmt.Sprintf(format, args...))
}

// settle judges what a call of a controller gave: what was committed is remembered, a dead process is replaced.
func (w *World) settle(i int, what string, c *customer, out machine.Outcome, err error) error {
	w.note("%d %s: %s %v", i, what, out, err)
	switch {
	case w.procs[i].dead:
		w.result.Deaths++
		return w.boot(i, w.procs[i].deadly)
	case err != nil && !expected(err):
		return fmt.Errorf("%s: %w", what, err)
	case out.Kind == machine.Committed && c != nil:
		w.result.Commits++
		if w.acked[c.task] == nil {
			w.acked[c.task] = map[uint64]string{}
		}
		w.acked[c.task][out.Version] = out.Event
	case out.Kind != "":
		w.result.Refused++
	}
	return nil
}

// expected are the errors that a service answers with "try again".
func expected(err error) bool {
	return errors.Is(err, resume.ErrNoTask) || errors.Is(err, resume.ErrExists)
}
