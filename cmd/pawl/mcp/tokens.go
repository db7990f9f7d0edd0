package mcp

import (
	"bufio"
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"regexp"
	"slices"
	"sync"
	"time"

	"github.com/pawlgo/pawl/guard"
	"github.com/pawlgo/pawl/machine/workingstate"
)

// Limits of a file of tokens.
const (
	MaxTokens     = 1024    // tokens that are not revoked
	MaxTokensFile = 1 << 20 // bytes
	MaxTokenName  = 64      // bytes of a token's name
)

// tokenPrefix begins every token, so that scanners of secrets can find one that leaked.
const tokenPrefix = "pawl_"

// tokenBytes are the random bytes of a token.
const tokenBytes = 32

var (
	// ErrToken says that a token is unknown, revoked or expired. Which of them is not told.
	ErrToken = errors.New("token is not valid")
	// ErrTokens is wrapped by errors about a file of tokens: its mode, its form, its limits, a name that is taken or unknown.
	ErrTokens = errors.New("file of tokens")
)

var tokenName = regexp.MustCompile(`^[A-Za-z0-9._-]{1,64}$`)

// Token is one line of a file of tokens. The token itself is not in it, only its SHA-256.
type Token struct {
	Name    string    `json:"name"`
	Agent   string    `json:"agent"`
	Scopes  []Scope   `json:"scopes"`
	Hash    string    `json:"sha256"`
	Created time.Time `json:"created"`
	Expires time.Time `json:"expires,omitzero"` // zero: never
	Revoked time.Time `json:"revoked,omitzero"` // zero: it is not
}

// Tokens is a file of bearer tokens: one JSON object a line, appended and never changed, so that two programs can write it at
// once and it tells its own history. A line that revokes repeats the token's. The file must be readable by its owner alone.
// Changes by other programs count from the next request on. Safe for concurrent use.
type Tokens struct {
	path string
	mu   sync.Mutex
	seen fs.FileInfo // what the file was when it was read
	all  []Token
}

// NewTokens is the file at a path, which need not exist yet. It reads nothing.
func NewTokens(path string) *Tokens { return &Tokens{path: path} }

// Path of the file.
func (t *Tokens) Path() string { return t.path }

// Add makes a token, and writes its hash to the file. The token is returned this once and kept nowhere. The zero expiry is
// never. Errors wrap [ErrTokens], [ErrScope], [workingstate.ErrAgent], or are the file's.
func (t *Tokens) Add(name, agent string, scopes []Scope, now, expires time.Time) (string, error) {
	if err := workingstate.CheckAgent(agent); err != nil {
		return "", err
	}
	if err := checkScopes(scopes); err != nil {
		return "", err
	}
	if !tokenName.MatchString(name) {
		return "", fmt.Errorf("%w: name %.80q must be 1 to %d of A-Z a-z 0-9 . _ -", ErrTokens, name, MaxTokenName)
	}
	if !expires.IsZero() && !now.Before(expires) {
		return "", fmt.Errorf("%w: token %s would expire at %s, which is past", ErrTokens, name, expires.Format(time.RFC3339))
	}
	known, err := t.List()
	if err != nil {
		return "", err
	}
	live := slices.DeleteFunc(slices.Clone(known), func(o Token) bool { return !o.Revoked.IsZero() })
	switch {
	case len(live) >= MaxTokens:
		return "", fmt.Errorf("%w: %s holds %d tokens, at most %d", ErrTokens, t.path, len(live), MaxTokens)
	case slices.ContainsFunc(known, func(o Token) bool { return o.Name == name }):
		return "", fmt.Errorf("%w: %s has a token %s", ErrTokens, t.path, name)
	}
	secret := make([]byte, tokenBytes)
	rand.Read(secret) // never fails: it ends the program instead
	token := tokenPrefix + base64.RawURLEncoding.EncodeToString(secret)
	if err := t.append(Token{Name: name, Agent: agent, Scopes: scopes, Hash: hashOf(token), Created: now.UTC(), Expires: expires}); err != nil {
		return "", err
	}
	if _, mine, err := t.Verify(token, now); err != nil || mine != name {
		return "", fmt.Errorf("%w: another program wrote token %s to %s at the same time", ErrTokens, name, t.path)
	}
	return token, nil
}

func checkScopes(scopes []Scope) error {
	if len(scopes) == 0 {
		return fmt.Errorf("%w: there is none", ErrScope)
	}
	for _, s := range scopes {
		if s != Read && s != Write {
			return fmt.Errorf("%w: %q", ErrScope, s)
		}
	}
	return nil
}

