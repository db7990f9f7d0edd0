package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/pawlgo/pawl/examples/trading/desk"
	"github.com/pawlgo/pawl/examples/trading/exchange"
	"github.com/pawlgo/pawl/examples/trading/price"
	"github.com/pawlgo/pawl/examples/trading/trading"
	"github.com/pawlgo/pawl/machine"
	"github.com/pawlgo/pawl/machine/workingstate"
)

// story plays the steps, and stops at the first that does not go as told.
type story struct {
	*stage
	printer
}

// tell plays the whole story. Its last line is one JSON object of values counted from the store and the exchange.
func tell(ctx context.Context, o options, w io.Writer) (err error) {
	stage, err := newStage(ctx, o)
	if stage != nil {
		defer func() { err = errors.Join(err, stage.close()) }()
	}
	if err != nil {
		return err
	}
	s := &story{stage, printer{w, o.verbose}}
	for i, step := range []func(context.Context) error{
		s.notesAlone, s.commitment, s.impatience, s.touched, s.sent, s.found, s.superseded, s.later, s.bell,
	} {
		if err := step(ctx); err != nil {
			return fmt.Errorf("step %d did not go as told: %w", i+1, err)
		}
	}
	return s.sum(ctx)
}

func expect(o machine.Outcome, kind machine.Kind, code string) error {
	if o.Kind != kind || o.Code() != code {
		return fmt.Errorf("the outcome is %s %q, not %s %q", o.Kind, o.Code(), kind, code)
	}
	return nil
}

func (s *story) notesAlone(context.Context) error {
	s.title(1, "With notes alone. Three lines in the agent's notes are about one rule, and nothing says which of them is in force.")
	s.lines(pages(notes))
	sold, told := byNotes(notes, prices)
	s.lines(strings.Join(told, "\n"))
	missed, err := price.Must("261").Sub(sold)
	if err != nil {
		return err
	}
	worth, err := missed.Mul(held)
	if err != nil {
		return err
	}
	s.line("At 10:07 the first line, 262, should have sold at 261. It sold at %s: %s a share, %s in all, for a rule that was never withdrawn.", sold, missed, worth)
	return nil
}

func (s *story) commitment(ctx context.Context) error {
	s.title(2, "With pawl, 09:04. The same agent commits: a key in its working state, with a reason, until the market closes. Notes stay notes.")
	if _, err := s.desk.Allow(ctx, mandate); err != nil {
		return err
	}
	s.line("the operator allows: prices %s", mandate)
	if err := s.at(ctx, notes[0].at); err != nil {
		return err
	}
	out, err := s.set(ctx, "262", "exit on break", "")
	if err != nil {
		return err
	}
	if err := expect(out, machine.Committed, ""); err != nil {
		return err
	}
	return s.block(ctx)
}

// set calls working_state_set as a model does, with a ttl to the close.
func (s *story) set(ctx context.Context, value, reason, expected string) (machine.Outcome, error) {
	args := map[string]any{"key": desk.Rule, "value": value, "reason": reason, "ttl_hours": workingstate.HoursOf(closes.Sub(s.now))}
	guarded := ""
	if expected != "" {
		args["expected_value"], guarded = expected, ", expected_value "+expected
	}
	raw, err := json.Marshal(args)
	if err != nil {
		return machine.Outcome{}, err
	}
	s.line("%s: working_state_set %s = %s, %q%s", s.run(), desk.Rule, value, reason, guarded)
	out, err := s.desk.Call(ctx, desk.ToolCall{Run: s.run(), Tool: workingstate.SetKey.Info().Name, Args: string(raw)})
	if err == nil {
		s.show(out)
	}
	return out, err
}

// block shows what every wake-up sees of the working state.
func (s *story) block(ctx context.Context) error {
	st, err := s.desk.Standing(ctx)
	if err != nil {
		return err
	}
	for l := range strings.Lines(st.Block) {
		if rule, _, is := strings.Cut(l, " ("); is && strings.HasPrefix(l, "- ") {
			s.line("at the end of every prompt now: %s", rule)
		}
	}
	return nil
}

// run names the wake-up of now.
func (s *story) run() string { return "wake-up_" + at(s.now) }

// wake lets the agent wake up, and wants each of its answers refused but the last.
func (s *story) wake(ctx context.Context, answers ...string) error {
	w, err := s.desk.Wake(ctx, desk.Wake{Run: s.run(), Notes: pages(notes), Answers: answers})
	if err != nil {
		return err
	}
	s.line("%s: the exchange says %s, just now", s.run(), w.Last)
	s.woken(w)
	for i, t := range w.Turns {
		if (t.Outcome.Kind == machine.Committed) != (i == len(answers)-1) {
			return fmt.Errorf("answer %d is %s", i+1, t.Outcome)
		}
	}
	if len(w.Turns) != len(answers) {
		return fmt.Errorf("%d answers were heard, not %d", len(w.Turns), len(answers))
	}
	return nil
}

func (s *story) impatience(ctx context.Context) error {
	s.title(3, "09:30. The model proposes to sell all the same, then claims a price and a quantity. A claim is not a fact: both are refused.")
	if err := s.at(ctx, prices[1].At); err != nil {
		return err
	}
	return s.wake(ctx, exitIt, claimIt, holdIt)
}

func (s *story) touched(ctx context.Context) error {
	s.title(4, "10:07. The price touches 261. The model goes by its last note and wants to hold; the rule that stands forbids it, and permits the exit.")
	if err := s.at(ctx, prices[2].At); err != nil {
		return err
	}
	if err := s.wake(ctx, holdByNote, exitIt); err != nil {
		return err
	}
	s.line("The order is an intent, in the same version as the decision. Before it is sent, the desk is killed with SIGKILL.")
	return s.killDesk(ctx)
}

