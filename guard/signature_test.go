package guard_test

import (
	"crypto/ed25519"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlgo/pawl/guard"
)

func mac(secret, message string) string {
	m := hmac.New(sha256.New, []byte(secret))
	m.Write([]byte(message))
	return hex.EncodeToString(m.Sum(nil))
}

// signed is the header of a body, signed with a secret at an instant.
func signed(secret, body string, at time.Time) string {
	return fmt.Sprintf("t=%d,v1=%s", at.Unix(), mac(secret, fmt.Sprintf("%d.%s", at.Unix(), body)))
}

// TestHMAC has one row for each header that must hold or must not.
func TestHMAC(t *testing.T) {
	const body = `{"id":"e1"}`
	old, now := signed("old", body, noon), signed("new", body, noon)
	_, oldMAC, _ := strings.Cut(old, ",")
	_, newMAC, _ := strings.Cut(now, ",")
	stamp := fmt.Sprintf("t=%d", noon.Unix())
	tolerance := int(guard.SignatureTolerance / time.Second)
	for _, row := range []struct {
		name, header, body string
		off                time.Duration
		want               error
	}{
		{"the new secret", now, body, 0, nil},
		{"the old secret", old, body, 0, nil},
		{"one of two", stamp + "," + strings.Repeat("v1=00,", 2) + newMAC, body, 0, nil},
		{"spaces and unknown parts", " " + newMAC + ", v0=abc , " + stamp, body, 0, nil},
		{"late, just within", now, body, guard.SignatureTolerance, nil},
		{"late, just past", now, body, guard.SignatureTolerance + 1, guard.ErrTimestamp},
		{"early, just within", now, body, -guard.SignatureTolerance, nil},
		{"early, just past", now, body, -guard.SignatureTolerance - 1, guard.ErrTimestamp},
		{"a later stamp on an old signature", fmt.Sprintf("t=%d,%s", noon.Unix()+int64(tolerance), newMAC), body, 0, guard.ErrSignature},
		{"another body", now, `{"id":"e2"}`, 0, guard.ErrSignature},
		{"one space more", now, body + " ", 0, guard.ErrSignature},
		{"another secret", signed("else", body, noon), body, 0, guard.ErrSignature},
		{"an empty secret", signed("", body, noon), body, 0, guard.ErrSignature},
		{"no stamp", newMAC, body, 0, guard.ErrSignature},
		{"two stamps", stamp + "," + now, body, 0, guard.ErrSignature},
		{"a stamp before 1970", strings.Replace(now, "t=", "t=-", 1), body, 0, guard.ErrSignature},
		{"a stamp that is no number", strings.Replace(now, "t=", "t=x", 1), body, 0, guard.ErrSignature},
		{"no signature", stamp, body, 0, guard.ErrSignature},
		{"a signature that is no hex", stamp + ",v1=zz", body, 0, guard.ErrSignature},
		{"an empty signature", stamp + ",v1=", body, 0, guard.ErrSignature},
		{"half a signature", stamp + "," + newMAC[:len(newMAC)-2], body, 0, guard.ErrSignature},
		{"nothing", "", body, 0, guard.ErrSignature},
		{"junk", "\x00=\xff,,,===", body, 0, guard.ErrSignature},
		{"both secrets", stamp + "," + oldMAC + "," + newMAC, body, 0, nil},
	} {
		err := guard.HMACSHA256([]byte("old"), []byte("new"), nil).Check([]byte(row.body), row.header, noon.Add(row.off))
		if row.want == nil {
			require.NoError(t, err, row.name)
			continue
		}
		require.ErrorIs(t, err, row.want, row.name)
	}
}

// TestSignatureLimits: a header and a body at their limit are looked at, one byte more is not.
func TestSignatureLimits(t *testing.T) {
	check := func(body, header string) error {
		return guard.HMACSHA256([]byte("s")).Check([]byte(body), header, noon)
	}
	body := strings.Repeat("x", guard.MaxSignedBytes)
	require.NoError(t, check(body, signed("s", body, noon)))
	require.ErrorIs(t, check(body+"x", signed("s", body+"x", noon)), guard.ErrSignature)
	header := signed("s", "b", noon) + ","
	header += strings.Repeat("x", guard.MaxSignatureHeader-len(header))
	require.NoError(t, check("b", header))
	require.ErrorIs(t, check("b", header+"x"), guard.ErrSignature)
}

func TestEd25519(t *testing.T) {
	key := ed25519.NewKeyFromSeed([]byte(strings.Repeat("k", ed25519.SeedSize)))
	next := ed25519.NewKeyFromSeed([]byte(strings.Repeat("n", ed25519.SeedSize)))
	public := func(k ed25519.PrivateKey) ed25519.PublicKey { return k.Public().(ed25519.PublicKey) }
	head := func(k ed25519.PrivateKey, body string) string {
		return fmt.Sprintf("t=%d,v1=%x", noon.Unix(), ed25519.Sign(k, fmt.Appendf(nil, "%d.%s", noon.Unix(), body)))
	}
	both := guard.Ed25519(public(key), public(next))
	require.NoError(t, both.Check([]byte("b"), head(key, "b"), noon))
	require.NoError(t, both.Check([]byte("b"), head(next, "b"), noon))
	require.ErrorIs(t, both.Check([]byte("c"), head(key, "b"), noon), guard.ErrSignature)
	require.ErrorIs(t, guard.Ed25519(public(next)).Check([]byte("b"), head(key, "b"), noon), guard.ErrSignature)
	require.ErrorIs(t, guard.Ed25519(nil, public(key)[:5]).Check([]byte("b"), head(key, "b"), noon), guard.ErrSignature, "a key that is none")
}

