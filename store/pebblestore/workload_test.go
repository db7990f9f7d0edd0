package pebblestore

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sort"
	"strings"
	"sync/atomic"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlgo/pawl/store"
)

var ctx = context.Background()

// clock is a clock that a test sets.
type clock struct{ at atomic.Int64 }

func (c *clock) now() time.Time { return time.UnixMicro(c.at.Load()) }

const epoch = 1_700_000_000_000_000

// step is the n-th commit of a realistic task: 1.2 KB of snapshot, 800 bytes of entry, a new state and wake-up each time.
func step(task string, n int, base store.Tip) *store.Commit {
	text := bytes.Repeat([]byte(fmt.Sprintf(`{"order":"#W%d","item":"Mechanical Keyboard","price":%d,"state":"open"},`, n*7919, n%997)), 40)
	return &store.Commit{
		Base: base,
		Record: store.Record{
			Task: task, Nonce: uint64(n),
			Meta: store.Meta{
				Machine: "refund", State: fmt.Sprint("state-", n%5), Owner: "user-" + task, WaitsFor: "user-" + task,
				Since: store.Micros(n), Wake: store.Micros(1e15 + n),
			},
			Snapshot: text[:1200], Entry: text[1200:2000],
		},
	}
}

// workload is a list of operations that do the same to every right store.
type workload []func(s store.Store) error

// generate makes a workload of n operations over a few tasks, with bodies big enough for logs and tables to turn over.
func generate(seed uint64, n, size int) workload {
	rng := rand.New(rand.NewPCG(seed, 2))
	var w workload
	for i := range n {
		task := fmt.Sprint("task-", rng.IntN(5))
		dice, salt := rng.IntN(20), rng.Uint64()
		w = append(w, func(s store.Store) error {
			switch {
			case dice < 13:
				return change(s, task, i, salt, size)
			case dice < 16:
				_, err := s.Claim(ctx, store.Slots{}, 1+int(salt%3), "worker", 2e6)
				return err
			case dice < 18:
				return retry(s, salt)
			case dice < 19:
				return prune(s, task)
			}
			return erase(s, task, salt)
		})
	}
	return w
}

// change commits the next version of a task with a random set of side rows.
func change(s store.Store, task string, i int, salt uint64, size int) error {
	rec, es, err := s.Load(ctx, task)
	if errors.Is(err, store.ErrErased) {
		return nil
	}
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		return err
	}
	if salt%3 == 0 { // a worker looks; what it finds not to be due must be found later
		if _, err := s.Due(ctx, store.Slots{}, 0); err != nil {
			return err
		}
	}
	rng := rand.New(rand.NewPCG(salt, 3))
	c := &store.Commit{Base: rec.Tip, Record: store.Record{
		Task: task, Nonce: salt,
		Meta: store.Meta{
			Machine: "m", State: fmt.Sprint("s", rng.IntN(3)), Owner: fmt.Sprint("o", rng.IntN(2)),
			Since: epoch + int64(rng.IntN(3)), Final: rng.IntN(5) == 0,
		},
		Snapshot: make([]byte, rng.IntN(size)+1), Entry: fmt.Append(nil, "entry ", i),
	}}
	for k := range c.Snapshot {
		c.Snapshot[k] = byte(rng.Uint32())
	}
	if rng.IntN(2) == 0 {
		c.Meta.WaitsFor = "someone"
		c.Meta.Wake = epoch + int64(rng.IntN(50))*1e6
	}
	if rng.IntN(2) == 0 {
		c.Once = []string{fmt.Sprint("name-", i)}
	}
	if len(es) > 0 && rng.IntN(2) == 0 {
		c.Settle = []store.Settle{{Effect: es[0].ID, Rev: es[0].Rev}}
	}
	if rng.IntN(2) == 0 {
		c.Emit = []store.Effect{{ID: fmt.Sprint("effect-", i), Ready: epoch + int64(rng.IntN(60))*1e6, Body: []byte("pay")}}
	}
	if rng.IntN(3) == 0 {
		r, err := s.(store.Resources).Resource(ctx, "cap")
		if err != nil {
			return err
		}
		c.Swap = []store.Resource{{Name: "cap", Rev: r.Rev, Value: fmt.Append(nil, i)}}
	}
	_, err = s.Commit(ctx, c)
	return err
}

