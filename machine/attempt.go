package machine

import (
	"encoding/json"
	"time"

	"github.com/pawlgo/pawl/guard"
)

// Attempt is a proposal or an observation that was not committed, kept for audit outside the versioned state.
type Attempt struct {
	At        time.Time       `json:"-"`
	Count     int             `json:"-"`             // how many it stands for: those that were the same since the one before it
	Version   uint64          `json:"state_version"` // where the task stood
	BasedOn   uint64          `json:"based_on_version,omitempty"`
	Event     string          `json:"event,omitempty"`
	Payload   json.RawMessage `json:"payload,omitempty"` // left out when it is large
	Actor     guard.Actor     `json:"actor,omitempty"`
	Principal string          `json:"principal,omitempty"`
	View      string          `json:"view,omitempty"`
	Kind      Kind            `json:"kind"`
	Findings  []Finding       `json:"findings,omitempty"`
}
