package workingstate

import (
	"time"

	"github.com/pawlgo/pawl/guard"
)

// Status is what a structured handoff says of the work.
type Status string

// The statuses. The zero Status is that of a plain note.
const (
	Continue Status = "continue" // there are next steps
	Complete Status = "complete" // there is evidence that it is done
	Blocked  Status = "blocked"  // something named is in the way
)

// Handoff are the arguments of working_state_handoff. With only a note it is plain; with any of the next five it is a
// structured report, and status is required (the specification, 3.3 and 6).
type Handoff struct {
	Note      string  `json:"note" jsonschema:"what the next wake-up must know"`
	Status    *string `json:"status" jsonschema:"continue, complete or blocked; leave out for a plain note"`
	NextSteps *string `json:"next_steps" jsonschema:"with continue: what is to be done next"`
	Evidence  *string `json:"evidence" jsonschema:"with complete: what shows that it is done"`
	Blocker   *string `json:"blocker" jsonschema:"with blocked: what exactly is in the way"`
	Proof     *string `json:"proof" jsonschema:"with complete: the id of a proof that the verifier knows, like a test run"`
	TTLHours  *Hours  `json:"ttl_hours"`
	// ExpectedRecordVersion guards against overwriting what was written since.
	ExpectedRecordVersion *uint64 `json:"expected_record_version" jsonschema:"only if the whole record is still at this version"`
}

// HandoffReply is what a committed Handoff answers.
type HandoffReply struct {
	OK         bool      `json:"ok"`
	Version    uint64    `json:"version"`              // of the record
	Truncated  bool      `json:"truncated"`            // a plain note was cut
	Superseded *string   `json:"superseded"`           // the note before; null when there was none
	ExpiresAt  time.Time `json:"expires_at,omitzero"`  // zero: never
	Verified   string    `json:"verified_by,omitzero"` // the authority that accepted the proof
}

// ClearHandoff are the arguments of working_state_clear_handoff.
type ClearHandoff struct {
	Reason                string  `json:"reason" jsonschema:"why, at most 200 characters"`
	ExpectedRecordVersion *uint64 `json:"expected_record_version" jsonschema:"only if the whole record is still at this version"`
}

// ClearHandoffReply is what a committed ClearHandoff answers.
type ClearHandoffReply struct {
	OK        bool   `json:"ok"`
	Version   uint64 `json:"version"`      // of the record
	Retired   string `json:"retired_note"` // expired or not
	Truncated bool   `json:"truncated"`    // the reason was cut
}

// structured tells whether it is a report. A blank status counts as absent; an empty text of another field does not.
func (p Handoff) structured() bool {
	return opt(p.Status) != "" || p.NextSteps != nil || p.Evidence != nil || p.Blocker != nil || p.Proof != nil
}

// bytes is the size of what a report brings, before any of it is collapsed.
func (p Handoff) bytes() int {
	n := len(p.Note)
	for _, s := range []*string{p.NextSteps, p.Evidence, p.Blocker, p.Proof} {
		if s != nil {
			n += len(*s)
		}
	}
	return n
}

func (p Handoff) note(version uint64, now time.Time, by string) (Note, bool) {
	n := Note{Version: version, UpdatedAt: now, UpdatedBy: by, ExpiresAt: p.TTLHours.until(now)}
	if !p.structured() {
		var cut bool
		n.Note, cut = clean(p.Note, MaxNote)
		return n, cut
	}
	n.Note, n.Status = collapse(p.Note), Status(opt(p.Status))
	n.NextSteps, n.Evidence, n.Blocker, n.Proof = opt(p.NextSteps), opt(p.Evidence), opt(p.Blocker), opt(p.Proof)
	return n, false
}

// status judges the word, when the handoff has or needs one.
func status(c Case[Handoff]) guard.Verdict {
	switch s := Status(opt(c.Payload.Status)); {
	case s == "" && c.Payload.structured():
		return guard.Deny(CodeStatusNeeded, "next_steps, evidence, blocker and proof belong to a report: say status as well").
			With("fields", []string{"next_steps", "evidence", "blocker", "proof"})
	case s == "" || s == Continue || s == Complete || s == Blocked:
		return guard.Allow()
	default:
		return guard.Deny(CodeStatusInvalid, "status is continue, complete or blocked").
			With("legal", []Status{Continue, Complete, Blocked}).With("received", head(string(s), 40))
	}
}

