package canon

import (
	"fmt"
	"strings"
)

// Codes of SyntaxError. They are stable: programs and stored attempts may compare them.
const (
	CodeTooLarge       = "too_large"        // more bytes than Limits.Size
	CodeNotUTF8        = "not_utf8"         // a byte that is not part of UTF-8
	CodeSyntax         = "syntax"           // not JSON, or half of a surrogate pair
	CodeTrailing       = "trailing"         // bytes after the value
	CodeTooDeep        = "too_deep"         // nested deeper than Limits.Depth
	CodeDuplicateKey   = "duplicate_key"    // a key given twice in one object
	CodeCaseVariantKey = "case_variant_key" // a key that differs only by case from another or from a declared name
	CodeUnknownField   = "unknown_field"    // a key that the type does not declare
	CodeMissingField   = "missing_field"    // a required field is absent
	CodeNull           = "null"             // null where a value is required
	CodeWrongType      = "wrong_type"       // JSON of another type, or text that the field's own type refuses
	CodeLossyNumber    = "lossy_number"     // a number that the field cannot hold exactly
	CodeUnsupported    = "unsupported_type" // the Go type cannot be decoded: a fault of the program
)

// SyntaxError is the first fault of a document, in document order; that a field is missing shows at
// the end of its object.
type SyntaxError struct {
	Code   string // one of the Code constants
	Path   string // JSON pointer to the value, "" for the root; long keys are cut
	Offset int    // byte at which it was noticed
	Text   string // what is wrong, for people
}

// Error names code, path, offset and what is wrong.
func (e *SyntaxError) Error() string {
	return fmt.Sprintf("%s at %q (byte %d): %s", e.Code, e.Path, e.Offset, e.Text)
}

// longestKey bounds what a message quotes from a document, in bytes.
const longestKey = 64

func quoted(key string) string { return fmt.Sprintf("%q", cut(key)) }

func cut(key string) string {
	if len(key) <= longestKey {
		return key
	}
	return strings.ToValidUTF8(key[:longestKey], "") + "..."
}

var pointerEscapes = strings.NewReplacer("~", "~0", "/", "~1")

// at puts a path segment before the path of err; callers add theirs on the way out.
func at(err error, segment string) error {
	if e, ok := err.(*SyntaxError); ok {
		e.Path = "/" + pointerEscapes.Replace(cut(segment)) + e.Path
	}
	return err
}

// encodeError is a value without canonical form.
type encodeError struct {
	path string
	err  error
}

func (e *encodeError) Error() string { return fmt.Sprintf("canon: encode %q: %s", e.path, e.err) }
func (e *encodeError) Unwrap() error { return e.err }

// within is at for errors of encoding.
func within(err error, segment string) error {
	segment = "/" + pointerEscapes.Replace(cut(segment))
	if e, ok := err.(*encodeError); ok {
		return &encodeError{segment + e.path, e.err}
	}
	return &encodeError{segment, err}
}