// retry updates one of the unsettled effects.
func retry(s store.Store, salt uint64) error {
	for task := range 5 {
		_, es, err := s.Load(ctx, fmt.Sprint("task-", task))
		if errors.Is(err, store.ErrNotFound) || errors.Is(err, store.ErrErased) {
			continue
		}
		if err != nil {
			return err
		}
		if len(es) == 0 {
			continue
		}
		e := es[salt%uint64(len(es))]
		e.Status, e.Ready = store.Status(1+2*(salt%2)), epoch+int64(salt%70)*1e6
		_, err = s.Update(ctx, e)
		return err
	}
	return nil
}

func prune(s store.Store, task string) error {
	tip, err := s.Tip(ctx, task)
	if errors.Is(err, store.ErrNotFound) || errors.Is(err, store.ErrErased) {
		return nil
	}
	if err != nil {
		return err
	}
	return s.(store.Keeper).Prune(ctx, task, max(1, tip.Version/2))
}

func erase(s store.Store, task string, salt uint64) error {
	if salt%3 != 0 {
		return nil
	}
	_, err := s.(store.Keeper).Erase(ctx, task, []byte("why"))
	if errors.Is(err, store.ErrNotFound) || errors.Is(err, store.ErrErased) || errors.Is(err, store.ErrUnsettled) {
		return nil
	}
	return err
}

// dump is everything durable in a store, in words; without holders, which die with their open.
func dump(s store.Store) (string, error) {
	var b strings.Builder
	for i := range 5 {
		task := fmt.Sprint("task-", i)
		rec, es, err := s.Load(ctx, task)
		if errors.Is(err, store.ErrNotFound) || errors.Is(err, store.ErrErased) {
			fmt.Fprintln(&b, task, err)
			continue
		}
		if err != nil {
			return "", err
		}
		fmt.Fprintf(&b, "%s %d %x %+v\n", task, rec.Tip.Version, rec.Tip.Hash[:4], rec.Meta)
		for _, e := range es {
			fmt.Fprintln(&b, "  ", e.ID, e.Version, e.Rev, e.Status, e.Ready, string(e.Body))
		}
		for r, err := range s.History(ctx, task, 0, 0) {
			if err != nil {
				return "", err
			}
			fmt.Fprintf(&b, "  %d %x", r.Tip.Version, r.Tip.Hash[:4])
		}
		for k := range 80 {
			v, err := s.Once(ctx, task, fmt.Sprint("name-", k))
			if err != nil {
				return "", err
			}
			if v != 0 {
				fmt.Fprint(&b, " name-", k, "=", v)
			}
		}
		fmt.Fprintln(&b)
	}
	return b.String(), dumpLists(s, &b)
}

func dumpLists(s store.Store, b *strings.Builder) error {
	for _, q := range []store.Query{{}, {Owner: "o0"}, {Owner: "o1"}, {WaitsFor: "someone"}, {Machine: "m", State: "s1"}} {
		rows, _, err := s.Find(ctx, q)
		if err != nil {
			return err
		}
		fmt.Fprint(b, q, ":")
		for _, r := range rows {
			fmt.Fprint(b, " ", r.Task)
		}
		fmt.Fprintln(b)
	}
	r, err := s.(store.Resources).Resource(ctx, "cap")
	if err != nil {
		return err
	}
	es, _, err := s.Effects(ctx, "", 0)
	if err != nil {
		return err
	}
	ids := []string{}
	for _, e := range es {
		ids = append(ids, e.Task+"/"+e.ID)
	}
	sort.Strings(ids)
	fmt.Fprintln(b, r.Rev, string(r.Value), ids)
	return nil
}

// expected are the dumps before the first operation and after each, by a store in memory.
func expected(t require.TestingT, w workload) []string {
	c := &clock{}
	c.at.Store(epoch)
	m := store.NewMemory(store.MemoryOptions{Now: c.now})
	d, err := dump(m)
	require.NoError(t, err)
	all := []string{d}
	for i, op := range w {
		c.at.Store(epoch + int64(i)*1e6)
		require.NoError(t, op(m))
		d, err := dump(m)
		require.NoError(t, err)
		all = append(all, d)
	}
	return all
}

// sound fails the test if the store finds a problem in itself.
func sound(t require.TestingT, s *Store, msg ...any) {
	for p, err := range s.Verify(ctx) {
		require.NoError(t, err, msg...)
		require.Fail(t, fmt.Sprintf("problem: %+v", p), msg...)
	}
}
