package resume_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	projection "github.com/pawlgo/pawl/context"
	"github.com/pawlgo/pawl/guard"
	"github.com/pawlgo/pawl/machine"
	"github.com/pawlgo/pawl/resume"
	"github.com/pawlgo/pawl/store"
	"github.com/stretchr/testify/require"
)

// The lab is a machine for attacks that the refund desk gives no room for: data, payloads and arguments that hold memory, two
// offers at once, a hidden fact, a fact ordered by arrival.
type (
	basket struct {
		Shop  string            `json:"shop" about:"shop"`
		Items []string          `json:"items"`
		Tags  map[string]string `json:"tags"`
	}
	buy struct {
		Shop  string   `json:"shop" about:"shop"`
		Items []string `json:"items"`
	}
	order struct {
		Items []string `json:"items"`
		Card  string   `json:"card"`
	}
	paid struct {
		Items []string `json:"items" validate:"required"`
	}
	setItems struct {
		Items []string `json:"items"`
	}
	labCase[P any] = guard.Case[basket, P]
)

const (
	shopping machine.State = "shopping"
	deciding machine.State = "deciding"
	buying   machine.State = "buying"
	bought   machine.State = "bought"
	failed   machine.State = "failed"
)

var (
	stock    = guard.NewFact[map[string]int]("stock", guard.From("warehouse"), guard.About("shop"), guard.MaxAge(time.Hour))
	card     = guard.NewFact[string]("card", guard.From("vault"), guard.About("shop"), guard.MaxAge(time.Hour), guard.Hidden())
	gate     = guard.NewFact[string]("gate", guard.From("warehouse"), guard.About("shop"), guard.MaxAge(24*time.Hour), guard.Ordered(guard.ByArrival))
	labReply = guard.NewReply("lab_reply", guard.From("customer_channel"))
	receipt  = guard.NewFact[paid]("receipt", guard.From("till"), guard.About(machine.EffectKind), guard.Lasting())
	pay      = machine.NewEffect("pay", receipt, machine.Matching(func(o order, p paid) error {
		if len(o.Items) != len(p.Items) {
			return errors.New("other items")
		}
		for i := range o.Items {
			if o.Items[i] != p.Items[i] {
				return errors.New("other items")
			}
		}
		return nil
	}))

	ask   = machine.NewEvent[machine.None]("ask")
	yes   = machine.NewEvent[buy]("yes")
	put   = machine.NewEvent[setItems]("put")
	shut  = machine.NewEvent[machine.None]("shut", machine.Narrowing())
	later = machine.NewEvent[machine.None]("later")
)

func labMachine() *machine.Machine[basket] {
	b := machine.New[basket]("lab", shopping)
	b.Final(bought, failed)
	b.Wait(deciding, machine.TaskOwner, time.Hour, later)
	machine.On(b, put).From(shopping).Stay().By(guard.User).
		Apply(func(d *basket, c labCase[setItems]) { d.Items = c.Payload.Items })
	machine.On(b, ask).From(shopping).To(deciding).By(guard.User, guard.Model).
		Require(guard.Known(stock), guard.Known(card)).
		Then(machine.Offer(yes, machine.TaskOwner, time.Hour, func(c labCase[machine.None]) []buy {
			var out []buy
			for _, i := range c.Data.Items {
				out = append(out, buy{c.Data.Shop, []string{i}})
			}
			return out
		}))
	machine.On(b, yes).From(deciding).To(buying).By(guard.User, guard.Model).
		Require(guard.Known(stock), guard.Known(card)).
		Confirm(labReply).
		Then(machine.Emit(pay, func(c labCase[buy]) order {
			n, _ := card.Get(c)
			return order{c.Payload.Items, n}
		}))
	machine.On(b, shut).From(shopping, deciding).To(failed).By(guard.User, guard.Model).Require(guard.Is(gate, "open"))
	machine.On(b, later).From(deciding).To(failed)
	machine.On(b, pay.Confirmed()).From(buying).To(bought)
	machine.On(b, pay.Failed()).From(buying).To(failed)
	return b.MustBuild()
}

