package exchange_test

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlgo/pawl/examples/trading/exchange"
	"github.com/pawlgo/pawl/examples/trading/price"
)

var (
	nine = time.Date(2026, 8, 13, 9, 0, 0, 0, time.UTC)
	day  = exchange.Config{
		Now: nine, Opens: nine, Closes: nine.Add(4 * time.Hour), Cash: price.Must("1000"),
		Positions: map[string]price.Decimal{"2317": price.Must("10")},
		Prices: []exchange.Tick{{At: nine, Symbol: "2317", Last: price.Must("100")},
			{At: nine.Add(time.Hour), Symbol: "2317", Last: price.Must("90")}},
	}
)

func open(t *testing.T, day exchange.Config) (*exchange.Client, string) {
	t.Helper()
	ctx, stop := context.WithCancel(context.Background())
	urls, ended := make(chan string, 1), make(chan error, 1)
	go func() { ended <- exchange.Serve(ctx, day, func(url string) { urls <- url }) }()
	t.Cleanup(func() { stop(); require.NoError(t, <-ended) })
	url := <-urls
	return exchange.NewClient(url), url
}

func order(id string, side exchange.Side, quantity, limit string) exchange.Request {
	return exchange.Request{ClientOrderID: id, Symbol: "2317", Side: side, Quantity: price.Must(quantity), Limit: price.Must(limit)}
}

func refused(t *testing.T, code string, err error) {
	t.Helper()
	require.ErrorIs(t, err, exchange.ErrRefused)
	var r *exchange.Refusal
	require.ErrorAs(t, err, &r)
	require.Equal(t, code, r.Code)
}

func TestTimeAndPrices(t *testing.T) {
	c, _ := open(t, day)
	q, err := c.Quote(t.Context(), "2317")
	require.NoError(t, err)
	require.Equal(t, exchange.Quote{Symbol: "2317", Last: price.Must("100"), Trading: true, At: nine}, q)
	for _, row := range []struct {
		after   time.Duration
		last    string
		trading bool
	}{{time.Hour - 1, "100", true}, {time.Hour, "90", true}, {4*time.Hour - 1, "90", true}, {4 * time.Hour, "90", false}} {
		require.NoError(t, c.SetNow(t.Context(), nine.Add(row.after)))
		q, err := c.Quote(t.Context(), "2317")
		require.NoError(t, err)
		require.Equal(t, row.last, q.Last.String())
		require.Equal(t, row.trading, q.Trading)
	}
	require.NoError(t, c.SetNow(t.Context(), nine.Add(-1)))
	_, err = c.Quote(t.Context(), "2317")
	refused(t, exchange.CodeNoSymbol, err)
	_, err = c.Quote(t.Context(), "2330")
	refused(t, exchange.CodeNoSymbol, err)
}

// An order fills at once at the last price, and is never among the open ones.
func TestFilledAtOnce(t *testing.T) {
	c, _ := open(t, day)
	o, err := c.Place(t.Context(), order("a", exchange.Sell, "4", "95"))
	require.NoError(t, err)
	require.Equal(t, exchange.Filled, o.Status)
	require.Equal(t, []exchange.Fill{{Quantity: price.Must("4"), Price: price.Must("100")}}, o.Fills)
	p, err := c.Position(t.Context(), "2317")
	require.NoError(t, err)
	require.Equal(t, "6", p.Quantity.String())

	open, err := c.Open(t.Context())
	require.NoError(t, err)
	require.Empty(t, open)
	found, ok, err := c.Find(t.Context(), "a")
	require.NoError(t, err)
	require.True(t, ok)
	require.Equal(t, o, found)
	_, ok, err = c.Find(t.Context(), "b")
	require.NoError(t, err)
	require.False(t, ok)
}

