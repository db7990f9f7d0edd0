package machine

import (
	"encoding/json"
	"fmt"
)

// storedHead is the part of a stored snapshot that needs no definition to be read. Its names are those of storedSnapshot.
type storedHead struct {
	Task       string         `json:"task_id"`
	Machine    string         `json:"machine"`
	Definition int            `json:"definition"`
	Digest     string         `json:"digest"`
	Version    uint64         `json:"state_version"`
	State      State          `json:"status"`
	Entered    int64          `json:"entered"`
	Owner      string         `json:"owner"`
	Parent     string         `json:"parent"`
	Created    int64          `json:"created"`
	Intents    []storedIntent `json:"effects"`
	Operations []Operation    `json:"operations"`
	UpdatedAt  int64          `json:"updated_at"`
	UpdatedBy  string         `json:"updated_by"`
	BasedOn    uint64         `json:"based_on_version"`
}

// DecodeHead reads of a stored snapshot what needs no definition: who and where the task is, whom it works for, its intents without their
// arguments, and its operations. Facts, offers, timers and whom it waits for are left out. It serves what has to be known of tasks whose
// machine is not at hand. Errors wrap [ErrStored].
func DecodeHead(raw []byte) (Head, error) {
	var r storedHead
	if err := json.Unmarshal(raw, &r); err != nil {
		return Head{}, fmt.Errorf("%w: snapshot: %w", ErrStored, err)
	}
	if CheckTaskID(r.Task) != nil || r.Version == 0 {
		return Head{}, fmt.Errorf("%w: snapshot of task id %.160q at version %d", ErrStored, r.Task, r.Version)
	}
	h := Head{Task: r.Task, Machine: r.Machine, Definition: r.Definition, Digest: r.Digest, Version: r.Version, State: r.State,
		Entered: instant(r.Entered), Owner: r.Owner, Parent: r.Parent, Created: instant(r.Created), Operations: r.Operations,
		UpdatedAt: instant(r.UpdatedAt), UpdatedBy: r.UpdatedBy, BasedOn: r.BasedOn}
	for _, i := range r.Intents {
		h.Intents = append(h.Intents, Intent{Effect: i.Effect, Key: i.Key, Operation: i.Operation, Status: i.Status, Since: i.Since,
			Settled: i.Settled, At: instant(i.At), Holds: i.Holds})
	}
	return h, nil
}
