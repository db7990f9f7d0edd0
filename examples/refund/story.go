package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/pawlgo/pawl/examples/child"
	"github.com/pawlgo/pawl/examples/refund/desk"
	"github.com/pawlgo/pawl/examples/refund/refund"
	"github.com/pawlgo/pawl/examples/refund/shop"
	"github.com/pawlgo/pawl/machine"
)

// What the scripted model answers.
const (
	confirmIt  = `{"event":"confirm_refund","payload":{"order_id":"123","amount":{"minor":4300,"currency":"EUR"}}}`
	claimsYes  = `{"event":"confirm_refund","payload":{"order_id":"123","amount":{"minor":4300,"currency":"EUR"},"user_confirmation":true}}`
	claimsNine = `{"event":"confirm_refund","payload":{"order_id":"123","amount":{"minor":4300,"currency":"EUR"}},"state_version":9}`
	askIt      = `{"event":"ask_again","payload":{"text":"Shall I send the refund now?"}}`
	yesterdays = "continue with yesterday's one"
)

// story plays the steps, and stops at the first that does not go as told.
type story struct {
	*stage
	w io.Writer
}

// tell plays the whole story. Its last line is one JSON object of values counted from the store and the shop's ledger.
func tell(ctx context.Context, o options, w io.Writer) (err error) {
	stage, err := newStage(ctx, o)
	if stage != nil {
		defer func() { err = errors.Join(err, stage.close()) }()
	}
	if err != nil {
		return err
	}
	s := &story{stage, w}
	for i, step := range []func(context.Context) error{
		s.dayOne, s.dayTwo, s.claims, s.continued, s.strangers, s.aged, s.confirmed, s.killed, s.raced, s.received,
	} {
		if err := step(ctx); err != nil {
			return fmt.Errorf("step %d did not go as told: %w", i+1, err)
		}
	}
	return s.sum(ctx)
}

func (s *story) title(n int, text string) { fmt.Fprintf(s.w, "\n%d. %s\n", n, text) }

func (s *story) line(format string, args ...any) { fmt.Fprintf(s.w, "   "+format+"\n", args...) }

func (s *story) lines(text string) {
	for l := range strings.Lines(text) {
		fmt.Fprintf(s.w, "   | %s\n", strings.TrimRight(l, "\n"))
	}
}

// show prints an outcome: whether it was committed, and if not, why.
func (s *story) show(said desk.Said) {
	o := said.Outcome
	s.line("-> %s %s: version %d, %s", o.Event, o.Kind, o.Version, o.State)
	for _, f := range o.Findings {
		if f.Text != o.Question {
			s.line("   %s", reason(f))
		}
	}
	if o.Observed != 0 {
		s.line("   nothing but the evidence is kept, as version %d", o.Observed)
	}
	if o.Question != "" {
		s.line("   asked: %s", o.Question)
	}
	for _, i := range o.Intents {
		s.line("   effect %s, key %s, recorded in the same version", i.Effect, i.Key)
	}
	if !s.o.verbose {
		return
	}
	if said.View != "" {
		s.line("the model saw:")
		s.lines(said.View)
		s.line("the model answered: %s", said.Output)
	}
	var full strings.Builder
	e := json.NewEncoder(&full)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(o); err != nil {
		s.line("%v", err)
	}
	s.lines(full.String())
}

// reason is one finding in words: which guard, and why.
func reason(f machine.Finding) string {
	if f.Guard == "" || f.Guard == f.Code {
		return f.Code + ": " + f.Text
	}
	return f.Guard + ": " + f.Code + ": " + f.Text
}

func expect(said desk.Said, kind machine.Kind, code string) error {
	if o := said.Outcome; o.Kind != kind || o.Code() != code {
		return fmt.Errorf("the outcome is %s %q, not %s %q", o.Kind, o.Code(), kind, code)
	}
	return nil
}

func (s *story) dayOne(ctx context.Context) error {
	s.title(1, "Day 1. The desk asks the shop about order 123, and puts the refund to its owner.")
	if err := s.openDesk(ctx); err != nil {
		return err
	}
	said, err := s.desk.Begin(ctx, desk.Begin{Who: "alice", OrderID: "123", Amount: amount})
	if err != nil {
		return err
	}
	s.show(said)
	s.lines(said.Report)
	if said.Outcome.Version != 4 || said.Outcome.State != refund.AwaitingUserConfirmation {
		return fmt.Errorf("version %d in %s", said.Outcome.Version, said.Outcome.State)
	}
	s.line("The owner says \"I'll confirm later\" and leaves. The desk's process is killed with SIGKILL.")
	if s.o.policyMoves {
		s.line("In the night the policy moves from v7 to v8.")
		if err := s.shop.MovePolicy(ctx, shop.Policy{Version: "v8"}); err != nil {
			return err
		}
	}
	s.offset = 24 * time.Hour
	if err := s.shop.SetClock(ctx, s.offset); err != nil {
		return err
	}
	return s.killDesk(ctx)
}

