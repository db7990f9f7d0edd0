package guard

import (
	"time"

	"github.com/pawlgo/pawl/internal/canon"
)

// MessageResource begins the names of the resources under which controllers use up messages.
const MessageResource = "pawl.reply/"

// Message is the name under which a message that says yes in words is used up in the whole store (law 9); "" for other evidence, and
// for a choice, which names its offer by itself. A message without an id of its source is known by who wrote what and when.
func (e Evidence) Message() string { return e.message }

func (e *Evidence) messageName(r Reply) string {
	if r.Choice != ChoiceNone || e.consent != Yes {
		return ""
	}
	said := append(make([]byte, 0, 256), e.entry.Source...)
	if said = append(said, 0); e.id != "" {
		said = append(said, e.id...)
	} else {
		said = append(append(said, 0), r.By...)
		said = append(append(append(said, 0), r.Text...), 0)
		said = e.entry.At.AppendFormat(said, time.RFC3339Nano)
	}
	return string(canon.AppendDigest(append(make([]byte, 0, 64), MessageResource...), said))
}
