package resume_test

import (
	"context"
	"fmt"
	"time"

	"github.com/pawlgo/pawl/guard"
	"github.com/pawlgo/pawl/machine"
	"github.com/pawlgo/pawl/resume"
	"github.com/pawlgo/pawl/store"
)

// Invoice is a task's data; the tag says what its facts are about.
type Invoice struct {
	Number string `json:"number" about:"invoice"`
	Cents  int64  `json:"cents"`
}

// Approval is what the approver is asked, word for word.
type Approval struct {
	Number string `json:"number" about:"invoice"`
	Cents  int64  `json:"cents"`
}

// Transfer is the bank's record of a payment.
type Transfer struct {
	ID string `json:"id"`
}

// A desk that pays an invoice when the ledger matches it and somebody of finance has agreed: a fact that is pulled, an offer, a reply
// of the approver's own channel, an effect with its receipt, and the worker that performs it.
func Example() {
	matched := guard.NewFact[bool]("matched", guard.From("ledger"), guard.About("invoice"), guard.MaxAge(time.Hour))
	agreed := guard.NewReply("agreed", guard.From("finance_chat"))
	transfer := guard.NewFact[Transfer]("transfer", guard.From("bank"), guard.About(machine.EffectKind), guard.Lasting())
	pay := machine.NewEffect[Approval]("pay", transfer)
	submit, approve := machine.NewEvent[machine.None]("submit"), machine.NewEvent[Approval]("approve")
	lapsed := machine.NewEvent[machine.None]("lapsed")

	b := machine.New[Invoice]("invoice", "received")
	b.Final("paid", "failed", "lapsed")
	b.Wait("awaiting_finance", "finance", 48*time.Hour, lapsed)
	machine.On(b, submit).From("received").To("awaiting_finance").By(guard.Model).Require(guard.True(matched)).
		Then(machine.Offer(approve, "finance", 48*time.Hour, func(c guard.Case[Invoice, machine.None]) []Approval {
			return []Approval{Approval(c.Data)}
		}))
	machine.On(b, approve).From("awaiting_finance").To("paying").By(guard.User).
		Fresh(matched).Require(guard.True(matched)).Confirm(agreed).
		Then(machine.Emit(pay, func(c guard.Case[Invoice, Approval]) Approval { return c.Payload }))
	machine.On(b, lapsed).From("awaiting_finance").To("lapsed")
	machine.On(b, pay.Confirmed()).From("paying").To("paid")
	machine.On(b, pay.Failed()).From("paying").To("failed")
	m := b.MustBuild()

	ctx, chat := context.Background(), guard.NewAuthority("finance_chat") // the chat's adapter keeps this handle
	ctl, err := resume.Open(ctx, store.NewMemory(store.MemoryOptions{}), resume.Config{
		Machines: []machine.Definition{m},
		Observers: []resume.Observer{resume.Pull(matched, func(_ context.Context, q guard.Query) (guard.Observed[bool], error) {
			return guard.Observed[bool]{Value: true, Subject: q.Subject, Ref: "ledger/" + q.Subject}, nil
		})},
		Effects: []resume.Handler{resume.Perform(pay,
			func(_ context.Context, j machine.Job[Approval]) (Transfer, error) { return Transfer{"tr_1"}, nil }, // send j.Key to the bank
			func(_ context.Context, j machine.Job[Approval]) (Transfer, bool, error) {
				return Transfer{}, false, nil
			})},
		Trust: []*guard.Authority{chat},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	clerk, fiona := guard.Principal{ID: "clerk"}, guard.Principal{ID: "fiona", Roles: []string{"finance"}}
	s, err := ctl.Start(ctx, m.Task("invoice_77", clerk, Invoice{"77", 12000}), clerk)
	fmt.Println(s.State(), err)
	out, err := s.Propose(ctx, submit.With(machine.None{})) // the ledger is asked, and matches
	fmt.Println(out, err)

	waiting, err := ctl.Waiting(ctx, fiona) // another day, another process
	fmt.Println(len(waiting), err)
	s, err = ctl.Resume(ctx, waiting[0].Task, fiona)
	fmt.Println(s.State(), err)
	approval := approve.With(Approval{"77", 12000}).As(guard.User)
	out, err = s.Propose(ctx, approval)
	fmt.Println(out.Kind, err) // nobody has agreed yet
	out, err = s.Propose(ctx, approval, agreed.Observe(chat, guard.Observed[guard.Reply]{
		Value: guard.Reply{By: "fiona", Roles: []string{"finance"}, Choice: guard.ChoiceYes}, Subject: s.Offers()[0].ID}))
	fmt.Println(out, err)
	fmt.Println(ctl.Work(ctx)) // or ctl.Run, for as long as the service lives
	s, err = ctl.Resume(ctx, "invoice_77", clerk)
	fmt.Println(s.State(), err)

	// Output:
	// received <nil>
	// committed as version 2, awaiting_finance <nil>
	// 1 <nil>
	// awaiting_finance <nil>
	// ask <nil>
	// committed as version 3, paying <nil>
	// <nil>
	// paid <nil>
}
