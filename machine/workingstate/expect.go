package workingstate

import (
	"time"

	"github.com/pawlgo/pawl/guard"
)

// Expect is compare-and-set: what the proposer read before. Absent members guard nothing; in JSON, null is absent, since
// strict tool schemas know no other way to leave a member out.
type Expect struct {
	ExpectedValue         *string `json:"expected_value" jsonschema:"only if the key still holds this value"`
	ExpectedVersion       *uint64 `json:"expected_version" jsonschema:"only if the key was last written by this version"`
	ExpectedRecordVersion *uint64 `json:"expected_record_version" jsonschema:"only if the whole record is still at this version"`
}

// judge compares with what the key holds now. A key that has expired holds nothing.
func (x Expect) judge(t Table, key string, now time.Time) guard.Verdict {
	e, live := t.Get(key, now)
	holds := x.ExpectedRecordVersion == nil || *x.ExpectedRecordVersion == t.Version
	if x.ExpectedVersion != nil {
		holds = holds && live && *x.ExpectedVersion == e.Version
	}
	if x.ExpectedValue != nil {
		want, _ := clean(*x.ExpectedValue, MaxValue) // as the value itself was
		holds = holds && live && want == e.Value
	}
	if holds {
		return guard.Allow()
	}
	return conflict(t, key, now)
}

// conflict says what the key holds.
func conflict(t Table, key string, now time.Time) guard.Verdict {
	v := guard.Deny(CodeConflict, "it is not what you expected: read it again, then decide").With("record_version", t.Version)
	e, live := t.Get(key, now)
	if !live {
		return v.With("absent", true)
	}
	return v.With("current", e.Value).With("current_version", e.Version)
}