func (s *story) dayTwo(ctx context.Context) error {
	s.title(2, "Day 2, a new process, no transcript: Resume(\"refund_order_123\") says where the task stands.")
	st, err := s.desk.Standing(ctx, "alice")
	if err != nil {
		return err
	}
	s.lines(st.Report)
	if s.o.policyMoves {
		if len(st.Voided) != 1 || st.Voided[0].Fact == nil {
			return fmt.Errorf("the pending offer is not void: %v", st.Voided)
		}
		s.line("The pending offer %s is void: %s has changed.", st.Voided[0].Offer, st.Voided[0].Fact)
	}
	return nil
}

func (s *story) claims(ctx context.Context) error {
	s.title(3, "A model claims that the user has confirmed, another that the version is 9. A claim is not a fact: both are refused.")
	for _, output := range []string{claimsYes, claimsNine} {
		said, err := s.desk.Turn(ctx, desk.Turn{Who: "alice", Text: yesterdays, Script: output, Raw: true})
		if err != nil {
			return err
		}
		s.line("model: %s", output)
		s.show(said)
		if said.Outcome.Kind != machine.Refused || said.Outcome.State != refund.AwaitingUserConfirmation {
			return fmt.Errorf("the outcome is %s in %s", said.Outcome.Kind, said.Outcome.State)
		}
	}
	return nil
}

func (s *story) continued(ctx context.Context) error {
	if s.o.policyMoves {
		s.title(4, "\"Continue with yesterday's one\": the task is found by its owner. Nothing is offered any more, so the desk asks anew, under v8.")
	} else {
		s.title(4, "\"Continue with yesterday's one\": the task is found by its owner. That is no explicit yes, so the desk asks once more.")
		said, err := s.desk.Turn(ctx, desk.Turn{Who: "alice", Text: yesterdays, Script: confirmIt})
		if err != nil {
			return err
		}
		s.line("alice: %s", yesterdays)
		s.show(said)
		if s.o.modelURL == "" {
			if err := expect(said, machine.Ask, "ask"); err != nil {
				return err
			}
		}
		if said.Outcome.Event == refund.AskAgain.Info().Name && said.Outcome.Kind == machine.Committed {
			return nil // a real model asked by itself
		}
	}
	said, err := s.desk.Turn(ctx, desk.Turn{Who: "alice", Text: yesterdays, Script: askIt})
	if err != nil {
		return err
	}
	s.show(said)
	for _, o := range said.Outcome.Offers {
		s.line("   asked: %s", o.Question)
	}
	return expect(said, machine.Committed, "")
}

func (s *story) strangers(ctx context.Context) error {
	s.title(5, "Another signed-in user is refused, and learns nothing. A proposal based on an old version is a conflict.")
	_, err := s.desk.Standing(ctx, "mallory")
	if !errors.Is(err, child.ErrAnswer) {
		return fmt.Errorf("mallory is let in: %w", err)
	}
	s.line("mallory -> %v", err)
	said, err := s.desk.Note(ctx, desk.Note{Who: "alice", Text: "please hurry", Base: 4})
	if err != nil {
		return err
	}
	s.line("alice, based on version 4:")
	s.show(said)
	return expect(said, machine.Conflict, machine.CodeStaleVersion)
}

func (s *story) aged(ctx context.Context) error {
	s.title(6, "Twenty minutes later the eligibility is too old to count (15 minutes), and is observed again.")
	before, err := s.desk.Standing(ctx, "alice")
	if err != nil {
		return err
	}
	if err := s.later(ctx, 20*time.Minute); err != nil {
		return err
	}
	after, err := s.desk.Standing(ctx, "alice")
	if err != nil {
		return err
	}
	for _, f := range after.Facts {
		s.line("in the store: %s = %s, %s old", f.Fact, f.Value, f.Age)
	}
	for l := range strings.Lines(after.Report) {
		if strings.HasPrefix(l, "refund_eligibility") {
			s.line("observed now: %s", strings.TrimSpace(l))
		}
	}
	if before.Version != after.Version {
		return fmt.Errorf("looking made version %d out of %d", after.Version, before.Version)
	}
	if !strings.Contains(after.Report, "verified") {
		return errors.New("the eligibility was not verified again")
	}
	return nil
}

