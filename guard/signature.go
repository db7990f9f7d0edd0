package guard

import (
	"crypto/ed25519"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// SignatureTolerance is how far a signature's timestamp may lie from now, before or after.
const SignatureTolerance = 5 * time.Minute

// MaxSignedBytes is the largest body that a signature is checked for.
const MaxSignedBytes = 64 << 10

// MaxSignatureHeader is the longest header that is looked at, in bytes.
const MaxSignatureHeader = 1 << 10

// ErrSignature is wrapped by errors of a signature that does not hold: no key signed these bytes.
var ErrSignature = errors.New("signature does not hold")

// ErrTimestamp is wrapped by errors of a signature that holds, and is older or further ahead than [SignatureTolerance].
var ErrTimestamp = errors.New("signature is too old or from the future")

// Signature checks signed bytes: webhooks that a source pushes. The header reads "t=SECONDS,v1=HEX", may carry
// several v1 parts, and signs "SECONDS.BODY" with the body's raw bytes; other parts, such as the id of a key, are not looked at. The
// zero Signature accepts nothing. Safe for concurrent use.
type Signature struct {
	holds func(message, signature []byte, now time.Time) bool
}

// Until is the signature of a key that is being rotated out: from that instant on, by the clock that [Signature.Check] is given and not by
// the time that was signed, it accepts nothing.
func (s Signature) Until(end time.Time) Signature {
	return Signature{func(message, signature []byte, now time.Time) bool {
		return s.holds != nil && now.Before(end) && s.holds(message, signature, now)
	}}
}

// Or accepts what either of two signatures accepts: the new key, and the old one for a while.
func (s Signature) Or(other Signature) Signature {
	return Signature{func(message, signature []byte, now time.Time) bool {
		return s.holds != nil && s.holds(message, signature, now) || other.holds != nil && other.holds(message, signature, now)
	}}
}

// HMACSHA256 checks message authentication codes against any of the secrets: two while one is being rotated (see [Signature.Until]).
// An empty secret accepts nothing.
func HMACSHA256(secrets ...[]byte) Signature {
	return Signature{func(message, signature []byte, _ time.Time) bool {
		for _, s := range secrets {
			mac := hmac.New(sha256.New, s)
			mac.Write(message)
			if len(s) > 0 && hmac.Equal(mac.Sum(nil), signature) {
				return true
			}
		}
		return false
	}}
}

// Ed25519 checks signatures against any of the public keys: two while one is being rotated.
func Ed25519(keys ...ed25519.PublicKey) Signature {
	return Signature{func(message, signature []byte, _ time.Time) bool {
		for _, k := range keys {
			if len(k) == ed25519.PublicKeySize && ed25519.Verify(k, message, signature) {
				return true
			}
		}
		return false
	}}
}

// Check accepts the raw body when the header signs it and is not older, nor further ahead, than
// [SignatureTolerance]. Errors wrap [ErrSignature] or [ErrTimestamp].
func (s Signature) Check(body []byte, header string, now time.Time) error {
	if len(body) > MaxSignedBytes {
		return fmt.Errorf("body of %d bytes, at most %d: %w", len(body), MaxSignedBytes, ErrSignature)
	}
	at, signatures, err := parseSignature(header)
	if err != nil {
		return err
	}
	message := append([]byte(strconv.FormatInt(at, 10)+"."), body...)
	if s.holds == nil || !slices.ContainsFunc(signatures, func(sig []byte) bool { return s.holds(message, sig, now) }) {
		return fmt.Errorf("none of %d signatures: %w", len(signatures), ErrSignature)
	}
	if off := now.Sub(time.Unix(at, 0)).Abs(); off > SignatureTolerance {
		return fmt.Errorf("%s away from now, at most %s: %w", off.Round(time.Second), SignatureTolerance, ErrTimestamp)
	}
	return nil
}

func parseSignature(header string) (at int64, signatures [][]byte, err error) {
	if len(header) > MaxSignatureHeader {
		return 0, nil, fmt.Errorf("header of %d bytes, at most %d: %w", len(header), MaxSignatureHeader, ErrSignature)
	}
	at = -1
	for part := range strings.SplitSeq(header, ",") {
		name, value, _ := strings.Cut(strings.TrimSpace(part), "=")
		switch name {
		case "t":
			n, err := strconv.ParseInt(value, 10, 64)
			if err != nil || n < 0 || at >= 0 {
				return 0, nil, fmt.Errorf("header without one timestamp: %w", ErrSignature)
			}
			at = n
		case "v1":
			if raw, err := hex.DecodeString(value); err == nil {
				signatures = append(signatures, raw)
			}
		}
	}
	if at < 0 || len(signatures) == 0 {
		return 0, nil, fmt.Errorf("header needs t and v1: %w", ErrSignature)
	}
	return at, signatures, nil
}

// Sealed is an observation as a source may sign and push it: everything that the signature must cover.
type Sealed struct {
	ID      string          `json:"id" validate:"required,max=128"`
	Fact    string          `json:"fact" validate:"required,max=64"`
	Subject string          `json:"subject" validate:"required,max=256"`
	At      time.Time       `json:"at" validate:"required"`
	Seq     uint64          `json:"seq,omitempty"`
	Value   json.RawMessage `json:"value"`
}

// Open checks the signature of a [Sealed] body and makes the observation, with the handle of the authority that
// holds the key. Errors wrap [ErrSignature], [ErrTimestamp], [ErrForm] or [ErrEvidence].
func (s Signature) Open(body []byte, header string, by *Authority, f AnyFact, now time.Time) (Observation, error) {
	if err := s.Check(body, header, now); err != nil {
		return Observation{}, err
	}
	sealed, err := Decode[Sealed](body)
	if err != nil {
		return Observation{}, err
	}
	k := Key{sealed.Fact, sealed.Subject}
	switch info := f.Info(); {
	case by == nil:
		return Observation{}, &EvidenceError{k, "untrusted_authority", "it was opened without a handle"}
	case info == nil || sealed.Fact != info.Name:
		return Observation{}, &EvidenceError{k, "unknown_fact", "it is not about the expected fact"}
	}
	o, err := f.Info().Observe(by, sealed.Value, sealed.Subject, by.Name()+"/"+sealed.ID, sealed.At)
	if err != nil {
		return Observation{}, err
	}
	o.entry.Seq = sealed.Seq
	return o.Identified(sealed.ID), nil
}