// Revoke ends a token at once. Errors wrap [ErrTokens], or are the file's.
func (t *Tokens) Revoke(name string, now time.Time) error {
	known, err := t.List()
	if err != nil {
		return err
	}
	i := slices.IndexFunc(known, func(o Token) bool { return o.Name == name })
	switch {
	case i < 0:
		return fmt.Errorf("%w: %s has no token %.80q", ErrTokens, t.path, name)
	case !known[i].Revoked.IsZero():
		return fmt.Errorf("%w: token %s was revoked at %s", ErrTokens, name, known[i].Revoked.Format(time.RFC3339))
	}
	known[i].Revoked = now.UTC()
	return t.append(known[i])
}

// List is every token that was ever made, oldest first, revoked ones included. Without a file there is none. Errors wrap
// [ErrTokens], or are the file's.
func (t *Tokens) List() ([]Token, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if err := t.load(); err != nil {
		return nil, err
	}
	return slices.Clone(t.all), nil
}

// Verify is what a token grants at an instant, and its name. Every hash is compared, each in constant time. Errors wrap
// [ErrToken]; when the file cannot be trusted, [ErrTokens], and no token is valid.
func (t *Tokens) Verify(token string, now time.Time) (Grant, string, error) {
	all, err := t.List()
	if err != nil {
		return Grant{}, "", err
	}
	hash := []byte(hashOf(token))
	found := -1
	for i, o := range all {
		if subtle.ConstantTimeCompare([]byte(o.Hash), hash) == 1 {
			found = i
		}
	}
	if found < 0 || !all[found].valid(now) {
		return Grant{}, "", ErrToken
	}
	return Grant{Agent: all[found].Agent, Scopes: all[found].Scopes}, all[found].Name, nil
}

func (o Token) valid(now time.Time) bool {
	return o.Revoked.IsZero() && (o.Expires.IsZero() || now.Before(o.Expires))
}

func hashOf(token string) string {
	sum := sha256.Sum256([]byte(token))
	return hex.EncodeToString(sum[:])
}

// append writes one line at the end, in one write, and syncs it.
func (t *Tokens) append(o Token) error {
	line, err := json.Marshal(o)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrTokens, err)
	}
	f, err := os.OpenFile(t.path, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrTokens, err)
	}
	_, err = f.Write(append(line, '\n'))
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return fmt.Errorf("%w: %w", ErrTokens, err)
	}
	return nil
}

// load reads the file again when it is another than before.
func (t *Tokens) load() error {
	info, err := os.Stat(t.path)
	if errors.Is(err, fs.ErrNotExist) {
		t.seen, t.all = nil, nil
		return nil
	}
	if err != nil {
		return fmt.Errorf("%w: %w", ErrTokens, err)
	}
	if t.seen != nil && os.SameFile(t.seen, info) && t.seen.Size() == info.Size() && t.seen.ModTime().Equal(info.ModTime()) && t.seen.Mode() == info.Mode() {
		return nil
	}
	t.seen, t.all = nil, nil
	all, err := readTokens(t.path)
	if err != nil {
		return err
	}
	t.seen, t.all = info, all
	return nil
}

func readTokens(path string) ([]Token, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrTokens, err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrTokens, err)
	}
	switch {
	case info.Mode().Perm()&0o077 != 0:
		return nil, fmt.Errorf("%w: %s has mode %04o: others may read it; chmod 600 it", ErrTokens, path, info.Mode().Perm())
	case info.Size() > MaxTokensFile:
		return nil, fmt.Errorf("%w: %s has %d bytes, at most %d", ErrTokens, path, info.Size(), MaxTokensFile)
	}
	all, err := parseTokens(f)
	if err != nil {
		return nil, fmt.Errorf("%w: %s: %w", ErrTokens, path, err)
	}
	return all, nil
}

func parseTokens(r io.Reader) ([]Token, error) {
	var all []Token
	lines := bufio.NewScanner(io.LimitReader(r, MaxTokensFile))
	lines.Buffer(nil, MaxTokensFile)
	for n := 1; lines.Scan(); n++ {
		if len(bytes.TrimSpace(lines.Bytes())) == 0 {
			continue
		}
		o, err := guard.DecodeStored[Token](lines.Bytes())
		if err == nil {
			err = errors.Join(workingstate.CheckAgent(o.Agent), checkScopes(o.Scopes))
		}
		if err == nil && len(o.Hash) != hex.EncodedLen(sha256.Size) {
			err = errors.New("it has no hash")
		}
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", n, err)
		}
		i := slices.IndexFunc(all, func(p Token) bool { return p.Name == o.Name })
		switch {
		case i < 0:
			all = append(all, o)
		case !o.Revoked.IsZero() && all[i].Hash == o.Hash:
			all[i] = o
			// A second token of a name counts for nothing: two programs added it at once, and the first line wins.
		}
	}
	return all, lines.Err()
}
