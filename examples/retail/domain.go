package main

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"sync"
	"time"

	"github.com/pawlgo/pawl/examples/replay"
	"github.com/pawlgo/pawl/examples/retail/retail"
	"github.com/pawlgo/pawl/examples/retail/shop"
	"github.com/pawlgo/pawl/guard"
	"github.com/pawlgo/pawl/machine"
	"github.com/pawlgo/pawl/resume"
)

// domain is what the replay must know of the retail desk.
var domain = &replay.Domain{
	Name:         "retail",
	Unidentified: retail.Unidentified,
	Machine:      retail.Machine,
	Decision:     retail.NextTool,
	Reply:        retail.Reply,
	Listing:      retail.ListWrites.Info().Name,
	SignIns:      []string{retail.FindByEmail.Info().Name, retail.FindByNameZip.Info().Name},
	Writes: []string{
		retail.CancelOrder.Info().Name, retail.ModifyAddress.Info().Name, retail.ModifyPayment.Info().Name, retail.ModifyItems.Info().Name,
		retail.ReturnItems.Info().Name, retail.ExchangeItems.Info().Name, retail.ModifyUser.Info().Name,
	},
	Transfer: retail.Transfer.Info().Name,
	Subjects: subjects,
	Policy:   policy,
	Load:     load,
}

// subjects are what a message names when it lists a write: the order, or the new address.
func subjects(c replay.Call) []string {
	var args struct {
		OrderID  string `json:"order_id"`
		Address1 string `json:"address1"`
	}
	if err := json.Unmarshal(c.Args, &args); err != nil {
		return nil
	}
	if args.OrderID != "" {
		return []string{args.OrderID}
	}
	return []string{args.Address1}
}

// policy names the rules that no tool of the recordings knows.
func policy(f machine.Finding) string {
	switch f.Code {
	case "not_own_order", machine.CodeOtherSubject:
		return "only the customer's own orders and profile"
	case "items_modified":
		return "an order whose items were modified stays as it is"
	case machine.CodeForm:
		return "arguments of the declared form, and no empty lists"
	}
	return ""
}

// site is the shop with the worlds of all conversations that are under way.
type site struct {
	shop   *shop.Shop
	orders *guard.Authority
	worlds sync.Map // task id to *shop.World
}

func load(data fs.FS) (replay.Site, error) {
	sh, err := shop.Load(data)
	return &site{shop: sh, orders: guard.NewAuthority(retail.Receipt.Info().Source)}, err
}

func (s *site) find(task string) *shop.World {
	w, _ := s.worlds.Load(task)
	world, _ := w.(*shop.World)
	return world
}

func (s *site) Begin(task, bench string, who guard.Principal) (machine.Task, replay.World) {
	w := s.shop.Begin()
	s.worlds.Store(task, w)
	desk := retail.Desk{SameOption: bench != "tau2"} // the tools of that edition refuse it
	return retail.Machine.Task(task, who, desk), world{w, s.orders}
}

func (s *site) Now() time.Time { return time.Now() }

func (s *site) End(task string) { s.worlds.Delete(task) }

func (s *site) SignIn(_ *guard.Authority, _, user string) (replay.Call, []guard.Observation, error) {
	args, err := json.Marshal(retail.ByEmail{Email: s.shop.Email(user)})
	return replay.Call{Tool: retail.FindByEmail.Info().Name, Args: args}, nil, err
}

func (s *site) Observers() []resume.Observer { return shop.Observers(s.find) }

func (s *site) Handlers() []resume.Handler { return []resume.Handler{shop.Handler(s.find)} }

func (s *site) Trust() []*guard.Authority { return []*guard.Authority{s.orders} }

// world is the shop of one conversation, as the replay changes it.
type world struct {
	*shop.World
	orders *guard.Authority
}

func (w world) Perform(i machine.Intent) (guard.Observation, error) {
	args, ok := i.Args.(retail.Write)
	if !ok {
		return guard.Observation{}, fmt.Errorf("intent %s is of %T", i.Key, i.Args)
	}
	done, err := w.Apply(i.Key, args)
	return retail.Receipt.Observe(w.orders, guard.Observed[retail.Done]{Value: done, Subject: i.Key, Ref: i.Key}), err
}

func (w world) Changes() any { return w.World.Changes() }

// Force has nothing to do. What only the policy refuses is a write for somebody else, a write that nothing may follow, or another
// address: no fact of a later write is made of any of them.
func (w world) Force(replay.Call) error { return nil }
