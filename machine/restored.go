package machine

import (
	"time"

	"github.com/pawlgo/pawl/guard"
)

// VoidRestored is why an offer is void whose task was restored, imported or copied: where it came from it may have been answered.
const VoidRestored = "restored"

// EntryRestored is the event of the entry that voids the offers of a restored task.
const EntryRestored = "restored"

// VoidOffers is the version in which no offer of a restored task is open any more, each with its record. False when none was open.
func (m *Machine[D]) VoidOffers(s Snapshot[D], by guard.Principal, now time.Time) (Snapshot[D], *Entry, bool) {
	if len(s.Offers) == 0 {
		return s, nil, false
	}
	next, e := m.Restored(s, by, now)
	return next, e, true
}

// Restored is the version in which a restored task goes on, its open offers void, each with its record: see [Machine.VoidOffers]. A controller
// writes it with the holds of unsettled effects that the store does not know.
func (m *Machine[D]) Restored(s Snapshot[D], by guard.Principal, now time.Time) (Snapshot[D], *Entry) {
	next, now := s, whole(now)
	next.Offers = nil
	next.Version, next.BasedOn, next.UpdatedAt, next.UpdatedBy = s.Version+1, s.Version, now, string(guard.Operator)+"/"+by.ID
	e := &Entry{Version: next.Version, BasedOn: s.Version, At: now.UnixMicro(), Event: EntryRestored, From: s.State, To: s.State,
		Actor: guard.Operator, Principal: by.ID, Machine: s.Machine, Definition: s.Definition, Digest: s.Digest}
	for _, o := range s.Offers {
		e.Voided = append(e.Voided, o.void(VoidRestored))
	}
	return next, e
}
