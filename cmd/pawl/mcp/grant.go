package mcp

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/auth"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// Scope is what a connection may do. The zero Scope is none.
type Scope string

// The scopes. Neither includes the other.
const (
	Read  Scope = "read"
	Write Scope = "write"
)

// ErrScope is wrapped by errors about scopes.
var ErrScope = errors.New("not a scope")

// ParseScopes reads scopes from a list such as "read,write". Errors wrap [ErrScope].
func ParseScopes(list string) ([]Scope, error) {
	var out []Scope
	for word := range strings.SplitSeq(list, ",") {
		s := Scope(strings.TrimSpace(word))
		if s != Read && s != Write {
			return nil, fmt.Errorf("%w: %q; they are %s and %s", ErrScope, word, Read, Write)
		}
		if !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	return out, nil
}

// Grant is who a connection speaks for, and what it may do. The zero Grant is nobody and may do nothing.
type Grant struct {
	Agent  string
	Scopes []Scope
}

// Has tells whether the grant holds a scope.
func (g Grant) Has(s Scope) bool { return g.Agent != "" && slices.Contains(g.Scopes, s) }

// grantKey is where a grant travels in what the SDK knows of a bearer token.
const grantKey = "pawl"

// tokenInfo is the grant as the SDK carries it. The user is the token, so that a session stays with the token that began it.
func tokenInfo(g Grant, token string) *auth.TokenInfo {
	return &auth.TokenInfo{UserID: token, Extra: map[string]any{grantKey: g}}
}

type grantContext struct{}

// grantOf is the grant of a call that passed the gate.
func grantOf(ctx context.Context) Grant {
	g, _ := ctx.Value(grantContext{}).(Grant)
	return g
}

// grantOfRequest is the grant of a request that came over HTTP; the zero Grant when it carries none.
func grantOfRequest(req sdk.Request) Grant {
	extra := req.GetExtra()
	if extra == nil || extra.TokenInfo == nil {
		return Grant{}
	}
	g, _ := extra.TokenInfo.Extra[grantKey].(Grant)
	return g
}
