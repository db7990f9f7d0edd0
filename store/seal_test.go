package store_test

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlgo/pawl/store"
)

func sample() store.Record {
	return store.Record{
		Task: "refund_order_123", Tip: store.Tip{Version: 7}, Prev: sha256.Sum256([]byte("six")), At: 1_700_000_000_000_000, Nonce: 1 << 63,
		Meta: store.Meta{
			Machine: "refund", State: "awaiting_reply", Owner: "kim", WaitsFor: "kim", Since: 1_600_000_000_000_000,
			Wake: 1_800_000_000_000_000, Final: true,
		},
		Changes: []byte{0, 0, 0, 0}, Snapshot: []byte(`{"amount":4900,"currency":"EUR"}`), Entry: []byte("entry"),
	}
}

func TestSealRoundTrips(t *testing.T) {
	for _, s := range []*store.Sealer{{}, store.NewSealer(nil), store.NewSealer([]byte("key"))} {
		for _, kind := range []store.Kind{store.KindRecord, store.KindErased} {
			rec := sample()
			out, key := s.Seal([]byte("before"), &rec, kind)
			out = out[len("before"):]
			require.Equal(t, store.AppendKey(nil, rec.Task, 7), out[:key])
			got, k, err := s.Open(rec.Task, 7, out[key:])
			require.NoError(t, err)
			require.Equal(t, kind, k)
			require.Equal(t, rec, got)
			got, k, err = s.Reopen(rec.Task, rec.Tip, out[key:])
			require.NoError(t, err)
			require.Equal(t, kind, k)
			require.Equal(t, rec, got)
		}
		tip := store.Tip{Version: 7, Hash: sha256.Sum256(nil)}
		out, key := s.SealBase(nil, "a", tip)
		got, k, err := s.Open("a", 7, out[key:])
		require.NoError(t, err)
		require.Equal(t, store.KindBase, k)
		require.Equal(t, store.Record{Task: "a", Tip: tip}, got)
	}
}

const (
	goldenRecord = "010144778d82365e4af681c40d5f0eef5cf6f5899d3f0ac335050a7ed6779cf3f674800000000000000000060a24181e40000005af3107a40000000665172898800006726566756e640e6177616974696e675f7265706c79036b696d036b696d0400000000207b22616d6f756e74223a343930302c2263757272656e6379223a22455552227d05656e7472790042ead532"
	goldenHash   = "5a28d79f14f4919eca2b6093f915aaf292318196dca595accc634b8d2c4f3e5c"
)

// TestSealGolden holds the format still: these bytes were written by the first version and must open forever.
func TestSealGolden(t *testing.T) {
	rec := sample()
	out, key := (&store.Sealer{}).Seal(nil, &rec, store.KindRecord)
	require.Equal(t, goldenRecord, hex.EncodeToString(out[key:]))
	require.Equal(t, goldenHash, hex.EncodeToString(rec.Tip.Hash[:]))
	value, err := hex.DecodeString(goldenRecord)
	require.NoError(t, err)
	got, _, err := (&store.Sealer{}).Open(rec.Task, 7, value)
	require.NoError(t, err)
	require.Equal(t, rec, got)
}

// TestEveryDamageIsFound changes every byte to every other value, and cuts at every length: each is found, and named.
// (Field case B060.)
func TestEveryDamageIsFound(t *testing.T) {
	for _, s := range []*store.Sealer{{}, store.NewSealer([]byte("key"))} {
		rec := sample()
		out, key := s.Seal(nil, &rec, store.KindRecord)
		value := out[key:]
		named := func(err error) {
			var corrupt *store.CorruptError
			require.ErrorAs(t, err, &corrupt)
			require.Equal(t, rec.Task, corrupt.Task)
			require.EqualValues(t, 7, corrupt.Version)
		}
		for i := range value {
			for d := 1; d < 256; d++ {
				value[i] ^= byte(d)
				_, _, err := s.Open(rec.Task, 7, value)
				value[i] ^= byte(d)
				named(err)
			}
			_, _, err := s.Open(rec.Task, 7, value[:i])
			named(err)
		}
		_, _, err := s.Open(rec.Task, 8, value)
		require.ErrorIs(t, err, store.ErrCorrupt, "a record passed off as another version")
		_, _, err = s.Open("refund_order_124", 7, value)
		require.ErrorIs(t, err, store.ErrCorrupt, "a record passed off as another task's")
		_, _, err = s.Open(rec.Task, 7, append(value[:len(value):len(value)], 0))
		require.ErrorIs(t, err, store.ErrCorrupt)
	}
}

