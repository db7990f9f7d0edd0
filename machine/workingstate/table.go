package workingstate

import (
	"maps"
	"slices"
	"time"
)

// Table is the data of an agent's task: what holds now. The zero Table is empty. A value; its maps are read only.
type Table struct {
	// Version counts the changes, from 0. It is the record version that expected_record_version is compared with, and not
	// the task's state_version, which also counts what was observed.
	Version uint64           `json:"version"`
	States  map[string]Entry `json:"states"`
	Handoff *Note            `json:"handoff"`
}

// Entry is what one key holds.
type Entry struct {
	Value     string    `json:"value"`
	Reason    string    `json:"reason"`
	Version   uint64    `json:"version"` // the change that wrote it, see [Table]
	UpdatedAt time.Time `json:"updated_at"`
	UpdatedBy string    `json:"updated_by"`
	ExpiresAt time.Time `json:"expires_at,omitzero"` // zero: never
}

// Note is a handoff: what one wake-up leaves for the next. Without a status it is plain.
type Note struct {
	Note      string    `json:"note"`
	Status    Status    `json:"status,omitzero"`
	NextSteps string    `json:"next_steps,omitzero"`
	Evidence  string    `json:"evidence,omitzero"`
	Blocker   string    `json:"blocker,omitzero"`
	Proof     string    `json:"proof,omitzero"`       // id of the proof that the verifier accepted
	Verified  string    `json:"verified_by,omitzero"` // the authority that accepted it; "": the evidence is a claim
	Version   uint64    `json:"version"`
	UpdatedAt time.Time `json:"updated_at"`
	UpdatedBy string    `json:"updated_by"`
	ExpiresAt time.Time `json:"expires_at,omitzero"` // zero: never
}

// Live tells whether the entry holds at an instant; at the very instant of its end it does not.
func (e Entry) Live(now time.Time) bool { return e.ExpiresAt.IsZero() || now.Before(e.ExpiresAt) }

// Live tells whether the note holds at an instant. There is none in nil.
func (n *Note) Live(now time.Time) bool {
	return n != nil && (n.ExpiresAt.IsZero() || now.Before(n.ExpiresAt))
}

// Clone is the table in memory of its own.
func (t Table) Clone() Table {
	t.States = maps.Clone(t.States)
	if t.Handoff != nil {
		n := *t.Handoff
		t.Handoff = &n
	}
	return t
}

// Get is what a key holds at an instant; false when it is absent or has expired.
func (t Table) Get(key string, now time.Time) (Entry, bool) {
	e, ok := t.States[key]
	return e, ok && e.Live(now)
}

// Keys are the keys that hold at an instant, and those that have expired, each in order.
func (t Table) Keys(now time.Time) (live, expired []string) {
	live, expired = []string{}, []string{}
	for _, k := range slices.Sorted(maps.Keys(t.States)) {
		if t.States[k].Live(now) {
			live = append(live, k)
		} else {
			expired = append(expired, k)
		}
	}
	return live, expired
}

// Empty tells whether nothing holds at an instant: then nothing is shown.
func (t Table) Empty(now time.Time) bool {
	live, _ := t.Keys(now)
	return len(live) == 0 && !t.Handoff.Live(now)
}

// sweep removes expired entries, those that ended first, until there is room for one more key.
func (t *Table) sweep(now time.Time) []string {
	_, expired := t.Keys(now)
	slices.SortStableFunc(expired, func(a, b string) int { return t.States[a].ExpiresAt.Compare(t.States[b].ExpiresAt) })
	gone := expired[:min(len(expired), max(0, len(t.States)-MaxKeys+1))]
	for _, k := range gone {
		delete(t.States, k)
	}
	return gone
}
