package guard

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Words answer a question only when the channel vouches that it was shown after it was put, and before they were said; a choice stands
// under its question.
func TestReplyAnswers(t *testing.T) {
	put := time.Date(2026, 1, 5, 9, 0, 0, 0, time.UTC)
	said := put.Add(time.Minute)
	shown := func(at time.Time) *Shown { return &Shown{Message: "m1", At: at} }
	for name, row := range map[string]struct {
		reply Reply
		want  bool
	}{
		"shown in between":            {Reply{Text: "yes", Shown: shown(put.Add(time.Second))}, true},
		"shown as soon as it was put": {Reply{Text: "yes", Shown: shown(put)}, true},
		"shown before it was put":     {Reply{Text: "yes", Shown: shown(put.Add(-time.Microsecond))}, false},
		"shown as it was said":        {Reply{Text: "yes", Shown: shown(said)}, false},
		"shown after it was said":     {Reply{Text: "yes", Shown: shown(said.Add(time.Second))}, false},
		"not vouched for":             {Reply{Text: "yes"}, false},
		"in no message":               {Reply{Text: "yes", Shown: &Shown{At: put}}, false},
		"a choice":                    {Reply{Choice: ChoiceYes}, true},
		"a choice after another time": {Reply{Choice: ChoiceYes, Shown: shown(said)}, false},
		"nothing":                     {Reply{}, false},
	} {
		require.Equal(t, row.want, row.reply.Answers(put, said), name)
	}
}

// The limits of a reply, on both sides.
func TestReplyLimits(t *testing.T) {
	chat := NewAuthority("chat")
	f := NewReply("answer", From("chat"))
	for name, row := range map[string]struct {
		reply Reply
		want  bool
	}{
		"longest text":    {Reply{By: "a", Text: strings.Repeat("x", MaxReplyText)}, true},
		"too long a text": {Reply{By: "a", Text: strings.Repeat("x", MaxReplyText+1)}, false},
		"longest id":      {Reply{By: "a", Shown: &Shown{strings.Repeat("m", MaxMessage), time.Unix(1, 0)}}, true},
		"too long an id":  {Reply{By: "a", Shown: &Shown{strings.Repeat("m", MaxMessage+1), time.Unix(1, 0)}}, false},
		"no message":      {Reply{By: "a", Shown: &Shown{At: time.Unix(1, 0)}}, false},
		"no time":         {Reply{By: "a", Shown: &Shown{Message: "m"}}, false},
		"nobody":          {Reply{Text: "yes"}, false},
		"another choice":  {Reply{By: "a", Choice: "true"}, false},
	} {
		_, err := Verify(f.Observe(chat, Observed[Reply]{Value: row.reply, Subject: "o1"}),
			Acceptance{Fact: func(string) *FactInfo { return f.Info() }, Trusts: func(*Authority) bool { return true }, Now: time.Now()})
		require.Equal(t, row.want, err == nil, "%s: %v", name, err)
	}
}
