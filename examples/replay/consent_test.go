package replay

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func said(text string, ids ...string) Event { return Event{Type: Assistant, Text: text, IDs: ids} }

func heard(class string) Event { return Event{Type: Customer, Consent: class} }

func TestAWriteIsBoundToTheLastAnsweredMessageThatNamesIt(t *testing.T) {
	write := Event{Type: ToolCall}
	events := []Event{
		heard("none"),                     // 0
		said("Cancel it?", "#W1"),         // 1
		heard("strict"),                   // 2
		write,                             // 3: bound to 1 and 2
		said("Done. The other?", "#W2"),   // 4
		write,                             // 5: nobody has answered 4
		heard("weak"),                     // 6
		write,                             // 7: bound to 4 and 6
		said("Anything else?"),            // 8
		heard("strict"),                   // 9
		write,                             // 10: 8 names nothing, 4 still counts
		said("Shall I send #W3 instead?"), // 11: named in the text alone
		heard("strict"),                   // 12
		write,                             // 13
	}
	for _, c := range []struct {
		write    int
		subjects []string
		want     binding
	}{
		{3, []string{"#W1"}, binding{1, 2}},
		{5, []string{"#W2"}, binding{-1, -1}},
		{7, []string{"#W2"}, binding{4, 6}},
		{10, []string{"#W2"}, binding{4, 6}},
		{10, []string{"#W1"}, binding{1, 2}},
		{10, []string{"#W1", "#W2"}, binding{-1, -1}},
		{10, nil, binding{-1, -1}},
		{13, []string{"#W3"}, binding{11, 12}},
	} {
		require.Equal(t, c.want, bindingOf(events, c.write, c.subjects), "%v", c)
	}
}

func TestOnlyAClearYesAgrees(t *testing.T) {
	events := []Event{said("?", "#W1"), heard("strict"), heard("weak"), heard("mixed"), heard("none")}
	require.Equal(t, bound, consentOf(events, binding{0, 4}, true))
	require.Equal(t, askAgain, consentOf(events, binding{0, 1}, false))
	for _, reply := range []int{2, 3, 4} {
		require.Equal(t, noYes, consentOf(events, binding{0, reply}, false))
	}
	require.Equal(t, unlisted, consentOf(events, binding{-1, -1}, false))
	require.False(t, bound.unbound() || askAgain.unbound())
	require.True(t, noYes.unbound() && unlisted.unbound())
}
