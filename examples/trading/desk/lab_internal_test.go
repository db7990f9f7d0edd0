package desk

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlgo/pawl/examples/trading/exchange"
	"github.com/pawlgo/pawl/examples/trading/price"
	"github.com/pawlgo/pawl/examples/trading/trading"
	"github.com/pawlgo/pawl/machine"
	"github.com/pawlgo/pawl/store"
)

// clock is an instant of the story: "10:07".
func clock(hhmm string) time.Time {
	t, err := time.ParseInLocation("2006-01-02 15:04", "2026-08-13 "+hhmm, trading.Taipei)
	if err != nil {
		panic(err)
	}
	return t
}

// lab is a desk on a store in memory, and an exchange, at one time.
type lab struct {
	t      *testing.T
	now    time.Time
	market *exchange.Client
	store  store.Store
	desk   *Desk
}

var mandate = trading.Mandate{Low: price.Must("235"), High: price.Must("290"), Most: price.Must("3000"), Lot: price.Must("1000")}

// openLab is the morning: the operator has allowed what is allowed, and the account holds a quantity.
func openLab(t *testing.T, held string) *lab {
	l := &lab{t: t, now: clock("09:00")}
	urls := make(chan string)
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	day := exchange.Config{Now: l.now, Opens: clock("09:00"), Closes: clock("13:30"), Cash: price.Must("1000000"),
		Positions: map[string]price.Decimal{Symbol: price.Must(held)},
		Prices: []exchange.Tick{{At: clock("09:00"), Symbol: Symbol, Last: price.Must("264")}, {At: clock("10:07"), Symbol: Symbol, Last: price.Must("261")},
			{At: clock("11:20"), Symbol: Symbol, Last: price.Must("256")}, {At: clock("12:10"), Symbol: Symbol, Last: price.Must("230")},
			{At: clock("12:30"), Symbol: Symbol, Last: price.Must("253")}},
	}
	go func() { ended <- exchange.Serve(ctx, day, func(url string) { urls <- url }) }()
	t.Cleanup(func() { stop(); require.NoError(t, <-ended) })
	select {
	case url := <-urls:
		l.market = exchange.NewClient(url)
	case err := <-ended:
		require.NoError(t, err)
	}
	l.store = store.NewMemory(store.MemoryOptions{Now: func() time.Time { return l.now }})
	l.open(l.store)
	require.NoError(t, l.desk.Begin(t.Context()))
	l.commits(l.desk.Allow(t.Context(), mandate))
	return l
}

// open opens a desk on the store: another process, as far as the desk can tell.
func (l *lab) open(st store.Store) {
	var err error
	l.desk, err = Open(l.t.Context(), Options{Store: st, Exchange: l.market})
	require.NoError(l.t, err)
}

func (l *lab) at(hhmm string) {
	l.now = clock(hhmm)
	require.NoError(l.t, l.market.SetNow(l.t.Context(), l.now))
}

func (l *lab) commits(out machine.Outcome, err error) machine.Outcome {
	l.t.Helper()
	require.NoError(l.t, err)
	require.NoError(l.t, out.Err())
	return out
}

func (l *lab) refuses(code string, out machine.Outcome, err error) {
	l.t.Helper()
	require.NoError(l.t, err)
	require.NotEqual(l.t, machine.Committed, out.Kind)
	require.Equal(l.t, code, out.Code(), out.Findings)
}

// set is a call of working_state_set.
func (l *lab) set(value string, more map[string]any) (machine.Outcome, error) {
	args := map[string]any{"key": Rule, "value": value, "reason": "because"}
	for k, v := range more {
		args[k] = v
	}
	raw, err := json.Marshal(args)
	require.NoError(l.t, err)
	return l.desk.Call(l.t.Context(), ToolCall{Run: "run", Tool: "working_state_set", Args: string(raw)})
}

// wake lets the model answer, and wants the outcomes of its answers.
func (l *lab) wake(answers ...string) Woken {
	l.t.Helper()
	w, err := l.desk.Wake(l.t.Context(), Wake{Run: "run", Answers: answers})
	require.NoError(l.t, err)
	return w
}

func (l *lab) standing() Standing {
	l.t.Helper()
	s, err := l.desk.Standing(l.t.Context())
	require.NoError(l.t, err)
	return s
}

func (l *lab) orders() []exchange.Order {
	l.t.Helper()
	o, err := l.market.All(l.t.Context())
	require.NoError(l.t, err)
	return o
}

const (
	exitIt = `{"event":"exit_position","payload":{"rule":"stop_loss.2317"}}`
	holdIt = `{"event":"hold","payload":{"text":"my notes say 257"}}`
)