func (s *story) confirmed(ctx context.Context) error {
	s.title(7, "\"Yes, refund it\": evidence is fresh, the offer stands, the owner said yes. The controller commits, and the effect with it.")
	s.worker = true
	said, err := s.desk.Turn(ctx, desk.Turn{Who: "alice", Text: "yes, refund it", Script: confirmIt})
	if err != nil {
		return err
	}
	s.line("alice: yes, refund it")
	s.show(said)
	if err := expect(said, machine.Committed, ""); err != nil {
		return err
	}
	if said.Outcome.State != refund.DispatchingRefund || len(said.Outcome.Intents) != 1 {
		return fmt.Errorf("%s with %d effects", said.Outcome.State, len(said.Outcome.Intents))
	}
	return nil
}

func (s *story) killed(ctx context.Context) error {
	s.title(8, "The payment service applies the refund; before its answer is stored, the desk is killed with SIGKILL, and started again.")
	fault, err := s.shop.SetFault(ctx, shop.Fault{Op: shop.OpRefund, Action: shop.HoldAfter})
	if err != nil {
		return err
	}
	sending := make(chan error, 1)
	go func() { _, err := s.desk.Work(ctx, "alice"); sending <- err }()
	if err := s.shop.AwaitFault(ctx, fault); err != nil {
		return err
	}
	s.worker = false
	if err := s.killDesk(ctx); err != nil {
		return err
	}
	if err := <-sending; err == nil {
		return errors.New("the answer was stored after all")
	}
	st, err := s.desk.Lookup(ctx, "alice")
	if err != nil {
		return err
	}
	ledger, err := s.shop.Ledger(ctx)
	if err != nil {
		return err
	}
	s.line("the new desk looks it up: %s", st.Found)
	s.line("refunds in the shop's ledger: %d. Nothing is sent again, and nothing is settled before its receipt is committed (step 10).", len(ledger))
	if st.Found == "" || len(ledger) != 1 {
		return fmt.Errorf("%d refunds in the ledger, found %q", len(ledger), st.Found)
	}
	return nil
}

func (s *story) raced(ctx context.Context) error {
	s.title(9, "Two controllers' proposals race from the same version: one commits, the other gets a conflict.")
	both, err := s.desk.Race(ctx, desk.Note{Who: "alice", Text: "how long will it take?"})
	if err != nil {
		return err
	}
	kinds := map[machine.Kind]int{}
	for i, said := range both {
		s.line("controller %d: leave_note, based on version %d", i+1, min(both[0].Outcome.Version, both[1].Outcome.Version)-1)
		s.show(said)
		kinds[said.Outcome.Kind]++
	}
	if kinds[machine.Committed] != 1 || kinds[machine.Conflict] != 1 {
		return fmt.Errorf("outcomes %v", kinds)
	}
	return nil
}

func (s *story) received(ctx context.Context) error {
	s.title(10, "The receipt arrives. The task is refunded, and nothing moves it any more.")
	st, err := s.desk.Work(ctx, "alice")
	if err != nil {
		return err
	}
	s.lines(st.Report)
	if st.State != refund.Refunded {
		return fmt.Errorf("the task is in %s", st.State)
	}
	if err := s.shop.RegisterWebhook(ctx, s.deskProcess.URL+"/receipt"); err != nil {
		return err
	}
	said, err := s.desk.Confirm(ctx, "alice")
	if err != nil {
		return err
	}
	s.line("alice: yes, refund it once more")
	s.show(said)
	return expect(said, machine.Refused, machine.CodeNoTransition)
}

// summary is the story in numbers.
type summary struct {
	Task            string        `json:"task"`
	State           machine.State `json:"state"`
	Version         uint64        `json:"state_version"`
	RefundsInLedger int           `json:"refunds_in_ledger"`
	Refused         int           `json:"refused"`
	Asked           int           `json:"asked"`
	Conflicts       int           `json:"conflicts"`
	Restarts        int           `json:"restarts"`
}

func (s *story) sum(ctx context.Context) error {
	st, err := s.desk.Standing(ctx, "alice")
	if err != nil {
		return err
	}
	ledger, err := s.shop.Ledger(ctx)
	if err != nil {
		return err
	}
	s.line("\n   kept of what was not committed: %s", strings.Join(st.Kept, "; "))
	line, err := json.Marshal(summary{desk.TaskID, st.State, st.Version, len(ledger), st.Attempts[machine.Refused],
		st.Attempts[machine.Ask], st.Attempts[machine.Conflict], s.restarts})
	if err != nil {
		return err
	}
	fmt.Fprintf(s.w, "\n%s\n", line)
	if len(ledger) != 1 || st.State != refund.Refunded || s.restarts != 2 {
		return errors.New("the story did not end as told")
	}
	return nil
}
