package pebblestore

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"
	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/stretchr/testify/require"

	"github.com/pawlgo/pawl/store"
)

// request is what a client asked of one task: to read its tip, or to commit next on base.
type request struct {
	task       string
	read       bool
	base, next store.Tip
}

// answer is what it was told: the tip, that the tip was another, or nothing.
type answer struct {
	tip     store.Tip
	refused bool
	unknown bool
}

// register is one task as the contract has it: a tip that moves by compare-and-swap.
var register = porcupine.NondeterministicModel{
	Partition: func(history []porcupine.Operation) [][]porcupine.Operation {
		by := map[string][]porcupine.Operation{}
		for _, op := range history {
			task := op.Input.(request).task
			by[task] = append(by[task], op)
		}
		var parts [][]porcupine.Operation
		for _, part := range by {
			parts = append(parts, part)
		}
		return parts
	},
	Init: func() []any { return []any{store.Tip{}} },
	Step: func(state, input, output any) []any {
		tip, in, out := state.(store.Tip), input.(request), output.(answer)
		landed := tip == in.base
		switch {
		case in.read && (out.unknown || out.tip == tip):
			return []any{tip}
		case in.read:
			return nil
		case out.unknown && landed:
			return []any{tip, in.next}
		case out.unknown:
			return []any{tip}
		case out.refused && !landed && out.tip == tip:
			return []any{tip}
		case !out.refused && landed && out.tip == in.next:
			return []any{in.next}
		}
		return nil
	},
	Equal: func(a, b any) bool { return a == b },
}

// client does random requests until the store fails, and records them.
type client struct {
	id  int
	rng *rand.Rand
	ops []porcupine.Operation
}

func (c *client) run(s *Store, began time.Time, n int) {
	known := map[string]store.Tip{}
	for range n {
		task := fmt.Sprint("task-", c.rng.IntN(3))
		in := request{task: task, read: c.rng.IntN(3) == 0, base: known[task]}
		call := time.Since(began).Nanoseconds()
		out := c.ask(s, &in)
		ret := time.Since(began).Nanoseconds()
		if out.unknown {
			ret = math.MaxInt64
		}
		c.ops = append(c.ops, porcupine.Operation{ClientId: c.id, Input: in, Call: call, Output: out, Return: ret})
		if out.unknown {
			return
		}
		known[task] = out.tip
	}
}

// ask does one request; half of the reads by Load, half by Tip.
func (c *client) ask(s *Store, in *request) answer {
	if in.read {
		var tip store.Tip
		var err error
		if c.rng.IntN(2) == 0 {
			tip, err = s.Tip(ctx, in.task)
		} else {
			var rec store.Record
			rec, _, err = s.Load(ctx, in.task)
			tip = rec.Tip
		}
		return answer{tip: tip, unknown: err != nil && !errors.Is(err, store.ErrNotFound)}
	}
	k := step(in.task, c.rng.IntN(5), in.base)
	k.Nonce, k.At = c.rng.Uint64(), 1
	k.Snapshot = k.Snapshot[:100+c.rng.IntN(900)]
	ready := *k
	ready.Prepare(s.sealer, nil)
	tip, err := s.Commit(ctx, k)
	in.next = k.Tip
	if in.next == (store.Tip{}) {
		in.next = ready.Tip
	}
	var conflict *store.ConflictError
	switch {
	case errors.As(err, &conflict):
		return answer{tip: conflict.Tip, refused: true}
	case errors.Is(err, store.ErrNotFound):
		return answer{refused: true}
	case err != nil:
		return answer{unknown: true}
	}
	return answer{tip: tip}
}

// TestLinearizable runs clients against a store that loses power again and again, and checks that what they saw is
// what one task at a time could have answered.
func TestLinearizable(t *testing.T) {
	for seed := range uint64(4) {
		began := time.Now()
		d := newDisk(vfs.NewCrashableMem())
		var history []porcupine.Operation
		for round := range uint64(6) {
			rng := rand.New(rand.NewPCG(seed, round))
			next := session(t, d, rng, began, int(round)*8, &history)
			d = next
		}
		result := porcupine.CheckOperationsTimeout(register.ToModel(), history, time.Minute)
		require.Equal(t, porcupine.Ok, result, "seed %d, %d operations", seed, len(history))
		t.Log("seed", seed, len(history), "operations")
	}
}

// session opens the store, lets eight clients at it, cuts the power in the middle and returns what is left.
func session(t *testing.T, d *disk, rng *rand.Rand, began time.Time, first int, history *[]porcupine.Operation) *disk {
	c := &clock{}
	c.at.Store(epoch)
	s, err := Open("db", small(d.fs, c.now))
	require.NoError(t, err)
	var count atomic.Int64
	at := int64(20 + rng.IntN(120))
	crashSeed := rng.Uint64()
	var left atomic.Pointer[disk]
	var mu sync.Mutex
	d.fs.set(func(what, _ string) error {
		if count.Add(1) < at {
			return nil
		}
		mu.Lock()
		defer mu.Unlock()
		if left.Load() == nil {
			left.Store(d.crash(crashSeed))
		}
		return errDisk
	})
	clients := make([]*client, 8)
	var wg sync.WaitGroup
	for i := range clients {
		clients[i] = &client{id: first + i, rng: rand.New(rand.NewPCG(rng.Uint64(), 0))}
		wg.Go(func() { clients[i].run(s, began, 60) })
	}
	wg.Wait()
	_ = s.Close()
	for _, c := range clients {
		*history = append(*history, c.ops...)
	}
	if left.Load() == nil {
		left.Store(d.crash(crashSeed))
	}
	return left.Load()
}
