package visible_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlgo/pawl/internal/visible"
)

// B042: a character that hides, breaks a line or reorders others is written out; letters, marks and emoji stay.
func TestText(t *testing.T) {
	for text, want := range map[string]string{
		"":                  "",
		"43.00 EUR, 退款 é 👍": "43.00 EUR, 退款 é 👍",
		"a\nb\r\tc":         `a\nb\r\tc`,
		"to\u202eecila":     `to\u202eecila`,
		"zero\u200bwidth":   `zero\u200bwidth`,
		"a\u00a0b":          `a\u00a0b`,
		"\x00":              `\x00`,
	} {
		require.Equal(t, want, visible.Text(text), "%q", text)
	}
}