func (s *story) sent(ctx context.Context) error {
	s.title(5, "A new process. It proposes the exit again, and is refused: one is under way. The order leaves, and is filled; before the answer is stored, SIGKILL.")
	if err := s.again(ctx); err != nil {
		return err
	}
	fault, err := s.exchange.SetFault(ctx, exchange.Fault{Op: exchange.OpPlace, Action: exchange.HoldAfter})
	if err != nil {
		return err
	}
	sending := make(chan error, 1)
	go func() { sending <- s.desk.Work(ctx) }()
	if err := s.exchange.AwaitFault(ctx, fault); err != nil {
		return err
	}
	if err := s.deskProcess.Kill(); err != nil {
		return err
	}
	if err := <-sending; err == nil {
		return errors.New("the answer was stored after all")
	}
	open, err := s.exchange.Open(ctx)
	if err != nil {
		return err
	}
	s.line("open orders at the exchange: %d. The order was filled at once, so it is not among them: to look only there would send it again.", len(open))
	return s.openDesk(ctx)
}

// again proposes the exit once more.
func (s *story) again(ctx context.Context) error {
	out, err := s.desk.Exit(ctx, desk.Rule)
	if err != nil {
		return err
	}
	s.show(out)
	return expect(out, machine.Refused, machine.CodeNoTransition)
}

func (s *story) found(ctx context.Context) error {
	s.title(6, "A third process. What may have been sent is looked up under its client order id, fills included, and never sent blindly again.")
	if err := s.desk.Work(ctx); err != nil {
		return err
	}
	st, err := s.desk.Standing(ctx)
	if err != nil {
		return err
	}
	for _, e := range st.Exits {
		s.line("%s the exit of %s is confirmed: %s", at(e.At), e.Rule, e.Fill)
	}
	s.line("-> version %d, %s", st.Version, st.State)
	if st.State != trading.Flat || len(st.Exits) != 1 {
		return fmt.Errorf("%d exits, and the book is %s", len(st.Exits), st.State)
	}
	return s.again(ctx)
}

func (s *story) superseded(ctx context.Context) error {
	s.title(7, "10:15. A later wake-up sets 254 without a guard: it supersedes, on the record. Another still remembers 262 and wants 257: refused.")
	if err := s.at(ctx, clock(10, 15)); err != nil {
		return err
	}
	out, err := s.set(ctx, "254", "more room for what comes in next", "")
	if err != nil {
		return err
	}
	if err := expect(out, machine.Committed, ""); err != nil {
		return err
	}
	if err := s.at(ctx, clock(10, 16)); err != nil {
		return err
	}
	if out, err = s.set(ctx, "257", "meet in the middle", "262"); err != nil {
		return err
	}
	if err := expect(out, machine.Refused, workingstate.CodeConflict); err != nil {
		return err
	}
	st, err := s.desk.Standing(ctx)
	if err != nil {
		return err
	}
	for _, c := range st.Changes {
		before := "nothing"
		if c.PrevValue != nil {
			before = *c.PrevValue
		}
		s.line("history: %s %s by %s in %q: %s -> %s, %q", at(c.At), c.Key, c.By, c.Run, before, c.Value, c.Reason)
	}
	return s.block(ctx)
}

func (s *story) later(ctx context.Context) error {
	s.title(8, "10:20. Shares come in from another account, so the book holds again. 11:20: at 256 the last note would sell; the rule that stands does not.")
	if err := s.at(ctx, clock(10, 20)); err != nil {
		return err
	}
	if err := s.exchange.Transfer(ctx, desk.Symbol, moved); err != nil {
		return err
	}
	if err := s.wake(ctx, holdOn); err != nil {
		return err
	}
	if err := s.at(ctx, prices[3].At); err != nil {
		return err
	}
	return s.wake(ctx, exitIt, holdOn)
}

func (s *story) bell(ctx context.Context) error {
	s.title(9, "13:30. The market closes, and the rule's time is over with it. The owner closes the day.")
	if err := s.at(ctx, closes); err != nil {
		return err
	}
	out, err := s.desk.Exit(ctx, desk.Rule)
	if err != nil {
		return err
	}
	s.show(out)
	if err := expect(out, machine.Refused, trading.CodeNotTrading); err != nil {
		return err
	}
	if out, err = s.desk.CloseDay(ctx, "13:30"); err != nil {
		return err
	}
	s.show(out)
	return expect(out, machine.Committed, "")
}

// summary is the story in numbers.
type summary struct {
	Task       string `json:"task"`
	Exits      int    `json:"exits"`
	ExitPrice  string `json:"exit_price"`
	Rule       string `json:"rule"`
	Superseded int    `json:"superseded"`
	Refused    int    `json:"refused"`
	Orders     int    `json:"orders_at_exchange"`
}

func (s *story) sum(ctx context.Context) error {
	st, err := s.desk.Standing(ctx)
	if err != nil {
		return err
	}
	orders, err := s.exchange.All(ctx)
	if err != nil {
		return err
	}
	fmt.Fprintln(s.w)
	s.line("refused, and kept: %s", strings.Join(st.Refused, "; "))
	sum := summary{Task: st.Task, Exits: len(st.Exits), Superseded: len(st.Superseded()), Refused: len(st.Refused), Orders: len(orders)}
	for _, e := range st.Exits {
		sum.Rule = e.Rule
		for _, x := range e.Fill.Executions {
			sum.ExitPrice = x.Price.String()
		}
	}
	text, err := json.Marshal(sum)
	if err != nil {
		return err
	}
	fmt.Fprintf(s.w, "\n%s\n", text)
	if sum.Exits != 1 || sum.Orders != 1 || st.State != trading.Closed {
		return errors.New("the story did not end as told")
	}
	return nil
}
