package mcp

import (
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// Keys of a call's _meta, which the client's runtime fills and a model does not see.
const (
	MetaKey   = "pawl/idempotency_key" // the same key with the same arguments gives the first outcome again
	MetaRun   = "pawl/run"             // which wake-up calls, for the history
	MetaModel = "pawl/model"           // which model and prompt write, for the history
)

// meta is what a client's runtime says about a call. It is provenance, and no authority.
type meta struct{ key, run, model string }

func readMeta(m sdk.Meta) (meta, *Refusal) {
	var out meta
	for name, to := range map[string]*string{MetaKey: &out.key, MetaRun: &out.run, MetaModel: &out.model} {
		v, given := m[name]
		text, isText := v.(string)
		if given && !isText {
			return meta{}, refuse("wrong_type", "_meta %q must be a string", name)
		}
		*to = text
	}
	return out, nil
}