func TestHashDoesNotDependOnTheKey(t *testing.T) {
	a, b := sample(), sample()
	(&store.Sealer{}).Seal(nil, &a, store.KindRecord)
	store.NewSealer([]byte("key")).Seal(nil, &b, store.KindRecord)
	require.Equal(t, a.Tip, b.Tip)
}

// TestHashCoversEverything changes one field at a time.
func TestHashCoversEverything(t *testing.T) {
	seen := map[[32]byte]string{}
	for what, change := range map[string]func(*store.Record){
		"nothing":  func(*store.Record) {},
		"task":     func(r *store.Record) { r.Task = "b" },
		"version":  func(r *store.Record) { r.Tip.Version++ },
		"prev":     func(r *store.Record) { r.Prev[0]++ },
		"at":       func(r *store.Record) { r.At++ },
		"nonce":    func(r *store.Record) { r.Nonce++ },
		"machine":  func(r *store.Record) { r.Meta.Machine = "x" },
		"state":    func(r *store.Record) { r.Meta.State = "x" },
		"owner":    func(r *store.Record) { r.Meta.Owner = "x" },
		"waits":    func(r *store.Record) { r.Meta.WaitsFor = "x" },
		"since":    func(r *store.Record) { r.Meta.Since++ },
		"wake":     func(r *store.Record) { r.Meta.Wake++ },
		"final":    func(r *store.Record) { r.Meta.Final = false },
		"changes":  func(r *store.Record) { r.Changes = nil },
		"snapshot": func(r *store.Record) { r.Snapshot = nil },
		"entry":    func(r *store.Record) { r.Entry = nil },
		"shifted":  func(r *store.Record) { r.Meta.Machine, r.Meta.State = "refunda", "waiting_reply" },
	} {
		r := sample()
		change(&r)
		(&store.Sealer{}).Seal(nil, &r, store.KindRecord)
		require.Empty(t, seen[r.Tip.Hash], "%s is not covered", what)
		seen[r.Tip.Hash] = what
	}
}

// TestNewerRecordIsTold tells a newer format from damage. (Field cases B057, B067.)
func TestNewerRecordIsTold(t *testing.T) {
	rec := sample()
	out, key := (&store.Sealer{}).Seal(nil, &rec, store.KindRecord)
	value := newer(out, key)
	_, _, err := (&store.Sealer{}).Open(rec.Task, 7, value)
	var e *store.NewerError
	require.True(t, errors.As(err, &e))
	require.Equal(t, store.NewerError{Task: rec.Task, Version: 7, Format: 2, Known: 1}, *e)
}

func FuzzOpenRecord(f *testing.F) {
	rec := sample()
	out, key := (&store.Sealer{}).Seal(nil, &rec, store.KindRecord)
	f.Add(out[key : len(out)-4])
	base, key := (&store.Sealer{}).SealBase(nil, rec.Task, store.Tip{Version: 7})
	f.Add(base[key : len(base)-4])
	f.Fuzz(func(t *testing.T, body []byte) {
		value := summed(store.AppendKey(nil, rec.Task, 7), body)
		got, kind, err := (&store.Sealer{}).Open(rec.Task, 7, value)
		if err != nil || kind == store.KindBase {
			return
		}
		again, key := (&store.Sealer{}).Seal(nil, &got, kind)
		back, _, err := (&store.Sealer{}).Open(rec.Task, 7, again[key:])
		require.NoError(t, err)
		require.Equal(t, got.Meta, back.Meta)
		_, _ = store.ParseChanges(got.Changes)
	})
}
