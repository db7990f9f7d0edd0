package guard_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlgo/pawl/guard"
)

func TestFactFaults(t *testing.T) {
	lasting := guard.Lasting()
	for _, row := range []struct {
		fact guard.Fact[bool]
		want []string
	}{
		{guard.NewFact[bool]("ok", guard.From("x"), lasting), nil},
		{guard.NewFact[bool]("ok", guard.From("x"), guard.Volatile()), nil},
		{guard.NewFact[bool]("ok", guard.From("x"), guard.MaxAge(1)), nil},
		{guard.NewFact[bool]("ok", guard.From(strings.Repeat("x", guard.MaxName)), lasting), nil},
		{guard.NewFact[bool]("Bad", guard.From("x"), lasting), []string{"must be a lower-case letter"}},
		{guard.NewFact[bool]("ok", guard.Source{}, lasting), []string{"has no authority"}},
		{guard.NewFact[bool]("ok", guard.From("x")), []string{"never goes stale"}},
		{guard.NewFact[bool]("ok", guard.From("x"), lasting, guard.Volatile()), []string{"more than one of"}},
		{guard.NewFact[bool]("ok", guard.From("x"), lasting, guard.MaxAge(time.Hour)), []string{"more than one of"}},
		{guard.NewFact[bool]("ok", guard.From("x"), guard.MaxAge(-1)), []string{"negative MaxAge"}},
		{guard.NewFact[bool]("ok", guard.From("x"), lasting, guard.Ordered("luck")), []string{"unknown order"}},
		{guard.NewFact[bool]("ok", guard.From(strings.Repeat("x", guard.MaxName+1)), lasting), []string{"65 bytes"}},
		{guard.NewFact[bool]("", guard.Source{}), []string{"must be a lower-case letter", "has no authority", "never goes stale"}},
	} {
		got := row.fact.Info().Faults()
		require.Len(t, got, len(row.want), "%v", got)
		for i, w := range row.want {
			require.Contains(t, got[i], w)
		}
	}
}

func TestCheckName(t *testing.T) {
	for _, good := range []string{"a", "a1", "refund_2", strings.Repeat("a", guard.MaxName)} {
		require.NoError(t, guard.CheckName(good))
	}
	for _, bad := range []string{"", "1a", "_a", "A", "a-b", "a.b", "a b", "é", "a\n", "a\x00", strings.Repeat("a", guard.MaxName+1)} {
		require.Error(t, guard.CheckName(bad), "%q", bad)
	}
}

// TestSame compares values as they would be stored.
func TestSame(t *testing.T) {
	require.True(t, owner.Info().Same("a", "a"))
	require.False(t, owner.Info().Same("a", "b"))
	require.False(t, owner.Info().Same("a", nil))
	require.False(t, paid.Info().Same(true, false))
	require.False(t, stock.Info().Same(int64(1), int64(2)))
	require.True(t, parcels.Info().Same(parcel{}, parcel{Items: map[string]string{}, Tags: []string{}}))
	require.False(t, parcels.Info().Same(parcel{Tags: []string{"a", "b"}}, parcel{Tags: []string{"b", "a"}}))
}

func TestDecodeValue(t *testing.T) {
	v, err := stock.Info().Decode([]byte(`3`))
	require.NoError(t, err)
	require.Equal(t, int64(3), v)
	_, err = stock.Info().Decode([]byte(`3.5`))
	require.ErrorIs(t, err, guard.ErrForm)
	v, err = parcels.Info().DecodeStored([]byte(`{"id":"","items":{},"tags":[],"share":0}`))
	require.NoError(t, err, "what was stored loads, whatever the tags say today")
	require.Equal(t, parcel{Items: map[string]string{}, Tags: []string{}}, v)
}

// TestReply: a structured choice counts as it is, free text only when it is explicit, anything else not at all.
func TestReply(t *testing.T) {
	for _, row := range []struct {
		reply guard.Reply
		want  guard.Consent
	}{
		{guard.Reply{Choice: guard.ChoiceYes}, guard.Yes},
		{guard.Reply{Choice: guard.ChoiceNo, Text: "yes"}, guard.No},
		{guard.Reply{Text: "yes"}, guard.Yes},
		{guard.Reply{Text: "no"}, guard.No},
		{guard.Reply{Text: "do NOT send it"}, guard.Explicit("do NOT send it")},
		{guard.Reply{}, guard.Unclear},
		{guard.Reply{Choice: "maybe", Text: "yes"}, guard.Unclear},
	} {
		require.Equal(t, row.want, row.reply.Consent(), "%+v", row.reply)
	}
	require.NotEqual(t, guard.Yes, guard.Explicit("do NOT send it"))
	info := guard.NewReply("answer", guard.From("chat")).Info()
	require.Equal(t, guard.OfferKind, info.About)
	require.Empty(t, info.Faults())
	full := `{"by":"a","text":"` + strings.Repeat("x", guard.MaxReplyText) + `"}`
	_, err := info.Decode([]byte(full))
	require.NoError(t, err)
	_, err = info.Decode([]byte(strings.Replace(full, "xx", "xxx", 1)))
	require.ErrorIs(t, err, guard.ErrForm)
}
