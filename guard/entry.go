package guard

import "time"

// Key names one fact about one subject: refund_eligibility(123).
type Key struct {
	Fact    string `json:"fact"`
	Subject string `json:"subject"`
}

// String is the key as refusals and tables write it.
func (k Key) String() string { return k.Fact + "(" + k.Subject + ")" }

func (k Key) append(b []byte) []byte {
	return append(append(append(append(b, k.Fact...), '('), k.Subject...), ')')
}

func (k Key) compare(o Key) int {
	switch {
	case k.Fact < o.Fact, k.Fact == o.Fact && k.Subject < o.Subject:
		return -1
	case k == o:
		return 0
	}
	return 1
}

// Status of a fact for a reader. The zero Status is Unknown: nothing is verified by accident.
type Status string

// The statuses: three-valued, never mixed up with false (law 4).
const (
	Unknown  Status = ""         // never observed, or its source contradicts itself
	Verified Status = "verified" // observed, and fresh enough now
	Stale    Status = "stale"    // observed, and must be observed again
)

// Entry is one believed value with its provenance. Times are whole microseconds in UTC.
type Entry struct {
	Key     Key
	Value   any       // of the fact's type; nil when Disputed
	Source  string    // the authority
	Ref     string    // for audit only
	At      time.Time // when the source says it was so; MaxAge counts from here
	Seen    time.Time // when the controller got it; Fresh counts from here
	Seq     uint64    // the source's own number, for facts ordered BySequence
	BasedOn uint64    // the version of the task that it was asked for at
	// Disputed says that the source gave two values with one order mark: the fact is unknown until it is
	// pulled again.
	Disputed bool
}

// mark compares the order of two entries of one fact: negative when e came before o.
func (e Entry) mark(o Entry, by Order) int {
	switch by {
	case BySequence:
		switch {
		case e.Seq < o.Seq:
			return -1
		case e.Seq > o.Seq:
			return 1
		}
		return 0
	case ByArrival:
		return e.Seen.Compare(o.Seen)
	}
	return e.At.Compare(o.At)
}
