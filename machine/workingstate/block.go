package workingstate

import (
	"slices"
	"strconv"
	"strings"
	"time"
)

// Block is what a prompt shows of the table at an instant: "" when nothing holds. It never takes more than the budget. When
// it would, the keys that were set longest ago go, with a line that says how many, and the handoff is shortened, with a
// mark. The key that was set last always stays, with its whole value. There is one heading, whatever a value contains, and
// equal tables have equal blocks.
func (l Layout) Block(t Table, now time.Time) string {
	if t.Empty(now) {
		return ""
	}
	w := l.words()
	var b strings.Builder
	b.WriteString("## " + w.Heading + "\n" + say(w.Preamble, l.zone().String()))
	room := l.budget() - b.Len()
	note := ""
	if t.Handoff.Live(now) {
		note = l.handoff(*t.Handoff, wholeText)
	}
	b.WriteString(l.entries(t, now, room-min(len(note), room/3)))
	if rest := l.budget() - b.Len(); len(note) > rest {
		note = l.shortened(*t.Handoff, rest)
	}
	return b.String() + note
}

// wholeText is more than any text takes.
const wholeText = 8 * MaxHandoff

// entries are the lines of the keys that hold, each after a line break: those that there is room for, and the newest.
func (l Layout) entries(t Table, now time.Time, room int) string {
	live, _ := t.Keys(now)
	lines, total := map[string]string{}, 0
	for _, k := range live {
		lines[k] = l.entry(k, t.States[k], wholeText)
		total += len(lines[k])
	}
	more := ""
	if total > room && len(live) > 1 {
		room -= len(l.omitted(len(live)))
		for _, k := range oldestFirst(t, live)[:len(live)-1] {
			if total <= room {
				break
			}
			total -= len(lines[k])
			delete(lines, k)
		}
		more = l.omitted(len(live) - len(lines))
	}
	var b strings.Builder
	for _, k := range live {
		line := lines[k]
		if len(lines) == 1 && len(line) > room {
			line = l.tight(k, t.States[k], room)
		}
		if lines[k] != "" {
			b.WriteString(line)
		}
	}
	return b.String() + more
}

// oldestFirst are the keys by when they were set; of those set at once, in their own order.
func oldestFirst(t Table, keys []string) []string {
	keys = slices.Clone(keys)
	slices.SortStableFunc(keys, func(a, b string) int { return t.States[a].UpdatedAt.Compare(t.States[b].UpdatedAt) })
	return keys
}

func (l Layout) omitted(n int) string {
	if n == 0 {
		return ""
	}
	return "\n" + say(l.words().Omitted, strconv.Itoa(n))
}

// entry is the line of one key, with at most so many bytes of its reason.
func (l Layout) entry(key string, e Entry, reason int) string {
	w := l.words()
	line := "\n- " + key + " = " + quoted(e.Value) + " (v" + strconv.FormatUint(e.Version, 10) + ", " + say(w.Set, l.at(e.UpdatedAt)) + ": " + fit(e.Reason, reason)
	if !e.ExpiresAt.IsZero() {
		line += "; " + say(w.Until, l.at(e.ExpiresAt))
	}
	return line + ")"
}

// tight is the line of one key that takes all the room: its reason is shortened, its value never.
func (l Layout) tight(key string, e Entry, room int) string {
	over := len(l.entry(key, e, wholeText)) - room
	return l.entry(key, e, len(quoted(e.Reason))-over)
}

// handoff is the line of the note, with at most so many bytes of each of its texts.
func (l Layout) handoff(n Note, most int) string {
	w := l.words()
	line := "\n" + say(w.Handoff, l.at(n.UpdatedAt))
	if !n.ExpiresAt.IsZero() {
		line += ", " + say(w.Until, l.at(n.ExpiresAt))
	}
	if n.Status != "" {
		line += " (" + w.Statuses[n.Status] + ")"
	}
	line += ": " + fit(n.Note, most)
	if n.NextSteps != "" {
		line += "; " + w.NextSteps + ": " + fit(n.NextSteps, most)
	}
	if n.Evidence != "" {
		grade := w.Claim
		if n.Verified != "" {
			grade = say(w.Verified, n.Verified, fit(n.Proof, most))
		}
		line += "; " + w.Evidence + " (" + grade + "): " + fit(n.Evidence, most)
	}
	if n.Blocker != "" {
		line += "; " + w.Blocker + ": " + fit(n.Blocker, most)
	}
	return line
}

// shortened is the line of the note in the room that there is: each of its texts keeps its beginning, the longest give way
// first, and a mark says so.
func (l Layout) shortened(n Note, room int) string {
	mark := " " + l.words().Cut
	low, high := 0, room
	for low < high {
		middle := (low + high + 1) / 2
		if len(l.handoff(n, middle))+len(mark) <= room {
			low = middle
		} else {
			high = middle - 1
		}
	}
	return l.handoff(n, low) + mark
}