// TestZeroSignature accepts nothing, and does not panic.
func TestZeroSignature(t *testing.T) {
	var zero guard.Signature
	for _, s := range []guard.Signature{zero, guard.HMACSHA256(), guard.Ed25519()} {
		require.ErrorIs(t, s.Check([]byte("b"), signed("", "b", noon), noon), guard.ErrSignature)
	}
}

// TestOpen: a sealed observation is one of the handle's, and every part of it is under the signature.
func TestOpen(t *testing.T) {
	const body = `{"id":"e1","fact":"level","subject":"t","at":"2026-03-29T12:00:00Z","seq":4,"value":"gold"}`
	sig := guard.HMACSHA256([]byte("s"))
	o, err := sig.Open([]byte(body), signed("s", body, noon), shop, level, noon)
	require.NoError(t, err)
	require.Equal(t, "e1", o.ID())
	e := accept(t, o, noon).Entry()
	require.Equal(t, guard.Entry{Key: guard.Key{Fact: "level", Subject: "t"}, Value: "gold", Source: "shop", Ref: "shop/e1", At: noon, Seen: noon, Seq: 4, BasedOn: 7}, e)

	for _, row := range []struct {
		name, body string
		by         *guard.Authority
		fact       guard.AnyFact
		want       error
	}{
		{"another fact", body, shop, owner, guard.ErrEvidence},
		{"the zero fact", body, shop, guard.Fact[string]{}, guard.ErrEvidence},
		{"no handle", body, nil, level, guard.ErrEvidence},
		{"a value of another type", strings.Replace(body, `"gold"`, `7`, 1), shop, level, guard.ErrForm},
		{"no id", strings.Replace(body, `"e1"`, `""`, 1), shop, level, guard.ErrForm},
		{"no time", strings.Replace(body, `"at":"2026-03-29T12:00:00Z",`, ``, 1), shop, level, guard.ErrForm},
		{"a key twice", strings.Replace(body, `"seq":4`, `"seq":4,"id":"e2"`, 1), shop, level, guard.ErrForm},
	} {
		o, err := sig.Open([]byte(row.body), signed("s", row.body, noon), row.by, row.fact, noon)
		require.ErrorIs(t, err, row.want, row.name)
		require.Zero(t, o, row.name)
	}
	_, err = sig.Open([]byte(body), signed("x", body, noon), shop, level, noon)
	require.ErrorIs(t, err, guard.ErrSignature)
	_, err = sig.Open([]byte(body), signed("s", body, noon), shop, level, noon.Add(time.Hour))
	require.ErrorIs(t, err, guard.ErrTimestamp)
}

// TestRotation: the old key counts until its overlap ends, on our clock; both sides of the instant, and whatever was signed.
func TestRotation(t *testing.T) {
	end := noon.Add(time.Hour)
	old, next := guard.HMACSHA256([]byte("old")), guard.HMACSHA256([]byte("new"))
	rotated := next.Or(old.Until(end))
	for _, row := range []struct {
		name   string
		sig    guard.Signature
		secret string
		stamp  time.Time
		now    time.Time
		want   error
	}{
		{"the new key in the overlap", rotated, "new", noon, noon, nil},
		{"the old key in the overlap", rotated, "old", noon, noon, nil},
		{"the old key at the last moment", rotated, "old", end, end.Add(-1), nil},
		{"the old key when it ends", rotated, "old", end, end, guard.ErrSignature},
		{"the old key, dated back", rotated, "old", end.Add(-time.Minute), end, guard.ErrSignature},
		{"the new key after the overlap", rotated, "new", end, end, nil},
		{"a key that nobody knows", rotated, "else", noon, noon, guard.ErrSignature},
		{"the other way round", old.Until(end).Or(next), "new", end, end, nil},
		{"three of them", rotated.Or(guard.HMACSHA256([]byte("else"))), "else", end, end, nil},
		{"or nothing", next.Or(guard.Signature{}), "new", noon, noon, nil},
		{"nothing or", guard.Signature{}.Or(next), "new", noon, noon, nil},
		{"nothing at all", guard.Signature{}.Or(guard.Signature{}), "new", noon, noon, guard.ErrSignature},
		{"nothing for a while", guard.Signature{}.Until(end), "new", noon, noon, guard.ErrSignature},
	} {
		err := row.sig.Check([]byte("b"), signed(row.secret, "b", row.stamp), row.now)
		if row.want == nil {
			require.NoError(t, err, row.name)
			continue
		}
		require.ErrorIs(t, err, row.want, row.name)
	}
}
