package personal

import (
	"bytes"
	"context"
	"crypto/aes"
	"crypto/cipher"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/pawlgo/pawl/store"
)

// Erased is the text that stands for one whose key was destroyed.
const Erased = "[erased]"

// erased is Erased as JSON spells it.
const erased = `"` + Erased + `"`

// mark begins every encrypted text; what follows is base64 of nonce and ciphertext.
const mark = `"personal1:`

// nonceSize is that of AES-GCM.
const nonceSize = 12

// veil hides and shows the personal texts of one task under the key of one owner, which it fetches when it first needs it.
type veil struct {
	ctx         context.Context
	keys        Keys
	fields      map[string]bool
	task, owner string

	seal  cipher.AEAD
	nonce []byte // key of the nonces
	gone  bool   // the key was destroyed
}

func (s *Store) veil(ctx context.Context, task, owner string) *veil {
	return &veil{ctx: ctx, keys: s.keys, fields: s.fields, task: task, owner: owner}
}

// unlock fetches the key.
func (v *veil) unlock(create bool) error {
	if v.seal != nil || v.gone {
		return nil
	}
	key, err := v.keys.Key(v.ctx, v.owner, create)
	switch {
	case errors.Is(err, store.ErrErased):
		v.gone = true
		return nil
	case err != nil:
		return fmt.Errorf("task %s: key of %s: %w", v.task, v.owner, err)
	case len(key) != KeySize:
		return fmt.Errorf("task %s: key of %s has %d bytes, not %d: %w", v.task, v.owner, len(key), KeySize, store.ErrInvalid)
	}
	block, err := aes.NewCipher(derived(key, "encrypt"))
	if err != nil {
		return err
	}
	v.nonce = derived(key, "nonce")
	v.seal, err = cipher.NewGCM(block)
	return err
}

// derived is a key for one purpose.
func derived(key []byte, purpose string) []byte {
	mac := hmac.New(sha256.New, key)
	io.WriteString(mac, "pawl personal "+purpose)
	return mac.Sum(nil)
}

// hide encrypts the personal texts of a JSON document. The nonce is made of task and text, so it never repeats for another text.
func (v *veil) hide(what string, doc []byte) ([]byte, error) {
	return v.replace(what, doc, func(text string) (string, error) {
		if text == erased {
			return text, nil
		}
		if v.owner == "" {
			return "", fmt.Errorf("task %s: %s has personal data and the task no owner: %w", v.task, what, store.ErrInvalid)
		}
		if err := v.unlock(true); err != nil {
			return "", err
		}
		if v.gone {
			return "", fmt.Errorf("task %s: the data of %s: %w", v.task, v.owner, store.ErrErased)
		}
		mac := hmac.New(sha256.New, v.nonce)
		io.WriteString(mac, v.task+"\x00"+text)
		nonce := mac.Sum(nil)[:nonceSize:nonceSize]
		sealed := v.seal.Seal(nonce, nonce, []byte(text), []byte(v.task))
		return mark + base64.RawURLEncoding.EncodeToString(sealed) + `"`, nil
	})
}

// show decrypts the personal texts of a JSON document.
func (v *veil) show(what string, doc []byte) ([]byte, error) {
	return v.replace(what, doc, func(text string) (string, error) {
		coded, ours := strings.CutPrefix(text, mark)
		if !ours {
			return text, nil // written before the member was declared personal
		}
		if err := v.unlock(false); err != nil {
			return "", err
		}
		if v.gone {
			return erased, nil
		}
		sealed, err := base64.RawURLEncoding.DecodeString(strings.TrimSuffix(coded, `"`))
		if err != nil || len(sealed) < nonceSize {
			return "", v.corrupt(what)
		}
		plain, err := v.seal.Open(nil, sealed[:nonceSize], sealed[nonceSize:], []byte(v.task))
		if err != nil {
			return "", v.corrupt(what)
		}
		return string(plain), nil
	})
}

func (v *veil) corrupt(what string) error {
	return &store.CorruptError{Task: v.task, What: "personal data of the " + what + " cannot be decrypted with the key of " + v.owner}
}

// replace changes every text at or below a personal member, as it is spelled with its quotes, and leaves every other byte as it is.
func (v *veil) replace(what string, doc []byte, change func(string) (string, error)) ([]byte, error) {
	if len(doc) == 0 {
		return doc, nil
	}
	w := walk{v: v, what: what, doc: doc, dec: json.NewDecoder(bytes.NewReader(doc)), change: change}
	w.dec.UseNumber()
	if err := w.value(false); err != nil {
		return nil, err
	}
	if _, err := w.dec.Token(); err != io.EOF {
		return nil, w.invalid("is followed by something")
	}
	return append(w.out, doc[w.copied:]...), nil
}

// walk is one pass over a document.
type walk struct {
	v      *veil
	what   string
	doc    []byte
	dec    *json.Decoder
	change func(string) (string, error)
	out    []byte
	copied int // of doc, what out stands for
}

func (w *walk) invalid(what string) error {
	return fmt.Errorf("task %s: %s %s: %w", w.v.task, w.what, what, store.ErrInvalid)
}

// value walks over one value, which is personal or not.
func (w *walk) value(personal bool) error {
	begin := int(w.dec.InputOffset())
	token, err := w.dec.Token()
	if err != nil {
		return w.invalid("is no JSON")
	}
	switch t := token.(type) {
	case json.Delim:
		return w.inside(t, personal)
	case string:
		if personal {
			return w.text(begin)
		}
	case nil:
	default:
		if personal {
			return w.invalid(fmt.Sprintf("has personal data that is no text but %v", token))
		}
	}
	return nil
}

// inside walks over what an array or object holds.
func (w *walk) inside(open json.Delim, personal bool) error {
	for w.dec.More() {
		below := personal
		if open == '{' {
			name, err := w.dec.Token()
			if err != nil {
				return w.invalid("is no JSON")
			}
			below = personal || w.v.fields[name.(string)]
		}
		if err := w.value(below); err != nil {
			return err
		}
	}
	if _, err := w.dec.Token(); err != nil {
		return w.invalid("is no JSON")
	}
	return nil
}

// text changes the text that lies between begin, where the token before it ended, and here.
func (w *walk) text(begin int) error {
	end := int(w.dec.InputOffset())
	begin += bytes.IndexByte(w.doc[begin:end], '"')
	now, err := w.change(string(w.doc[begin:end]))
	if err != nil {
		return err
	}
	w.out = append(append(w.out, w.doc[w.copied:begin]...), now...)
	w.copied = end
	return nil
}
