package shop

import (
	"errors"
	"fmt"
	"net/http"
)

var (
	// ErrNotSent says that not one byte of the request left: the shop did not see it, now or ever.
	ErrNotSent = errors.New("shop: not sent")
	// ErrDeclined says that the shop answered with a definite refusal: this request did nothing. The error is
	// a *Refusal. It says nothing about an earlier attempt under the same key.
	ErrDeclined = errors.New("shop: declined")
)

// Refusal is a definite answer that says no. It matches ErrDeclined.
type Refusal struct {
	// Status is the HTTP status, 400 to 499.
	Status int `json:"-"`
	// Code is one of the Code constants; a caller branches on it.
	Code string `json:"code"`
	// Message is for people.
	Message string `json:"message"`
}

// Error implements error.
func (r *Refusal) Error() string {
	return fmt.Sprintf("shop: declined with %d %s: %s", r.Status, r.Code, r.Message)
}

// Is reports whether target is ErrDeclined.
func (r *Refusal) Is(target error) bool { return target == ErrDeclined }

var statuses = map[string]int{
	CodeMalformed: http.StatusBadRequest, CodeNoOrder: http.StatusNotFound, CodeNoRefund: http.StatusNotFound,
	CodeKeyReused: http.StatusConflict, CodeHandled: http.StatusConflict, CodePolicyVersion: http.StatusConflict,
	CodeOtherPayee: http.StatusUnprocessableEntity, CodeBadAmount: http.StatusUnprocessableEntity,
	CodeAboveRemainder: http.StatusUnprocessableEntity,
}

func refuse(code, format string, args ...any) *Refusal {
	return &Refusal{Status: statuses[code], Code: code, Message: fmt.Sprintf(format, args...)}
}
