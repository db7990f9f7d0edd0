package pebblestore

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/stretchr/testify/require"

	"github.com/pawlgo/pawl/store"
)

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

// row is one operation of a batch.
type row struct {
	kind       pebble.InternalKeyKind
	key, value []byte
}

// rows are what commits of a task write, as our own code builds them.
func rows(tb testing.TB, s *Store, task string, n int) [][]row {
	var out [][]row
	e := &entry{}
	tip := store.Tip{}
	for i := range n {
		c := step(task, i, tip)
		buf, key := c.Prepare(s.sealer, nil)
		b := s.db.NewBatch()
		require.NoError(tb, b.Set(buf[:key], buf[key:], nil))
		w := writer{b: b}
		w.meta(&e.meta, &c.Meta, task)
		e.meta, tip = c.Meta, c.Tip
		var rs []row
		for r := b.Reader(); ; {
			kind, k, v, ok, err := r.Next()
			require.NoError(tb, err)
			if !ok {
				break
			}
			rs = append(rs, row{kind, bytes.Clone(k), bytes.Clone(v)})
		}
		out = append(out, rs)
		require.NoError(tb, b.Close())
	}
	return out
}

// raw writes one batch of rows, synced.
func raw(db *pebble.DB, rs []row) error {
	b := db.NewBatch()
	for _, r := range rs {
		var err error
		if r.kind == pebble.InternalKeyKindSingleDelete {
			err = b.SingleDelete(r.key, nil)
		} else {
			err = b.Set(r.key, r.value, nil)
		}
		if err != nil {
			return err
		}
	}
	if err := b.Commit(pebble.Sync); err != nil {
		return err
	}
	return b.Close()
}

// load is how long writers took for their commits, all together and each.
type load struct {
	rate float64
	each []time.Duration
}

func (l load) at(q float64) time.Duration { return l.each[int(q*float64(len(l.each)-1))] }

// run lets writers commit n times each.
func run(writers, n int, commit func(writer, i int) error) (load, error) {
	each := make([][]time.Duration, writers)
	errs := make([]error, writers)
	begin := time.Now()
	var wg sync.WaitGroup
	for w := range writers {
		wg.Go(func() {
			for i := range n {
				at := time.Now()
				if errs[w] = commit(w, i); errs[w] != nil {
					return
				}
				each[w] = append(each[w], time.Since(at))
			}
		})
	}
	wg.Wait()
	l := load{rate: float64(writers*n) / time.Since(begin).Seconds(), each: slices.Concat(each...)}
	slices.Sort(l.each)
	for _, err := range errs {
		if err != nil {
			return l, err
		}
	}
	return l, nil
}

func median(xs []float64) float64 {
	slices.Sort(xs)
	return xs[len(xs)/2]
}

// BenchmarkCommit compares durable commits of ready bytes with raw synced Pebble batches of the same keys, bytes and
// options, interleaved in one run: medians of the ratios of seven rounds.
func BenchmarkCommit(b *testing.B) {
	for _, writers := range []int{1, 16, 64, 256} {
		b.Run(fmt.Sprint(writers), func(b *testing.B) { compare(b, writers) })
	}
}

func compare(b *testing.B, writers int) {
	const rounds = 7
	per := max(20, 25_000/writers)
	if writers == 1 {
		per = 1000
	}
	s, err := Open(b.TempDir(), Options{})
	require.NoError(b, err)
	defer s.Close()
	db, err := pebble.Open(b.TempDir(), (&Options{}).pebble(vfs.Default, &gate{}))
	require.NoError(b, err)
	defer db.Close()
	var ratios, p50, p99, ours, floors []float64
	for round := range rounds {
		task := func(w int) string { return fmt.Sprintf("task-%d-%d", round, w) }
		ready := make([][][]row, writers)
		steps := make([][]*store.Commit, writers)
		for w := range writers {
			ready[w] = rows(b, s, task(w), per)
			for i := range per {
				steps[w] = append(steps[w], step(task(w), i, store.Tip{}))
			}
		}
		tips := make([]store.Tip, writers)
		var our, floor load
		measureOurs := func() {
			our, err = run(writers, per, func(w, i int) (err error) {
				c := steps[w][i]
				c.Base = tips[w]
				tips[w], err = s.Commit(context.Background(), c)
				return err
			})
			require.NoError(b, err)
		}
		measureFloor := func() {
			floor, err = run(writers, per, func(w, i int) error { return raw(db, ready[w][i]) })
			require.NoError(b, err)
		}
		if round%2 == 0 {
			measureOurs()
			measureFloor()
		} else {
			measureFloor()
			measureOurs()
		}
		ratios = append(ratios, our.rate/floor.rate)
		p50 = append(p50, float64(our.at(0.5))/float64(floor.at(0.5)))
		p99 = append(p99, float64(our.at(0.99))/float64(floor.at(0.99)))
		ours, floors = append(ours, our.rate), append(floors, floor.rate)
	}
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(median(ours), "ours/s")
	b.ReportMetric(median(floors), "floor/s")
	b.ReportMetric(median(ratios), "ratio")
	b.ReportMetric(median(p50), "p50ratio")
	b.ReportMetric(median(p99), "p99ratio")
}
