package workingstate

import (
	"strings"
	"time"

	"github.com/pawlgo/pawl/guard"
)

// KeyPattern is the form of a key, as a regular expression.
const KeyPattern = `^[a-z0-9][a-z0-9._-]{0,63}$`

// Set are the arguments of working_state_set. Key, value and reason are required. Without a ttl the key holds until it is
// set or cleared, also when it had a ttl before.
type Set struct {
	Key      string `json:"key" jsonschema:"1 to 64 of a-z 0-9 . _ -, beginning with a letter or digit; like stop_loss.2317"`
	Value    string `json:"value" jsonschema:"what holds now, one line of at most 400 characters; a number goes in as text"`
	Reason   string `json:"reason" jsonschema:"why, at most 200 characters"`
	TTLHours *Hours `json:"ttl_hours"`
	Expect
	ExpectAbsent *bool `json:"expect_absent" jsonschema:"only if the key holds nothing now"`
}

// SetReply is what a committed Set answers.
type SetReply struct {
	OK         bool      `json:"ok"`
	Version    uint64    `json:"version"` // of the record, and of the key
	Key        string    `json:"key"`
	Value      string    `json:"value"`               // as it is stored
	Superseded *string   `json:"superseded"`          // what was stored before, expired or not; null for a new key
	Truncated  bool      `json:"truncated"`           // value or reason was cut
	ExpiresAt  time.Time `json:"expires_at,omitzero"` // zero: never
	Swept      []string  `json:"swept"`               // expired keys that had to go to make room
}

func trimmed(key string) string { return strings.TrimSpace(key) }

func goodKey(key string) guard.Verdict {
	if isKey(trimmed(key)) {
		return guard.Allow()
	}
	return guard.Deny(CodeBadKey, "a key is 1 to 64 of a-z 0-9 . _ -, beginning with a letter or digit").
		With("pattern", KeyPattern).With("key", head(key, 80))
}

func goodReason(reason string) guard.Verdict {
	if collapse(reason) == "" {
		return guard.Deny(CodeReason, "say why: the reason is empty")
	}
	return guard.Allow()
}

func goodTTL(h *Hours) guard.Verdict {
	if h == nil {
		return guard.Allow()
	}
	if _, ok := h.seconds(); ok {
		return guard.Allow()
	}
	return guard.Deny(CodeTTL, "ttl_hours must be at least a second and at most 720 hours").
		With("min_seconds", MinTTL).With("max_hours", MaxTTLHours)
}

func goodValue(c Case[Set]) guard.Verdict {
	if collapse(c.Payload.Value) == "" {
		return guard.Deny(CodeEmptyValue, "the value is empty; to retire a key, clear it")
	}
	return guard.Allow()
}

func expectedBySet(c Case[Set]) guard.Verdict {
	key := trimmed(c.Payload.Key)
	if _, live := c.Data.Get(key, c.Now()); live && c.Payload.ExpectAbsent != nil && *c.Payload.ExpectAbsent {
		return conflict(c.Data, key, c.Now())
	}
	return c.Payload.judge(c.Data, key, c.Now())
}

// room judges the cap on keys that hold.
func room(c Case[Set]) guard.Verdict {
	if _, stored := c.Data.States[trimmed(c.Payload.Key)]; stored {
		return guard.Allow()
	}
	live, expired := c.Data.Keys(c.Now())
	if len(live) < MaxKeys {
		return guard.Allow()
	}
	return guard.Deny(CodeKeyCap, "there is no room for another key: clear one that no longer holds first").
		With("cap", MaxKeys).With("live", live).With("expired", expired)
}

// entry is what the payload puts under its key.
func (p Set) entry(version uint64, now time.Time, by string) (e Entry, truncated bool) {
	value, cutValue := clean(p.Value, MaxValue)
	reason, cutReason := clean(p.Reason, MaxReason)
	return Entry{Value: value, Reason: reason, Version: version, UpdatedAt: now, UpdatedBy: by, ExpiresAt: p.TTLHours.until(now)}, cutValue || cutReason
}

func applySet(t *Table, c Case[Set]) {
	key := trimmed(c.Payload.Key)
	t.Version++
	if t.States == nil {
		t.States = map[string]Entry{}
	}
	if _, stored := t.States[key]; !stored {
		t.sweep(c.Now())
	}
	t.States[key], _ = c.Payload.entry(t.Version, c.Now(), c.Principal().ID)
}

func replySet(c Case[Set]) SetReply {
	key := trimmed(c.Payload.Key)
	e, truncated := c.Payload.entry(c.Data.Version+1, c.Now(), "")
	r := SetReply{OK: true, Version: e.Version, Key: key, Value: e.Value, Truncated: truncated, ExpiresAt: e.ExpiresAt, Swept: []string{}}
	if before, stored := c.Data.States[key]; stored {
		r.Superseded = &before.Value
	} else {
		after := c.Data.Clone()
		r.Swept = after.sweep(c.Now())
	}
	return r
}
