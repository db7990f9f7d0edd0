package workingstate

import (
	"bytes"
	"encoding/json"
	"errors"
	"strconv"
	"strings"
	"time"
)

// Hours is a length of time in hours as a decimal number, as its proposer wrote it: 4.5. In JSON it is a number, or a text
// that is one. What is stored of it is an instant in whole seconds. The zero Hours is out of range.
type Hours string

// HoursOf is a duration in hours, in whole seconds.
func HoursOf(d time.Duration) Hours {
	return Hours(strconv.FormatFloat(float64(d/time.Second)/3600, 'f', -1, 64))
}

var errHours = errors.New("want a number of hours, like 4.5")

// UnmarshalJSON takes a number, or a text that is one.
func (h *Hours) UnmarshalJSON(raw []byte) error {
	text := string(raw)
	if bytes.HasPrefix(raw, []byte{'"'}) {
		if err := json.Unmarshal(raw, &text); err != nil {
			return errHours
		}
		text = strings.TrimSpace(text)
	}
	_, err := strconv.ParseFloat(text, 64)
	if len(text) > maxHours || strings.ContainsAny(text, "xX_") || err != nil && !errors.Is(err, strconv.ErrRange) {
		return errHours // what Go alone takes for a number is none
	}
	*h = Hours(text)
	return nil
}

const maxHours = 64 // bytes of the number

// MarshalJSON gives the number in its text.
func (h Hours) MarshalJSON() ([]byte, error) { return json.Marshal(string(h)) }

// JSONSchema describes what is accepted.
func (h Hours) JSONSchema() json.RawMessage {
	return json.RawMessage(`{"type":["number","string"],"description":"hours, like 4.5; more than 0 and at most 720"}`)
}

// seconds are the whole seconds of the time, cut down; what is within a microsecond of a whole second counts as that, since
// thirds have no decimal end. Not ok when it is no time, less than a second, or too long.
func (h Hours) seconds() (int64, bool) {
	f, err := strconv.ParseFloat(string(h), 64)
	if err != nil || !(f > 0) || f > MaxTTLHours {
		return 0, false
	}
	whole, fraction, _ := strings.Cut(strconv.FormatFloat(f, 'f', 12, 64), ".")
	trillionths, err := strconv.ParseInt(whole+fraction, 10, 64)
	n := (trillionths*3600 + 1_000_000) / 1_000_000_000_000
	return n, err == nil && n >= MinTTL
}

// until is when a time that begins now is over; the zero time when there is none.
func (h *Hours) until(now time.Time) time.Time {
	if h == nil {
		return time.Time{}
	}
	n, _ := h.seconds()
	return now.Add(time.Duration(n) * time.Second)
}
