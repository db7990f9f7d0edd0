package workingstate

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/pawlgo/pawl/guard"
	"github.com/pawlgo/pawl/machine"
)

// Op is a kind of change.
type Op string

// The operations, as the history names them.
const (
	OpSet          Op = "set"
	OpClear        Op = "clear"
	OpHandoff      Op = "handoff"
	OpClearHandoff Op = "clear_handoff"
)

// Change is one line of an agent's history: a commit, or a line of an imported file.
type Change struct {
	At        time.Time `json:"ts"`
	Op        Op        `json:"op"`
	Agent     string    `json:"agent"`
	By        string    `json:"by,omitzero"`    // who was signed in
	Run       string    `json:"run,omitzero"`   // which wake-up wrote
	Model     string    `json:"model,omitzero"` // which model and prompt wrote
	Key       string    `json:"key,omitzero"`
	Value     string    `json:"value,omitzero"` // of a handoff, the note
	PrevValue *string   `json:"prev_value"`
	Reason    string    `json:"reason,omitzero"`
	ExpiresAt time.Time `json:"expires_at,omitzero"`
	Status    Status    `json:"status,omitzero"`
	NextSteps string    `json:"next_steps,omitzero"`
	Evidence  string    `json:"evidence,omitzero"`
	Blocker   string    `json:"blocker,omitzero"`
	Proof     string    `json:"proof,omitzero"`
	Verified  string    `json:"verified_by,omitzero"`
	Version   uint64    `json:"version"`
}

// events are the names of the machine's events.
func events() []string {
	return []string{SetKey.Info().Name, ClearKey.Info().Name, LeaveHandoff.Info().Name, RetireHandoff.Info().Name}
}

// ChangeOf reads a history entry of the machine; false when it is of no event of the machine. Errors wrap [guard.ErrForm].
func ChangeOf(agent string, e machine.Entry) (Change, bool, error) {
	at := time.UnixMicro(e.At).UTC()
	c := Change{At: at, Agent: agent, By: e.Principal}
	c.Run, c.Model = provenance(e.Written)
	var err error
	switch e.Event {
	case SetKey.Info().Name:
		err = c.set(e)
	case ClearKey.Info().Name:
		err = c.clear(e)
	case LeaveHandoff.Info().Name:
		err = c.handoff(e)
	case RetireHandoff.Info().Name:
		err = c.clearHandoff(e)
	default:
		return Change{}, false, nil
	}
	if err != nil {
		return Change{}, false, fmt.Errorf("agent %s, version %d, %s: %w", agent, e.Version, e.Event, err)
	}
	return c, true, nil
}

// read gives a payload and what was answered their types back.
func read[P, R any](e machine.Entry) (p P, r R, err error) {
	if p, err = guard.DecodeStored[P](e.Payload); err == nil {
		r, err = guard.DecodeStored[R](e.Returned)
	}
	return p, r, err
}

func (c *Change) set(e machine.Entry) error {
	p, r, err := read[Set, SetReply](e)
	c.Op, c.Key, c.Value, c.PrevValue, c.ExpiresAt, c.Version = OpSet, r.Key, r.Value, r.Superseded, r.ExpiresAt, r.Version
	c.Reason, _ = clean(p.Reason, MaxReason)
	return err
}

func (c *Change) clear(e machine.Entry) error {
	p, r, err := read[Clear, ClearReply](e)
	c.Op, c.Key, c.PrevValue, c.Version = OpClear, r.Key, &r.Retired, r.Version
	c.Reason, _ = clean(p.Reason, MaxReason)
	return err
}

func (c *Change) handoff(e machine.Entry) error {
	p, r, err := read[Handoff, HandoffReply](e)
	n, _ := p.note(r.Version, c.At, "")
	c.Op, c.Value, c.PrevValue, c.ExpiresAt, c.Version = OpHandoff, n.Note, r.Superseded, r.ExpiresAt, r.Version
	c.Status, c.NextSteps, c.Evidence, c.Blocker, c.Proof, c.Verified = n.Status, n.NextSteps, n.Evidence, n.Blocker, n.Proof, r.Verified
	return err
}

func (c *Change) clearHandoff(e machine.Entry) error {
	p, r, err := read[ClearHandoff, ClearHandoffReply](e)
	c.Op, c.PrevValue, c.Version = OpClearHandoff, &r.Retired, r.Version
	c.Reason, _ = clean(p.Reason, MaxReason)
	return err
}

// changes reads entries that come newest first, and gives them oldest first.
func changes(agent string, entries []machine.Entry) ([]Change, error) {
	out := make([]Change, 0, len(entries))
	for _, e := range slices.Backward(entries) {
		c, ours, err := ChangeOf(agent, e)
		if err != nil {
			return nil, err
		}
		if ours {
			out = append(out, c)
		}
	}
	return out, nil
}

// JSON is the change as one line of a history file.
func (c Change) JSON() ([]byte, error) { return json.Marshal(c) }