var (
	lab     = labMachine()
	labView = projection.MustDefine(lab, projection.Spec[basket]{
		Name: "decide", In: []machine.State{deciding}, Goal: func(basket) string { return "Buy what is in the basket" },
		Question: "What does the customer want?", Hidden: []projection.Hidden{{Fact: stock, Reason: "not needed"}, {Fact: card, Reason: "secret"}},
		Allow: []projection.Answer{{Event: yes, Means: "the customer confirmed exactly this"}},
	})
)

const secretCard = "4929-1111-2222-3333"

// labDesk runs the lab machine with a till that tests can bend.
type labDesk struct {
	*desk
	warehouse *guard.Authority
	pays      func(context.Context, machine.Job[order]) (paid, error)
}

func newLab(t *testing.T) *labDesk {
	d := &labDesk{desk: newDesk(t), warehouse: guard.NewAuthority("warehouse")}
	d.ctl = d.lab(nil)
	return d
}

func (d *labDesk) lab(change func(*resume.Config)) *resume.Controller {
	cfg := resume.Config{
		Machines: []machine.Definition{lab},
		Observers: []resume.Observer{resume.Pull(stock, observed(map[string]int{"pen": 1, "ink": 2})),
			resume.Pull(card, observed(secretCard))},
		Effects: []resume.Handler{resume.Perform(pay,
			func(ctx context.Context, j machine.Job[order]) (paid, error) {
				if d.pays != nil {
					return d.pays(ctx, j)
				}
				return paid{j.Args.Items}, nil
			},
			func(context.Context, machine.Job[order]) (paid, bool, error) {
				return paid{}, false, errors.New("down")
			})},
		Trust:   []*guard.Authority{d.chat, d.warehouse},
		Problem: func(err error) { d.mu.Lock(); d.heard = append(d.heard, err); d.mu.Unlock() },
	}
	if change != nil {
		change(&cfg)
	}
	ctl, err := resume.Open(d.ctx, d.st, cfg)
	require.NoError(d.t, err)
	return ctl
}

// begin is a lab task with these items.
func (d *labDesk) begin(id string, items ...string) *resume.Session {
	s, err := d.ctl.Start(d.ctx, lab.Task(id, alice, basket{Shop: "s1", Items: items, Tags: map[string]string{"k": "v"}}), alice)
	require.NoError(d.t, err)
	return s
}

// decide is a lab task with an open offer for each item.
func (d *labDesk) decide(id string, items ...string) *resume.Session {
	s := d.begin(id, items...)
	d.commits(s, ask.With(machine.None{}).As(guard.User))
	require.Len(d.t, s.Offers(), len(items))
	return s
}

// reply is what alice says about an offer.
func (d *desk) reply(offer, text string) guard.Observation {
	return labReply.Observe(d.chat, guard.Observed[guard.Reply]{Value: guard.Reply{By: "alice", Text: text, Shown: &guard.Shown{Message: "q/" + offer, At: d.clock()}}, Subject: offer, At: d.clock()})
}

// button is alice's structured yes to an offer.
func (d *desk) button(offer string) guard.Observation {
	return labReply.Observe(d.chat, guard.Observed[guard.Reply]{Value: guard.Reply{By: "alice", Choice: guard.ChoiceYes}, Subject: offer, At: d.clock()})
}

// bent is a store whose calls tests can hook.
type bent struct {
	store.Store
	mu     sync.Mutex
	commit func(context.Context, *store.Commit) (store.Tip, error)
}

func (b *bent) Resource(ctx context.Context, name string) (store.Resource, error) {
	return b.Store.(store.Resources).Resource(ctx, name)
}

func (b *bent) Commit(ctx context.Context, c *store.Commit) (store.Tip, error) {
	b.mu.Lock()
	commit := b.commit
	b.mu.Unlock()
	if commit != nil {
		return commit(ctx, c)
	}
	return b.Store.Commit(ctx, c)
}
