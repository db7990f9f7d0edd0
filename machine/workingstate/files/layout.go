package files

import (
	"path/filepath"
	"time"

	ws "github.com/pawlgo/pawl/machine/workingstate"
)

// Names of the files of one agent, in [Folder].
const (
	StateName   = "working_state.json"
	HistoryName = "working_state_history.jsonl"
)

// Limits of the files.
const (
	MaxState   = 256 << 10 // bytes of a state file
	MaxHistory = 4 << 20   // bytes of a history file; beyond them the oldest lines go, and the store keeps them
	MaxLine    = 128 << 10 // bytes of one line of a history file; a longer one is skipped
)

// Folder is where an agent's files are. Errors wrap [ws.ErrAgent].
func Folder(dir, agent string) (string, error) {
	return filepath.Join(dir, agent, "state"), ws.CheckAgent(agent)
}

// state is the layout of a state file. What the layout did not always have is optional.
type state struct {
	Version uint64           `json:"version"`
	States  map[string]entry `json:"states"`
	Handoff *note            `json:"handoff,omitempty"`
}

type entry struct {
	Value     string    `json:"value"`
	Reason    string    `json:"reason"`
	UpdatedAt time.Time `json:"updated_at"`
	UpdatedBy string    `json:"updated_by"`
	ExpiresAt time.Time `json:"expires_at,omitzero"`
	Version   uint64    `json:"version,omitzero"`
}

type note struct {
	Note      string    `json:"note"`
	UpdatedAt time.Time `json:"updated_at"`
	UpdatedBy string    `json:"updated_by"`
	Status    ws.Status `json:"status,omitzero"`
	NextSteps string    `json:"next_steps,omitzero"`
	Evidence  string    `json:"evidence,omitzero"`
	Blocker   string    `json:"blocker,omitzero"`
	Proof     string    `json:"proof,omitzero"`
	Verified  string    `json:"verified_by,omitzero"`
	ExpiresAt time.Time `json:"expires_at,omitzero"`
	Version   uint64    `json:"version,omitzero"`
}

func layout(t ws.Table) state {
	s := state{Version: t.Version, States: map[string]entry{}}
	for k, e := range t.States {
		s.States[k] = entry{e.Value, e.Reason, e.UpdatedAt, e.UpdatedBy, e.ExpiresAt, e.Version}
	}
	if n := t.Handoff; n != nil {
		s.Handoff = &note{n.Note, n.UpdatedAt, n.UpdatedBy, n.Status, n.NextSteps, n.Evidence, n.Blocker, n.Proof, n.Verified, n.ExpiresAt, n.Version}
	}
	return s
}

func (s state) table() ws.Table {
	t := ws.Table{Version: s.Version, States: map[string]ws.Entry{}}
	for k, e := range s.States {
		t.States[k] = ws.Entry{Value: e.Value, Reason: e.Reason, Version: e.Version, UpdatedAt: e.UpdatedAt, UpdatedBy: e.UpdatedBy, ExpiresAt: e.ExpiresAt}
	}
	if n := s.Handoff; n != nil {
		t.Handoff = &ws.Note{Note: n.Note, Status: n.Status, NextSteps: n.NextSteps, Evidence: n.Evidence, Blocker: n.Blocker, Proof: n.Proof,
			Verified: n.Verified, Version: n.Version, UpdatedAt: n.UpdatedAt, UpdatedBy: n.UpdatedBy, ExpiresAt: n.ExpiresAt}
	}
	return t
}
