package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/pawlgo/pawl/examples/child"
	"github.com/pawlgo/pawl/examples/refund/desk"
	"github.com/pawlgo/pawl/machine"
)

// talk lets a person type the customer's side.
func talk(ctx context.Context, o options, in io.Reader, w io.Writer) (err error) {
	stage, err := newStage(ctx, o)
	if stage != nil {
		defer func() { err = errors.Join(err, stage.close()) }()
	}
	if err != nil {
		return err
	}
	stage.worker = false // each turn works for itself
	if err := stage.openDesk(ctx); err != nil {
		return err
	}
	s := &story{stage, w}
	said, err := s.desk.Begin(ctx, desk.Begin{Who: "alice", OrderID: "123", Amount: amount})
	if err != nil {
		return err
	}
	fmt.Fprintln(w, "You are alice, the owner of order 123. An empty line, or the end of the input, ends the talk.")
	for _, offer := range said.Outcome.Offers {
		fmt.Fprintln(w, "desk:", offer.Question)
	}
	return s.converse(ctx, bufio.NewScanner(in))
}

func (s *story) converse(ctx context.Context, lines *bufio.Scanner) error {
	for {
		fmt.Fprint(s.w, "alice: ")
		if !lines.Scan() || strings.TrimSpace(lines.Text()) == "" {
			fmt.Fprintln(s.w)
			return lines.Err()
		}
		said, err := s.desk.Turn(ctx, desk.Turn{Who: "alice", Text: lines.Text()})
		if errors.Is(err, child.ErrAnswer) {
			st, e := s.desk.Standing(ctx, "alice")
			if e != nil {
				return e
			}
			fmt.Fprintf(s.w, "desk: nothing waits for you; the refund is %s, version %d\n", st.State, st.Version)
			continue
		}
		if err != nil {
			return err
		}
		s.show(said)
		if err := s.reply(ctx, said); err != nil {
			return err
		}
	}
}

// reply tells the customer what came of their message.
func (s *story) reply(ctx context.Context, said desk.Said) error {
	o := said.Outcome
	switch {
	case o.Kind == machine.Committed && len(o.Intents) > 0:
		fmt.Fprintln(s.w, "desk: thank you, it is on its way")
		st, err := s.desk.Work(ctx, "alice")
		if err != nil {
			return err
		}
		fmt.Fprintf(s.w, "desk: the refund is %s, version %d\n", st.State, st.Version)
	case o.Kind == machine.Committed && len(o.Offers) > 0:
		var asked struct {
			Payload struct{ Text string }
		}
		if err := json.Unmarshal([]byte(said.Output), &asked); err != nil {
			return err
		}
		fmt.Fprintln(s.w, "desk:", asked.Payload.Text)
		fmt.Fprintln(s.w, "desk:", o.Offers[0].Question)
	case o.Kind == machine.Ask:
		fmt.Fprintln(s.w, "desk:", o.Question)
	case o.Kind != machine.Committed:
		fmt.Fprintln(s.w, "desk: that cannot be done now")
	}
	return nil
}
