package holder

import (
	"errors"
	"net/http"

	"github.com/pawlgo/pawl/store"
)

// The socket speaks HTTP. A question is a GET below /v1/, its arguments are a query. An answer is JSON in the fields of the structs
// of package store; a stream is one JSON object a line, of which the last one is an end or a fault.

// prefix carries the version of the protocol.
const prefix = "/v1/"

// greeting says who answers, and which store it has open.
type greeting struct {
	PID     int
	Program string
	Store   store.Info
}

type loaded struct {
	Record  store.Record
	Effects []store.Effect
}

// page is one answer of several; More says that there is more below the last one.
type page struct {
	Records []store.Record
	More    bool
}

type found struct {
	Rows []store.Row
	Next []byte // bytes, not text
}

type unsettled struct {
	Effects []store.Effect
	Next    []byte
}

// line is one line of a stream.
type line struct {
	Row     *store.Row     `json:",omitempty"`
	Problem *store.Problem `json:",omitempty"`
	Fault   *fault         `json:",omitempty"`
	End     bool           `json:",omitempty"`
}

// fault is an error on its way through the socket.
type fault struct {
	Code string
	Text string
}

// ErrUnsupported says that the store of the holder cannot do what was asked.
var ErrUnsupported = errors.New("the holder's store cannot do that")

// codes name the errors that can be told apart after the way through the socket. The first that fits counts.
var codes = []struct {
	code   string
	err    error
	status int
}{
	{"not_found", store.ErrNotFound, http.StatusNotFound},
	{"erased", store.ErrErased, http.StatusGone},
	{"corrupt", store.ErrCorrupt, http.StatusInternalServerError},
	{"newer", store.ErrNewer, http.StatusInternalServerError},
	{"too_big", store.ErrTooBig, http.StatusBadRequest},
	{"invalid", store.ErrInvalid, http.StatusBadRequest},
	{"unsupported", ErrUnsupported, http.StatusNotImplemented},
	{"failed", store.ErrFailed, http.StatusServiceUnavailable},
	{"closed", store.ErrClosed, http.StatusServiceUnavailable},
}

// faultOf packs an error.
func faultOf(err error) (*fault, int) {
	for _, c := range codes {
		if errors.Is(err, c.err) {
			return &fault{c.code, err.Error()}, c.status
		}
	}
	return &fault{"", err.Error()}, http.StatusInternalServerError
}

// AnsweredError is an error that the holder answered. It wraps the sentinel of package store that it wrapped there, if any; the
// typed errors of package store do not come through.
type AnsweredError struct {
	Text string
	err  error
}

// Error is the holder's text.
func (e *AnsweredError) Error() string { return e.Text }

// Unwrap is the sentinel, or nil.
func (e *AnsweredError) Unwrap() error { return e.err }

// unpacked is the error that was packed.
func (f *fault) unpacked() error {
	e := &AnsweredError{Text: f.Text}
	for _, c := range codes {
		if c.code == f.Code {
			e.err = c.err
		}
	}
	return e
}
