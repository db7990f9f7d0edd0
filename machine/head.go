package machine

import (
	"encoding/json"
	"fmt"
)

// DecodeHead reads of a stored snapshot what needs no definition: who and where the task is, whom it works for, its intents without their
// arguments, and its operations. Facts, offers, timers and whom it waits for are left out. It serves what has to be known of tasks whose
// machine is not at hand. Errors wrap [ErrStored].
func DecodeHead(raw []byte) (Head, error) {
	var r readSnapshot
	if err := json.Unmarshal(raw, &r); err != nil {
		return Head{}, fmt.Errorf("%w: snapshot: %w", ErrStored, err)
	}
	if CheckTaskID(r.Task) != nil || r.Version == 0 {
		return Head{}, fmt.Errorf("%w: snapshot of task id %.160q at version %d", ErrStored, r.Task, r.Version)
	}
	h := r.head()
	for _, i := range r.Intents {
		h.Intents = append(h.Intents, i.intent(nil))
	}
	return h, nil
}
