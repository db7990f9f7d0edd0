package store_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlgo/pawl/store"
)

func TestClock(t *testing.T) {
	at := time.UnixMicro(100)
	c := store.NewClock(func() time.Time { return at }, 70)
	require.EqualValues(t, 100, c.Now())
	at = time.UnixMicro(50)
	require.EqualValues(t, 100, c.Now(), "never back")
	at = time.UnixMicro(101)
	require.EqualValues(t, 101, c.Now())
	require.EqualValues(t, 1000, store.NewClock(func() time.Time { return at }, 1000).Now(), "never below its floor")
	require.Greater(t, store.NewClock(nil, 0).Now(), store.Micros(1_600_000_000_000_000))
}

func TestSlots(t *testing.T) {
	require.True(t, store.Slots{}.Has("a"))
	slot := store.SlotOf("a")
	require.Less(t, slot, uint16(store.MaxSlot))
	require.True(t, store.Slots{From: slot, To: slot + 1}.Has("a"))
	require.False(t, store.Slots{From: slot + 1, To: store.MaxSlot}.Has("a"))
	require.False(t, store.Slots{From: 0, To: slot}.Has("a"))
	require.EqualValues(t, 0xca9, slot, "the first 12 bits of the SHA-256 of the id: it must never change")
}

func TestErrorsTellWhat(t *testing.T) {
	for err, says := range map[error]string{
		&store.ConflictError{Task: "t", Base: store.Tip{Version: 1}, Tip: store.Tip{Version: 2}}: "task t: judged on version 1, newest is 2",
		&store.ConflictError{Task: "t", Base: store.Tip{Version: 2}, Tip: store.Tip{Version: 2}}: "another content",
		&store.TakenError{Task: "t", Name: "n", Version: 3}:                                      `task t: "n" was taken by version 3`,
		&store.LapsedError{Task: "t", Now: 9, From: 1, Until: 5}:                                 "task t: now 9 is not in [1, 5)",
		&store.FencedError{Task: "t", Effect: "e", Want: 41, Have: 42}:                           "task t: effect e has revision 42, not 41",
		&store.FencedError{Task: "t", Effect: "e", Want: 41}:                                     "is not unsettled",
		&store.SwapError{Task: "t", Resource: "r", Want: 1, Have: 2}:                             "resource r has revision 2, not 1",
		&store.CorruptError{Task: "t", Version: 4, What: "x"}:                                    "task t, version 4: x",
		&store.NewerError{Task: "t", Version: 4, Format: 2, Known: 1}:                            "task t, version 4: format 2, newest known is 1",
		&store.NewerError{Format: 2, Known: 1}:                                                   "store has format 2",
		&store.ErasedError{Task: "t", Tip: store.Tip{Version: 4}}:                                "task t: erased at version 4",
		&store.TooBigError{Task: "t", What: "x", Size: 2, Most: 1}:                               "task t: x is 2, at most 1",
		&store.UncertainError{Task: "t", Tip: store.Tip{Version: 4}, Cause: store.ErrFailed}:     "task t, version 4: outcome is unknown",
	} {
		require.ErrorContains(t, err, says)
	}
	require.ErrorIs(t, &store.UncertainError{Cause: store.ErrFailed}, store.ErrFailed)
	require.ErrorIs(t, &store.UncertainError{Cause: store.ErrFailed}, store.ErrUncertain)
}
