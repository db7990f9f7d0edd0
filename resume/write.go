package resume

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/pawlgo/pawl/machine"
	"github.com/pawlgo/pawl/store"
)

// oncePrefix is what the once-names of idempotency keys begin with.
const oncePrefix = "key/"

var buffers = sync.Pool{New: func() any { b := make([]byte, 0, 4<<10); return &b }}

// write commits the next version: state, history, timers, offers, intents and the idempotency key in one synced write, or
// nothing (law 7). What was judged is compared inside the write: version and hash of the base, the time that the evidence
// is good for, the revision of an effect that it settles.
func (c *Controller) write(ctx context.Context, base loaded, next machine.Snapshot[any], entry *machine.Entry, settle []store.Settle) (loaded, error) {
	snapshot, line := buffers.Get().(*[]byte), buffers.Get().(*[]byte)
	defer buffers.Put(snapshot)
	defer buffers.Put(line)
	var err error
	if *snapshot, err = base.m.Encode((*snapshot)[:0], next); err != nil {
		return loaded{}, err
	}
	if *line, err = entry.Append((*line)[:0]); err != nil {
		return loaded{}, err
	}
	commit := &store.Commit{
		Record: store.Record{Task: next.Task, At: next.UpdatedAt.UnixMicro(), Nonce: newNonce(), Meta: base.meta(next),
			Snapshot: *snapshot, Entry: *line},
		Base:   base.tip,
		Emit:   emitted(next),
		Settle: settle,
	}
	if w := entry.Window(); !w.Until.IsZero() {
		commit.Until = w.Until.UnixMicro()
	}
	if commit.Once = entry.Seen(); entry.Key != "" {
		commit.Once = append(slices.Clone(commit.Once), oncePrefix+entry.Key)
	}
	tip, err := c.commit(ctx, base, next, entry, commit)
	if err != nil {
		if tip, err = c.landed(ctx, next.Task, err); err != nil {
			return loaded{}, err
		}
	}
	l := loaded{tip, base.m, next}
	c.cache.put(l)
	c.tellCommit(ctx, l, entry)
	if len(commit.Emit) > 0 || commit.Meta.Wake != 0 {
		c.stir()
	}
	return l, nil
}

// commit hands the commit to the store, with what it takes from shared resources and gives back to them; again when another task
// changed one of them meanwhile.
func (c *Controller) commit(ctx context.Context, base loaded, next machine.Snapshot[any], entry *machine.Entry, commit *store.Commit) (tip store.Tip, err error) {
	for range maxRaces {
		if commit.Swap, err = c.swaps(ctx, base, next, entry); err != nil {
			return store.Tip{}, err
		}
		if len(commit.Emit) > 0 {
			if commit.Expect, err = c.unstopped(ctx, base.m); err != nil {
				return store.Tip{}, err
			}
		}
		if tip, err = c.st.Commit(ctx, commit); !errors.Is(err, store.ErrSwap) {
			break
		}
		c.freezes.forget(base.m.Name())
	}
	return tip, err
}

// landed tells a commit whose answer was lost from one that did not happen: by its hash (law 7, ErrUncertain).
func (c *Controller) landed(ctx context.Context, task string, err error) (store.Tip, error) {
	var lost *store.UncertainError
	if !errors.As(err, &lost) {
		return store.Tip{}, err
	}
	if tip, e := c.st.Tip(ctx, task); e == nil && tip == lost.Tip {
		return tip, nil
	}
	return store.Tip{}, err
}

// emitted are the effect rows of the intents that this version makes.
func emitted(s machine.Snapshot[any]) []store.Effect {
	var out []store.Effect
	for _, i := range s.Intents {
		if i.Since == s.Version && i.Unsettled() {
			out = append(out, store.Effect{Task: s.Task, ID: i.Key, Ready: i.At.UnixMicro(), Body: noProgress})
		}
	}
	return out
}

// progress is what workers know of an effect between its intent and its end.
type progress struct {
	Attempts int    `json:"attempts"`
	Lookups  int    `json:"lookups"`
	Waits    int    `json:"waits,omitempty"`  // how often something hindered it since the last attempt
	First    int64  `json:"first,omitempty"`  // microseconds of the first attempt
	Latest   int64  `json:"latest,omitempty"` // microseconds after which it was surely not sent; 0 when that is not known
	Maybe    bool   `json:"maybe,omitempty"`  // an attempt may have arrived
	Last     string `json:"last,omitempty"`   // why it is not settled yet
}

// noProgress is how every effect begins. Nobody may change it.
var noProgress = progress{}.encode()

func (p progress) encode() []byte {
	b, err := json.Marshal(p)
	if err != nil {
		panic(fmt.Sprintf("resume: progress does not encode: %v", err)) // plain fields always do
	}
	return b
}

func decodeProgress(raw []byte) (progress, error) {
	var p progress
	err := json.Unmarshal(raw, &p)
	return p, err
}

// stir wakes Run.
func (c *Controller) stir() {
	stir(c.wake)
	stir(c.timerWake)
}

func stir(wake chan struct{}) {
	select {
	case wake <- struct{}{}:
	default:
	}
}
