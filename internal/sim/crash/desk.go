package crash

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/pawlgo/pawl/examples/refund/money"
	"github.com/pawlgo/pawl/examples/refund/refund"
	"github.com/pawlgo/pawl/guard"
	"github.com/pawlgo/pawl/machine"
	"github.com/pawlgo/pawl/resume"
	"github.com/pawlgo/pawl/store"
	"github.com/pawlgo/pawl/store/pebblestore"
)

const taskID = "refund_order_123"

// maxTurns is how many turns a desk may need to bring the task to its end.
const maxTurns = 30

var (
	alice  = guard.Principal{ID: "alice"}
	amount = money.Money{Minor: 4300, Currency: "EUR"}
)

// desk brings one refund to its end, from wherever it finds the task.
type desk struct {
	ctl   *resume.Controller
	chat  *guard.Authority
	shop  string // URL of the payment service
	s     *seam
	later atomic.Int64 // how far the desk's clock is ahead
	ack   func(version uint64)
}

func (d *desk) now() time.Time { return time.Now().Add(time.Duration(d.later.Load())) }

// run opens the store in dir and works until the task has ended.
func run(ctx context.Context, dir, shop string, reach func(string), ack func(uint64)) error {
	d := &desk{chat: guard.NewAuthority("customer_channel"), shop: shop, s: newSeam(reach), ack: ack}
	d.s.at("open/before")
	st, err := pebblestore.Open(dir, pebblestore.Options{Now: d.now})
	if err != nil {
		return err
	}
	d.s.at("open/after")
	if d.ctl, err = d.open(ctx, seamedStore{st, d.s}); err == nil {
		err = d.drive(ctx)
	}
	d.s.at("close/before")
	return errors.Join(err, st.Close())
}

func (d *desk) open(ctx context.Context, st store.Store) (*resume.Controller, error) {
	return resume.Open(ctx, st, resume.Config{
		Machines: []machine.Definition{refund.Machine},
		Observers: []resume.Observer{
			resume.Pull(refund.OrderOwner, observe(d, "owner", "alice")),
			resume.Pull(refund.OrderStatus, observe(d, "status", refund.OrderOpen)),
			resume.Pull(refund.Eligible, observe(d, "policy", refund.Eligibility{Eligible: true, Policy: "v7"})),
		},
		Effects: []resume.Handler{resume.Perform(refund.IssueRefund, d.send, d.find)},
		Trust:   []*guard.Authority{d.chat},
	})
}

// observe is a source that always says the same.
func observe[T any](d *desk, name string, v T) func(context.Context, guard.Query) (guard.Observed[T], error) {
	return func(_ context.Context, q guard.Query) (guard.Observed[T], error) {
		return around(d.s, name, func() (guard.Observed[T], error) { return guard.Observed[T]{Value: v, Subject: q.Subject}, nil })
	}
}

// drive plays the owner, the model and the worker until the task has ended.
func (d *desk) drive(ctx context.Context) error {
	s, err := d.ctl.Start(ctx, refund.Machine.Task(taskID, alice, refund.Refund{OrderID: "123", Amount: amount, Notes: []string{}}), alice)
	if errors.Is(err, resume.ErrExists) {
		s, err = d.ctl.Resume(ctx, taskID, alice)
	}
	for range maxTurns {
		if err != nil {
			return err
		}
		d.ack(s.Version())
		if refund.Machine.IsFinal(s.State()) {
			return nil
		}
		if err := d.turn(ctx, s); err != nil {
			return err
		}
		d.later.Add(int64(time.Minute))
		s, err = d.ctl.Resume(ctx, taskID, alice)
	}
	return fmt.Errorf("the task is still in %s", s.State())
}

func (d *desk) turn(ctx context.Context, s *resume.Session) error {
	switch s.State() {
	case refund.CheckingEligibility:
		return d.propose(ctx, s, refund.RequestRefund.With(machine.None{}))
	case refund.AwaitingUserConfirmation:
		confirm := refund.ConfirmRefund.With(refund.Confirm{OrderID: "123", Amount: amount})
		said := refund.Reply.Observe(d.chat, guard.Observed[guard.Reply]{
			Value: guard.Reply{By: "alice", Text: "yes, refund it", Shown: &guard.Shown{Message: "m1", At: s.Offers()[0].OpenedAt}}, Subject: s.Offers()[0].ID, At: d.now()})
		if err := d.propose(ctx, s, confirm); err != nil { // a model that is too eager
			return err
		}
		return d.propose(ctx, s, confirm, said)
	}
	return d.ctl.Work(ctx)
}

func (d *desk) propose(ctx context.Context, s *resume.Session, p machine.Proposal, carried ...guard.Observation) error {
	out, err := s.Propose(ctx, p, carried...)
	if err == nil && out.Kind == machine.Committed {
		d.ack(out.Version)
	}
	return err
}

// send pays by HTTP under the job's key.
func (d *desk) send(ctx context.Context, j machine.Job[refund.Payment]) (refund.Record, error) {
	return around(d.s, "send", func() (refund.Record, error) {
		body, err := json.Marshal(j.Args)
		if err != nil {
			return refund.Record{}, machine.NotSent(err)
		}
		r, _, err := call(ctx, http.MethodPost, d.shop, j.Key, body)
		return r, err
	})
}

func (d *desk) find(ctx context.Context, j machine.Job[refund.Payment]) (refund.Record, bool, error) {
	d.s.at("find/before")
	defer d.s.at("find/after")
	return call(ctx, http.MethodGet, d.shop, j.Key, nil)
}

func call(ctx context.Context, method, url, key string, body []byte) (refund.Record, bool, error) {
	req, err := http.NewRequestWithContext(ctx, method, url, bytes.NewReader(body))
	if err != nil {
		return refund.Record{}, false, err
	}
	req.Header.Set("Idempotency-Key", key)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return refund.Record{}, false, err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	switch {
	case err != nil:
		return refund.Record{}, false, err
	case resp.StatusCode == http.StatusNotFound && method == http.MethodGet:
		return refund.Record{}, false, nil
	case resp.StatusCode != http.StatusOK:
		return refund.Record{}, false, fmt.Errorf("status %d", resp.StatusCode)
	}
	var r refund.Record
	err = json.Unmarshal(text, &r)
	return r, err == nil, err
}
