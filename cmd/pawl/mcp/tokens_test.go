package mcp_test

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlgo/pawl/cmd/pawl/mcp"
)

func readOf(agent string) mcp.Grant { return mcp.Grant{Agent: agent, Scopes: []mcp.Scope{mcp.Read}} }

// TestTokens makes, checks, lists and revokes tokens, and keeps only their hashes.
func TestTokens(t *testing.T) {
	d := openDesk(t)
	tokens := d.tokens()
	none, err := tokens.List()
	require.NoError(t, err)
	require.Empty(t, none)
	_, _, err = tokens.Verify("pawl_x", t0)
	require.ErrorIs(t, err, mcp.ErrToken)

	laptop, err := tokens.Add("laptop", "trader", both.Scopes, t0, time.Time{})
	require.NoError(t, err)
	phone, err := tokens.Add("phone", "other", []mcp.Scope{mcp.Read}, t0, t0.Add(time.Hour))
	require.NoError(t, err)
	require.NotEqual(t, laptop, phone)
	require.Len(t, laptop, len("pawl_")+43, "256 bits")
	raw, err := os.ReadFile(tokens.Path())
	require.NoError(t, err)
	for _, secret := range []string{laptop, phone, laptop[5:], phone[5:]} {
		require.NotContains(t, string(raw), secret)
	}
	info, err := os.Stat(tokens.Path())
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), info.Mode().Perm())

	elsewhere := mcp.NewTokens(tokens.Path()) // as a server that runs meanwhile
	g, name, err := elsewhere.Verify(laptop, t0)
	require.NoError(t, err)
	require.Equal(t, both, g)
	require.Equal(t, "laptop", name)
	g, _, err = elsewhere.Verify(phone, t0.Add(time.Hour-1))
	require.NoError(t, err)
	require.Equal(t, readOf("other"), g)
	_, _, err = elsewhere.Verify(phone, t0.Add(time.Hour))
	require.ErrorIs(t, err, mcp.ErrToken, "expired")
	for _, bad := range []string{"", "pawl_", laptop[:len(laptop)-1], laptop + "a", strings.ToUpper(laptop), " " + laptop} {
		_, _, err = elsewhere.Verify(bad, t0)
		require.ErrorIs(t, err, mcp.ErrToken, bad)
	}

	require.NoError(t, tokens.Revoke("laptop", t0.Add(time.Minute)))
	_, _, err = elsewhere.Verify(laptop, t0)
	require.ErrorIs(t, err, mcp.ErrToken, "revoked elsewhere counts at once")
	listed, err := elsewhere.List()
	require.NoError(t, err)
	require.Len(t, listed, 2)
	require.Equal(t, t0.Add(time.Minute), listed[0].Revoked)
	require.ErrorIs(t, tokens.Revoke("laptop", t0), mcp.ErrTokens)
	require.ErrorIs(t, tokens.Revoke("nobody", t0), mcp.ErrTokens)
	_, err = tokens.Add("laptop", "trader", both.Scopes, t0, time.Time{})
	require.ErrorIs(t, err, mcp.ErrTokens, "a name is never used again")
}

// TestTokensBad refuses what is wrong, and a file that cannot be trusted lets nobody in.
func TestTokensBad(t *testing.T) {
	d := openDesk(t)
	tokens := d.tokens()
	for name, add := range map[string]func() (string, error){
		"no name": func() (string, error) { return tokens.Add("", "trader", both.Scopes, t0, time.Time{}) },
		"long name": func() (string, error) {
			return tokens.Add(strings.Repeat("n", mcp.MaxTokenName+1), "trader", both.Scopes, t0, time.Time{})
		},
		"no scope": func() (string, error) { return tokens.Add("n", "trader", nil, t0, time.Time{}) },
		"admin":    func() (string, error) { return tokens.Add("n", "trader", []mcp.Scope{"admin"}, t0, time.Time{}) },
		"expired":  func() (string, error) { return tokens.Add("old", "trader", both.Scopes, t0, t0) },
	} {
		_, err := add()
		require.Error(t, err, name)
	}
	good, err := tokens.Add(strings.Repeat("n", mcp.MaxTokenName), "trader", both.Scopes, t0, time.Time{})
	require.NoError(t, err)
	whole, err := os.ReadFile(tokens.Path())
	require.NoError(t, err)
	closed := func(why string) {
		t.Helper()
		_, _, err := tokens.Verify(good, t0)
		require.ErrorIs(t, err, mcp.ErrTokens, why)
		require.ErrorContains(t, err, why)
	}
	require.NoError(t, os.Chmod(tokens.Path(), 0o640))
	closed("chmod 600")
	require.NoError(t, os.Chmod(tokens.Path(), 0o600))
	for why, more := range map[string]string{"line 2": `{"name":"x"`, "unknown_field": `{"name":"x","agent":"a","scopes":["read"],"sha256":"","created":"2026-01-01T00:00:00Z","admin":true}`,
		"no hash": `{"name":"x","agent":"a","scopes":["read"],"sha256":"","created":"2026-01-01T00:00:00Z"}`,
		"agent":   fmt.Sprintf(`{"name":"x","agent":"../a","scopes":["read"],"sha256":"%064d","created":"2026-01-01T00:00:00Z"}`, 0)} {
		require.NoError(t, os.WriteFile(tokens.Path(), append(bytes.Clone(whole), more...), 0o600))
		closed(why)
	}
	require.NoError(t, os.WriteFile(tokens.Path(), make([]byte, mcp.MaxTokensFile+1), 0o600))
	closed("at most")
	require.NoError(t, os.WriteFile(tokens.Path(), whole, 0o600))
	_, _, err = tokens.Verify(good, t0)
	require.NoError(t, err)
}

// TestTokensRace lets programs add at once: each name is one token, and what was said to be added works.
func TestTokensRace(t *testing.T) {
	d := openDesk(t)
	path := d.tokens().Path()
	var all sync.WaitGroup
	made := make([]string, 16)
	for i := range made {
		all.Go(func() {
			made[i], _ = mcp.NewTokens(path).Add(fmt.Sprint("t", i/2), "trader", both.Scopes, t0, time.Time{})
		})
	}
	all.Wait()
	tokens := mcp.NewTokens(path)
	listed, err := tokens.List()
	require.NoError(t, err)
	require.Len(t, listed, 8)
	works := 0
	for _, token := range made {
		if token != "" {
			_, _, err := tokens.Verify(token, t0)
			require.NoError(t, err)
			works++
		}
	}
	require.Equal(t, 8, works)
}

// TestMaxTokens holds the limit on both sides; revoked ones do not count.
func TestMaxTokens(t *testing.T) {
	d := openDesk(t)
	tokens := d.tokens()
	var lines strings.Builder
	for n := range mcp.MaxTokens - 1 {
		fmt.Fprintf(&lines, `{"name":"t%d","agent":"a","scopes":["read"],"sha256":"%064d","created":"2026-01-01T00:00:00Z"}`+"\n", n, n)
	}
	require.NoError(t, os.WriteFile(tokens.Path(), []byte(lines.String()), 0o600))
	_, err := tokens.Add("last", "a", both.Scopes, t0, time.Time{})
	require.NoError(t, err)
	_, err = tokens.Add("over", "a", both.Scopes, t0, time.Time{})
	require.ErrorIs(t, err, mcp.ErrTokens)
	require.NoError(t, tokens.Revoke("t0", t0))
	_, err = tokens.Add("over", "a", both.Scopes, t0, time.Time{})
	require.NoError(t, err)
}