// One order for each client order id: the same request gets the stored order, another one is refused.
func TestClientOrderID(t *testing.T) {
	c, _ := open(t, day)
	first, err := c.Place(t.Context(), order("a", exchange.Sell, "4", "95"))
	require.NoError(t, err)
	again, err := c.Place(t.Context(), order("a", exchange.Sell, "4", "95"))
	require.NoError(t, err)
	require.Equal(t, first, again)
	_, err = c.Place(t.Context(), order("a", exchange.Sell, "5", "95"))
	refused(t, exchange.CodeReused, err)
	for id, fine := range map[string]bool{
		"": false, "a b": false, "é": false, strings.Repeat("x", exchange.MaxClientOrderID): true, strings.Repeat("x", exchange.MaxClientOrderID+1): false,
	} {
		_, err := c.Place(t.Context(), order(id, exchange.Sell, "1", "95"))
		if fine {
			require.NoError(t, err)
			continue
		}
		require.ErrorIs(t, err, exchange.ErrNotSent)
	}
	all, err := c.All(t.Context())
	require.NoError(t, err)
	require.Len(t, all, 2)
}

// What is not covered, or comes when the market is closed, is rejected, kept, and changes nothing.
func TestRejections(t *testing.T) {
	for name, row := range map[string]struct {
		order exchange.Request
		after time.Duration
		code  string
	}{
		"funds":           {order("a", exchange.Buy, "10.000001", "100"), 0, exchange.CodeFunds},
		"too much":        {order("a", exchange.Buy, "9000000000000", "100"), 0, exchange.CodeFunds},
		"shares":          {order("a", exchange.Sell, "10.000001", "95"), 0, exchange.CodeShares},
		"closed":          {order("a", exchange.Sell, "1", "80"), 4 * time.Hour, exchange.CodeClosed},
		"before it opens": {order("a", exchange.Sell, "1", "80"), -1, exchange.CodeNoSymbol},
	} {
		t.Run(name, func(t *testing.T) {
			c, _ := open(t, day)
			require.NoError(t, c.SetNow(t.Context(), nine.Add(row.after)))
			for range 2 { // and the second time as well
				_, err := c.Place(t.Context(), row.order)
				refused(t, row.code, err)
			}
			p, err := c.Position(t.Context(), "2317")
			require.NoError(t, err)
			require.Equal(t, "10", p.Quantity.String())
			o, found, err := c.Find(t.Context(), "a")
			require.NoError(t, err)
			require.Equal(t, row.code != exchange.CodeNoSymbol, found)
			if found {
				require.Equal(t, exchange.Rejected, o.Status)
				require.Equal(t, row.code, o.Reason)
			}
		})
	}
	c, _ := open(t, day)
	o, err := c.Place(t.Context(), order("a", exchange.Buy, "10", "100"))
	require.NoError(t, err, "what the cash just covers is filled")
	require.Equal(t, exchange.Filled, o.Status)
	_, err = c.Place(t.Context(), order("b", exchange.Buy, "0.000001", "100"))
	refused(t, exchange.CodeFunds, err)
	require.NoError(t, c.SetCash(t.Context(), price.Must("100")))
	_, err = c.Place(t.Context(), order("c", exchange.Buy, "1", "100"))
	require.NoError(t, err)
}

// Past its limit, or with nobody to trade with, an order is cancelled; with somebody for a part, it is filled in part.
func TestNotFilled(t *testing.T) {
	c, _ := open(t, day)
	for id, r := range map[string]exchange.Request{"a": order("a", exchange.Sell, "1", "100.000001"), "b": order("b", exchange.Buy, "1", "99.999999")} {
		o, err := c.Place(t.Context(), r)
		require.NoError(t, err)
		require.Equal(t, exchange.Cancelled, o.Status, id)
		require.Zero(t, o.Filled.Sign())
	}
	require.NoError(t, c.SetDepth(t.Context(), "2317", price.Must("2.4")))
	o, err := c.Place(t.Context(), order("c", exchange.Sell, "10", "95"))
	require.NoError(t, err)
	require.Equal(t, exchange.PartFilled, o.Status)
	require.Equal(t, "2.4", o.Filled.String())
	p, err := c.Position(t.Context(), "2317")
	require.NoError(t, err)
	require.Equal(t, "7.6", p.Quantity.String())
	require.NoError(t, c.Transfer(t.Context(), "2317", price.Must("0.4")))
	p, err = c.Position(t.Context(), "2317")
	require.NoError(t, err)
	require.Equal(t, "8", p.Quantity.String())
	refused(t, exchange.CodeMalformed, c.Transfer(t.Context(), "2317", price.Must("9223372036854")))
}

