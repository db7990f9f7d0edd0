package httpeffect

import (
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/pawlgo/pawl/machine"
)

// ErrDuplicate says that the provider has met the key before (409): what became of it must be looked up.
var ErrDuplicate = errors.New("the provider has met this key before")

// StatusError is an answer that does not say that the effect has happened. Its text holds nothing of the answer but the status;
// the body is a stranger's text and may hold anything.
type StatusError struct{ Answer Answer }

// Error says which status came.
func (e *StatusError) Error() string {
	return fmt.Sprintf("the provider answered %d %s", e.Answer.Status, http.StatusText(e.Answer.Status))
}

// Is tells whether target is ErrDuplicate, and this a duplicate.
func (e *StatusError) Is(target error) bool {
	return target == ErrDuplicate && e.Answer.Status == http.StatusConflict
}

// RetryAfter is how long the provider asks to be left alone; 0 when it does not say, or in a way that cannot be read. A date
// counts from the answer's own Date, so that no clock of ours matters. The controller waits at least that long.
func (e *StatusError) RetryAfter() time.Duration {
	text := e.Answer.Header.Get("Retry-After")
	if seconds, err := strconv.ParseUint(text, 10, 31); err == nil {
		return time.Duration(seconds) * time.Second
	}
	until, err := http.ParseTime(text)
	if err != nil {
		return 0
	}
	now, err := http.ParseTime(e.Answer.Header.Get("Date"))
	if err != nil {
		return 0
	}
	return max(until.Sub(now), 0)
}

// Judge says what an answer means: nil when the effect has happened, else a [*StatusError] with its class for
// [machine.ClassOf].
func (c *Client) Judge(a Answer) error {
	err := &StatusError{a}
	switch class := c.class(a); {
	case happened(a.Status):
		return nil
	case class == machine.ClassNotSent:
		return machine.NotSent(err)
	case class == machine.ClassRefused && (c.Definite == nil || c.Definite(a)):
		return machine.Declined(err)
	}
	return err
}

// happened is every 2xx but those that say that it is yet to happen, or that a part is missing.
func happened(status int) bool {
	return status >= 200 && status < 300 && status != http.StatusAccepted && status != http.StatusPartialContent
}

func (c *Client) class(a Answer) machine.Class {
	busy := a.Status == http.StatusTooManyRequests || a.Status == http.StatusServiceUnavailable
	switch {
	case busy && c.BusyIsNotSent && a.Header.Get("Retry-After") != "":
		return machine.ClassNotSent
	case a.Status < 400 || a.Status > 499 || leavesOpen(a.Status):
		return machine.ClassUncertain
	}
	return machine.ClassRefused
}

// leavesOpen tells whether a 4xx does not say that nothing happened.
func leavesOpen(status int) bool {
	switch status {
	case http.StatusRequestTimeout, http.StatusConflict, http.StatusLocked, http.StatusFailedDependency, http.StatusTooEarly,
		http.StatusTooManyRequests, clientClosed:
		return true
	}
	return false
}

// clientClosed is what proxies answer for a caller that has gone; it is no registered status.
const clientClosed = 499
