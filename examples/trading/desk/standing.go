package desk

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/pawlgo/pawl/examples/trading/trading"
	"github.com/pawlgo/pawl/machine"
	"github.com/pawlgo/pawl/machine/workingstate"
)

// Standing is where everything stands, read from the store alone.
type Standing struct {
	Task    string                `json:"task"`
	State   machine.State         `json:"state"`
	Version uint64                `json:"state_version"`
	Report  string                `json:"report"`
	Block   string                `json:"block"` // of the working state
	Changes []workingstate.Change `json:"changes"`
	Exits   []Exited              `json:"exits"`
	Refused []string              `json:"refused"` // what was refused, oldest first
}

// Exited is a sale that happened: it was intended by an entry of the history, and has a receipt.
type Exited struct {
	At   time.Time    `json:"at"`
	Rule string       `json:"rule"` // that the proposal named, and the guards found touched
	Fill trading.Fill `json:"fill"`
}

// Superseded are the changes that put another value in the place of one that a key held.
func (s Standing) Superseded() []workingstate.Change {
	return slices.DeleteFunc(slices.Clone(s.Changes), func(c workingstate.Change) bool {
		return c.Op != workingstate.OpSet || c.PrevValue == nil || *c.PrevValue == c.Value
	})
}

// Standing reads where everything stands.
func (d *Desk) Standing(ctx context.Context) (Standing, error) {
	s, err := d.ctl.Resume(ctx, Agent, trader)
	if err != nil {
		return Standing{}, err
	}
	r, err := s.Report(ctx)
	if err != nil {
		return Standing{}, err
	}
	st := Standing{Task: s.Task(), State: s.State(), Version: s.Version(), Report: r.String()}
	if st.Block, _, err = d.agent.Blocks(ctx, workingstate.Layout{Zone: trading.Taipei}); err != nil {
		return Standing{}, err
	}
	if st.Changes, err = d.agent.Changes(ctx, workingstate.MaxHistory); err != nil {
		return Standing{}, err
	}
	var entries []machine.Entry
	for e, err := range s.History(ctx) {
		if err != nil {
			return Standing{}, err
		}
		entries = append(entries, e)
	}
	slices.Reverse(entries)
	if st.Exits, err = exits(entries); err != nil {
		return Standing{}, err
	}
	st.Refused, err = d.refused(ctx)
	return st, err
}

// exits are the sales of a history, oldest first. A receipt lands with the entry that confirms its effect, or before it.
func exits(entries []machine.Entry) ([]Exited, error) {
	var out []Exited
	receipts, rule := map[string]trading.Fill{}, ""
	for _, e := range entries {
		for _, x := range e.Evidence {
			if x.Fact != trading.OrderState.Info().Name {
				continue
			}
			v, err := trading.OrderState.Info().DecodeStored(x.Value)
			if err != nil {
				return nil, fmt.Errorf("version %d: %w", e.Version, err)
			}
			receipts[x.Subject] = v.(trading.Fill)
		}
		if e.Event == trading.ExitPosition.Info().Name {
			var p trading.Exit
			if err := json.Unmarshal(e.Payload, &p); err != nil {
				return nil, fmt.Errorf("version %d: %w", e.Version, err)
			}
			rule = p.Rule
		}
		key, confirmed := trading.SendOrder.Info().ConfirmedBy(e)
		if f := receipts[key]; confirmed && f.Side == trading.Sell && f.Filled.Sign() > 0 {
			out = append(out, Exited{time.UnixMicro(e.At).UTC(), rule, f})
		}
	}
	return out, nil
}

// refused are the attempts that the store keeps of what was refused, of the book and of the working state.
func (d *Desk) refused(ctx context.Context) ([]string, error) {
	var kept []machine.Attempt
	for _, task := range []string{Agent, d.agent.Task()} {
		a, err := d.ctl.Attempts(ctx, task, trader)
		if err != nil {
			return nil, err
		}
		slices.Reverse(a) // oldest first, also of one instant
		kept = append(kept, a...)
	}
	slices.SortStableFunc(kept, func(a, b machine.Attempt) int { return a.At.Compare(b.At) })
	out := []string{}
	for _, a := range kept {
		if a.Kind != machine.Refused {
			continue
		}
		what := a.Event
		if what == "" {
			what = "an answer"
		}
		out = append(out, fmt.Sprintf("%s %s: %s", at(a.At), what, a.Findings[0].Code))
	}
	return out, nil
}