// What was cut is not known; what did not get there was surely not sent; what failed on the way may have happened.
func TestFaults(t *testing.T) {
	c, _ := open(t, day)
	id, err := c.SetFault(t.Context(), exchange.Fault{Op: exchange.OpPlace, Action: exchange.CutAfter})
	require.NoError(t, err)
	_, err = c.Place(t.Context(), order("a", exchange.Sell, "1", "95"))
	require.Error(t, err)
	require.NotErrorIs(t, err, exchange.ErrNotSent)
	require.NotErrorIs(t, err, exchange.ErrRefused)
	require.NoError(t, c.AwaitFault(t.Context(), id))
	_, found, err := c.Find(t.Context(), "a")
	require.NoError(t, err)
	require.True(t, found)

	_, err = c.SetFault(t.Context(), exchange.Fault{Op: exchange.OpFind, Action: exchange.Fail})
	require.NoError(t, err)
	_, _, err = c.Find(t.Context(), "a")
	require.Error(t, err)
	require.NotErrorIs(t, err, exchange.ErrRefused)

	_, err = c.SetFault(t.Context(), exchange.Fault{Op: "x", Action: exchange.Fail})
	refused(t, exchange.CodeMalformed, err)
	refused(t, exchange.CodeMalformed, c.AwaitFault(t.Context(), 99))
	_, err = exchange.NewClient("http://127.0.0.1:1").Place(t.Context(), order("b", exchange.Sell, "1", "95"))
	require.ErrorIs(t, err, exchange.ErrNotSent)
}

// A hundred callers with one client order id make one order.
func TestOneOrderForManyCallers(t *testing.T) {
	c, _ := open(t, day)
	var callers sync.WaitGroup
	for range 100 {
		callers.Go(func() { _, _ = c.Place(context.Background(), order("a", exchange.Sell, "1", "95")) })
	}
	callers.Wait()
	all, err := c.All(t.Context())
	require.NoError(t, err)
	require.Len(t, all, 1)
	p, err := c.Position(t.Context(), "2317")
	require.NoError(t, err)
	require.Equal(t, "9", p.Quantity.String())
}

// Requests that are none are refused, and numbers are not taken for decimals.
func TestMalformed(t *testing.T) {
	_, url := open(t, day)
	for _, body := range []string{
		``, `{`, `{"client_order_id":"a","symbol":"2317","side":"sell","quantity":1,"limit":"95"}`,
		`{"client_order_id":"a","symbol":"2317","side":"sell","quantity":null,"limit":"95"}`,
		`{"client_order_id":"a","symbol":"2317","side":"sell","quantity":"-1","limit":"95"}`,
		`{"client_order_id":"a","symbol":"2317","side":"give","quantity":"1","limit":"95"}`,
		`{"client_order_id":"a","symbol":"2317","side":"sell","quantity":"1","limit":"95","more":1}`,
		`"` + strings.Repeat("x", exchange.MaxBody) + `"`,
	} {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url+"/orders", bytes.NewReader([]byte(body)))
		require.NoError(t, err)
		resp, err := http.DefaultClient.Do(req)
		require.NoError(t, err)
		var r exchange.Refusal
		require.NoError(t, json.NewDecoder(resp.Body).Decode(&r))
		require.NoError(t, resp.Body.Close())
		require.Equal(t, http.StatusBadRequest, resp.StatusCode, "%.80s", body)
		require.Equal(t, exchange.CodeMalformed, r.Code)
	}
}

func TestConfig(t *testing.T) {
	for name, change := range map[string]func(*exchange.Config){
		"closes first": func(c *exchange.Config) { c.Closes = c.Opens },
		"no symbol":    func(c *exchange.Config) { c.Prices = []exchange.Tick{{At: nine, Last: price.Must("1")}} },
		"no price":     func(c *exchange.Config) { c.Prices = []exchange.Tick{{At: nine, Symbol: "2317"}} },
		"out of order": func(c *exchange.Config) { c.Prices = []exchange.Tick{day.Prices[1], day.Prices[0]} },
	} {
		c := day
		change(&c)
		require.Error(t, exchange.Serve(t.Context(), c, func(string) { t.Error(name + " is served") }), name)
	}
}
