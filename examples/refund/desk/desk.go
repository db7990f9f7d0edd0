package desk

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"sync"
	"sync/atomic"
	"time"

	projection "github.com/pawlgo/pawl/context"
	"github.com/pawlgo/pawl/examples/refund/model"
	"github.com/pawlgo/pawl/examples/refund/money"
	"github.com/pawlgo/pawl/examples/refund/refund"
	"github.com/pawlgo/pawl/examples/refund/shop"
	"github.com/pawlgo/pawl/guard"
	"github.com/pawlgo/pawl/machine"
	"github.com/pawlgo/pawl/resume"
	"github.com/pawlgo/pawl/store/pebblestore"
)

// system is what a model is told besides the view.
const system = "You help a refund desk. Answer with one JSON object of the given schema and nothing else. You propose; the desk decides."

// desk is the running service.
type desk struct {
	cfg    Config
	st     *pebblestore.Store
	ctl    *resume.Controller
	second *resume.Controller // a colleague on the same store
	shop   *shop.Client
	model  model.Model // nil: the story's script
	chat   *guard.Authority
	bank   *guard.Authority
	offset atomic.Int64
	turns  sync.Mutex // one message at a time: whoever writes next has seen the answer
	talk   talk
}

func (d *desk) now() time.Time { return time.Now().Add(time.Duration(d.offset.Load())) }

func open(ctx context.Context, cfg Config) (*desk, error) {
	d := &desk{cfg: cfg, chat: guard.NewAuthority("customer_channel"), bank: guard.NewAuthority("payments")}
	d.offset.Store(int64(cfg.ClockOffset))
	var err error
	if d.shop, err = shop.NewClient(cfg.Shop, 0); err != nil {
		return nil, err
	}
	if cfg.ModelURL != "" {
		if d.model, err = model.NewOpenAI(model.Config{BaseURL: cfg.ModelURL, Model: cfg.Model, APIKey: cfg.APIKey}); err != nil {
			return nil, err
		}
	}
	if d.st, err = pebblestore.Open(cfg.Dir, pebblestore.Options{Now: d.now}); err != nil {
		return nil, err
	}
	for _, ctl := range []**resume.Controller{&d.ctl, &d.second} {
		if *ctl, err = d.controller(ctx); err != nil {
			return nil, errors.Join(err, d.st.Close())
		}
	}
	return d, nil
}

func (d *desk) controller(ctx context.Context) (*resume.Controller, error) {
	side := shopside{d.shop}
	return resume.Open(ctx, d.st, resume.Config{
		Machines:  []machine.Definition{refund.Machine},
		Observers: side.observers(),
		Effects:   []resume.Handler{resume.Perform(refund.IssueRefund, side.send, side.find)},
		Trust:     []*guard.Authority{d.chat, d.bank},
		Poll:      50 * time.Millisecond,
		Problem: func(err error) {
			if !errors.Is(err, context.Canceled) {
				log.Print(err)
			}
		},
	})
}

// Begin asks the shop about an order and puts the refund to its owner.
type Begin struct {
	Who     string      `json:"who"`
	OrderID string      `json:"order_id"`
	Amount  money.Money `json:"amount"`
}

// Said is what came of one step, for whoever plays the story.
type Said struct {
	Outcome machine.Outcome `json:"outcome"`
	Report  string          `json:"report"`
	View    string          `json:"view,omitempty"`   // what the model was shown
	Output  string          `json:"output,omitempty"` // what it answered
}

func (d *desk) begin(ctx context.Context, b Begin) (Said, error) {
	who := guard.Principal{ID: b.Who}
	s, err := d.ctl.Start(ctx, refund.Machine.Task(TaskID, who, refund.Refund{OrderID: b.OrderID, Amount: b.Amount}), who)
	if err != nil {
		return Said{}, err
	}
	if _, err := s.Look(ctx, refund.OrderOwner, refund.OrderStatus); err != nil {
		return Said{}, err
	}
	if _, err := s.Look(ctx, refund.Eligible); err != nil {
		return Said{}, err
	}
	out, err := s.Propose(ctx, refund.RequestRefund.With(machine.None{}).As(guard.User))
	result, err := said(ctx, s, out, err)
	d.talk.showed(s.Offers(), d.now())
	return result, err
}

func said(ctx context.Context, s *resume.Session, out machine.Outcome, err error) (Said, error) {
	if err != nil {
		return Said{}, err
	}
	r, err := s.Report(ctx)
	return Said{Outcome: out, Report: r.String()}, err
}

