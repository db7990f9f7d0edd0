package workingstate

import "github.com/pawlgo/pawl/guard"

// Clear are the arguments of working_state_clear: a key that no longer holds, and why.
type Clear struct {
	Key    string `json:"key" jsonschema:"the key to retire"`
	Reason string `json:"reason" jsonschema:"why, at most 200 characters"`
	Expect
}

// ClearReply is what a committed Clear answers.
type ClearReply struct {
	OK        bool   `json:"ok"`
	Version   uint64 `json:"version"` // of the record
	Key       string `json:"key"`
	Retired   string `json:"retired_value"` // expired or not
	Truncated bool   `json:"truncated"`     // the reason was cut
}

func stored(c Case[Clear]) guard.Verdict {
	key := trimmed(c.Payload.Key)
	if _, ok := c.Data.States[key]; ok {
		return guard.Allow()
	}
	return guard.Deny(CodeKeyNotFound, "there is no such key").With("key", head(key, 80))
}

func expectedByClear(c Case[Clear]) guard.Verdict {
	return c.Payload.judge(c.Data, trimmed(c.Payload.Key), c.Now())
}

func applyClear(t *Table, c Case[Clear]) {
	t.Version++
	delete(t.States, trimmed(c.Payload.Key))
}

func replyClear(c Case[Clear]) ClearReply {
	key := trimmed(c.Payload.Key)
	_, cut := clean(c.Payload.Reason, MaxReason)
	return ClearReply{OK: true, Version: c.Data.Version + 1, Key: key, Retired: c.Data.States[key].Value, Truncated: cut}
}