// size judges what a report brings; a plain note is cut instead.
func size(most int) func(Case[Handoff]) guard.Verdict {
	return func(c Case[Handoff]) guard.Verdict {
		n := c.Payload.bytes()
		if !c.Payload.structured() || n <= most {
			return guard.Allow()
		}
		return guard.Deny(CodeTooLarge, "the report is too long, and is not cut, since what it proves could be cut away: shorten it").
			With("bytes", n).With("cap", most).With("setting", "workingstate.Options.HandoffBytes")
	}
}

func noted(c Case[Handoff]) guard.Verdict {
	if collapse(c.Payload.Note) == "" {
		return guard.Deny(CodeNoteEmpty, "the note is empty")
	}
	return guard.Allow()
}

// rules is the decision table of reports: the required field first, then the blocker, then the next steps.
func rules(c Case[Handoff]) guard.Verdict {
	p := c.Payload
	next, evidence, blocker := opt(p.NextSteps) != "", opt(p.Evidence) != "", opt(p.Blocker) != ""
	bad := func(field string, use Status, text string) guard.Verdict {
		return guard.Deny(CodeRule, text).With("field", field).With("use", use)
	}
	switch Status(opt(p.Status)) {
	case Continue:
		switch {
		case !next:
			return bad("next_steps", Continue, "continue needs next_steps")
		case blocker:
			return bad("blocker", Blocked, "with a blocker, use blocked")
		}
	case Complete:
		switch {
		case !evidence:
			return bad("evidence", Complete, "complete needs evidence")
		case blocker:
			return bad("blocker", Blocked, "a blocker contradicts complete")
		case next:
			return bad("next_steps", Continue, "with next_steps left, use continue")
		}
	case Blocked:
		if !blocker {
			return bad("blocker", Blocked, "blocked needs a specific blocker")
		}
	}
	return guard.Allow()
}

func expectedByHandoff(c Case[Handoff]) guard.Verdict {
	return sameRecord(c.Data, c.Payload.ExpectedRecordVersion)
}

func sameRecord(t Table, expected *uint64) guard.Verdict {
	if expected == nil || *expected == t.Version {
		return guard.Allow()
	}
	return guard.Deny(CodeConflict, "the record has changed: read it again, then decide").With("record_version", t.Version)
}

func applyHandoff(verifier string) func(*Table, Case[Handoff]) {
	return func(t *Table, c Case[Handoff]) {
		t.Version++
		n, _ := c.Payload.note(t.Version, c.Now(), c.Principal().ID)
		if n.Proof != "" {
			n.Verified = verifier
		}
		t.Handoff = &n
	}
}

func replyHandoff(verifier string) func(Case[Handoff]) HandoffReply {
	return func(c Case[Handoff]) HandoffReply {
		n, cut := c.Payload.note(c.Data.Version+1, c.Now(), "")
		r := HandoffReply{OK: true, Version: n.Version, Truncated: cut, ExpiresAt: n.ExpiresAt}
		if n.Proof != "" {
			r.Verified = verifier
		}
		if c.Data.Handoff != nil {
			r.Superseded = &c.Data.Handoff.Note
		}
		return r
	}
}

func left(c Case[ClearHandoff]) guard.Verdict {
	if c.Data.Handoff == nil {
		return guard.Deny(CodeNoHandoff, "there is no handoff")
	}
	return guard.Allow()
}

func applyClearHandoff(t *Table, _ Case[ClearHandoff]) {
	t.Version++
	t.Handoff = nil
}

func replyClearHandoff(c Case[ClearHandoff]) ClearHandoffReply {
	_, cut := clean(c.Payload.Reason, MaxReason)
	return ClearHandoffReply{OK: true, Version: c.Data.Version + 1, Retired: c.Data.Handoff.Note, Truncated: cut}
}