// Turn is one message of a customer, and what the scripted model answers to it; with no script, and no real model, a simple rule
// answers. With Raw, the model speaks without a customer having said anything.
type Turn struct {
	Who    string `json:"who"`
	Text   string `json:"text"`
	Script string `json:"script,omitempty"`
	Raw    bool   `json:"raw,omitempty"`
}

// turn is the service loop: find what the customer means, show the model its view, let it propose, and judge that.
func (d *desk) turn(ctx context.Context, t Turn) (Said, error) {
	d.turns.Lock()
	defer d.turns.Unlock()
	who := guard.Principal{ID: t.Who}
	found, err := d.ctl.Waiting(ctx, who)
	if err != nil {
		return Said{}, err
	}
	if len(found) != 1 {
		return Said{}, fmt.Errorf("%d tasks wait for %s: which one is meant must be asked", len(found), t.Who)
	}
	s, err := d.ctl.Resume(ctx, found[0].Task, who)
	if err != nil {
		return Said{}, err
	}
	var heard []guard.Observation
	if offers := s.Offers(); len(offers) == 1 && !t.Raw { // with two open, "yes" is about neither
		heard = append(heard, refund.Reply.Observe(d.chat, guard.Observed[guard.Reply]{
			Value: guard.Reply{By: t.Who, Text: t.Text, Shown: d.talk.before(offers[0].ID)}, Subject: offers[0].ID, Ref: "chat", At: d.now()}))
	}
	view, err := s.Project(ctx, refund.InterpretReply, projection.Quote{Origin: "customer", Text: t.Text})
	if err != nil {
		return Said{}, err
	}
	output, err := d.complete(ctx, view, s, t)
	if err != nil {
		return Said{}, fmt.Errorf("the model: %w", err)
	}
	out, err := s.Answer(ctx, view, output, heard...)
	result, err := said(ctx, s, out, err)
	d.talk.showed(s.Offers(), d.now())
	result.View, result.Output = view.Markdown(), string(output)
	return result, err
}

func (d *desk) complete(ctx context.Context, view projection.View, s *resume.Session, t Turn) ([]byte, error) {
	m := d.model
	if m == nil || t.Raw {
		if t.Script == "" {
			t.Script = byRule(s.Offers(), t.Text)
		}
		m = model.NewScript(t.Script)
	}
	schema, err := answerSchema(view)
	if err != nil {
		return nil, err
	}
	return m.Complete(ctx, model.Request{System: system, View: view.Markdown(), Schema: schema, Name: view.Decision()})
}

// answerSchema is the schema out of the response format that the view gives.
func answerSchema(view projection.View) (json.RawMessage, error) {
	var format struct {
		JSONSchema struct {
			Schema json.RawMessage `json:"schema"`
		} `json:"json_schema"`
	}
	err := json.Unmarshal(view.OpenAIFormat(), &format)
	return format.JSONSchema.Schema, err
}

// byRule stands in for a model when a person talks to the desk and no model was given.
func byRule(offers []machine.OpenOffer, text string) string {
	answer := map[string]any{"event": refund.AskAgain.Info().Name, "payload": refund.Question{Text: "Do you want this refund?"}}
	switch guard.Explicit(text) {
	case guard.Yes:
		if len(offers) == 1 {
			answer = map[string]any{"event": offers[0].Event, "payload": offers[0].Payload}
		}
	case guard.No:
		answer = map[string]any{"event": refund.CancelRefund.Info().Name, "payload": refund.Reason{Text: "the customer said no"}}
	}
	b, err := json.Marshal(answer)
	if err != nil {
		return err.Error()
	}
	return string(b)
}

// Note is a remark for colleagues, based on a version; 0 means the newest.
type Note struct {
	Who  string `json:"who"`
	Text string `json:"text"`
	Base uint64 `json:"base,omitempty"`
}

func (d *desk) note(ctx context.Context, n Note) (Said, error) {
	s, err := d.ctl.Resume(ctx, TaskID, guard.Principal{ID: n.Who})
	if err != nil {
		return Said{}, err
	}
	out, err := s.Propose(ctx, refund.LeaveNote.With(refund.Note{Text: n.Text}).As(guard.User).BasedOn(n.Base))
	return said(ctx, s, out, err)
}

// confirm proposes the refund, whatever is open.
func (d *desk) confirm(ctx context.Context, a Ask) (Said, error) {
	s, err := d.ctl.Resume(ctx, TaskID, guard.Principal{ID: a.Who})
	if err != nil {
		return Said{}, err
	}
	data, _ := machine.As[refund.Refund](s.Snapshot())
	out, err := s.Propose(ctx, refund.ConfirmRefund.With(refund.Confirm{OrderID: data.Data.OrderID, Amount: data.Data.Amount}))
	return said(ctx, s, out, err)
}

// race lets two controllers propose from the same version at once.
func (d *desk) race(ctx context.Context, n Note) ([]Said, error) {
	out, errs := make([]Said, 2), make([]error, 2)
	var start, done sync.WaitGroup
	start.Add(1)
	for i, ctl := range []*resume.Controller{d.ctl, d.second} {
		s, err := ctl.Resume(ctx, TaskID, guard.Principal{ID: n.Who})
		if err != nil {
			return nil, err
		}
		done.Go(func() {
			start.Wait()
			o, err := s.Propose(ctx, refund.LeaveNote.With(refund.Note{Text: fmt.Sprintf("%s (%d)", n.Text, i+1)}).As(guard.User))
			out[i], errs[i] = said(ctx, s, o, err)
		})
	}
	start.Done()
	done.Wait()
	return out, errors.Join(errs...)
}

// Ask is a question about the task by somebody.
type Ask struct {
	Who string `json:"who"`
}

// Standing is where the task stands, and what became of all attempts.
type Standing struct {
	Report   string               `json:"report"`
	State    machine.State        `json:"state"`
	Version  uint64               `json:"state_version"`
	Facts    []Stored             `json:"facts"` // as they were before resuming
	Attempts map[machine.Kind]int `json:"attempts"`
	Kept     []string             `json:"kept"`   // each attempt in words, newest first
	Voided   []machine.Voided     `json:"voided"` // by the newest version
	Found    string               `json:"found,omitempty"`
}

// Stored is a fact as it stood in the store.
type Stored struct {
	Fact  string    `json:"fact"`
	Value string    `json:"value"`
	At    time.Time `json:"at"`
	Age   string    `json:"age"`
}

func (d *desk) standing(ctx context.Context, a Ask) (Standing, error) {
	s, err := d.ctl.Resume(ctx, TaskID, guard.Principal{ID: a.Who})
	if err != nil {
		return Standing{}, err
	}
	r, err := s.Report(ctx)
	if err != nil {
		return Standing{}, err
	}
	st := Standing{Report: r.String(), State: r.State, Version: r.Version, Attempts: map[machine.Kind]int{}}
	for _, e := range s.Snapshot().Facts.All() {
		st.Facts = append(st.Facts, Stored{e.Key.String(), fmt.Sprintf("%v", e.Value), e.At, d.now().Sub(e.At).Round(time.Minute).String()})
	}
	attempts, err := s.Attempts(ctx)
	if err != nil {
		return Standing{}, err
	}
	for _, a := range attempts {
		st.Attempts[a.Kind]++
		st.Kept = append(st.Kept, fmt.Sprintf("%s %s (%s)", a.Kind, a.Event, a.Findings[0].Code))
	}
	for e, err := range s.History(ctx) {
		if err != nil {
			return Standing{}, err
		}
		st.Voided = e.Voided
		break
	}
	return st, nil
}

// lookup asks the payment service about the task's refund, as the worker does before it settles anything.
func (d *desk) lookup(ctx context.Context, a Ask) (Standing, error) {
	st, err := d.standing(ctx, a)
	if err != nil {
		return st, err
	}
	_, effects, err := d.st.Load(ctx, TaskID)
	if err != nil || len(effects) != 1 {
		return st, errors.Join(err, fmt.Errorf("%d unsettled effects", len(effects)))
	}
	r, found, err := d.shop.FindRefund(ctx, effects[0].ID)
	if found {
		st.Found = fmt.Sprintf("%s under the key %s, and the task holds it as %q", r.ID, effects[0].ID, effects[0].Status)
	}
	return st, err
}

// receipt takes a signed webhook of the payment service.
func (d *desk) receipt(ctx context.Context, body []byte, signature string) (machine.Outcome, error) {
	if err := guard.HMACSHA256(d.cfg.Secret).Check(body, signature, d.now()); err != nil {
		return machine.Outcome{}, err
	}
	var e shop.Event
	if err := json.Unmarshal(body, &e); err != nil {
		return machine.Outcome{}, err
	}
	return d.ctl.Observe(ctx, TaskID, refund.RefundRecord.Observe(d.bank, guard.Observed[refund.Record]{
		Value: record(e.Refund), Subject: e.Refund.Key, Ref: e.ID, At: e.Refund.At}).Identified(e.ID))
}
