package exchange

import (
	"errors"
	"fmt"
	"net/http"
)

var (
	// ErrNotSent says that not one byte of the request left: the exchange did not see it, now or ever.
	ErrNotSent = errors.New("exchange: not sent")
	// ErrRefused says that the exchange answered with a definite refusal; the error is a *Refusal.
	ErrRefused = errors.New("exchange: refused")
)

// Codes of refusals.
const (
	CodeMalformed = "malformed"             // 400: the request is not one
	CodeNoSymbol  = "no_symbol"             // 404: no such instrument, or no price of it yet
	CodeNoOrder   = "no_order"              // 404: surely no order under this client order id
	CodeReused    = "client_order_id_used"  // 409: the id belongs to another order
	CodeFunds     = "insufficient_funds"    // 422: the account cannot pay for it
	CodeShares    = "insufficient_position" // 422: the account does not hold it
	CodeClosed    = "market_closed"         // 422
)

var statuses = map[string]int{
	CodeMalformed: http.StatusBadRequest, CodeNoSymbol: http.StatusNotFound, CodeNoOrder: http.StatusNotFound, CodeReused: http.StatusConflict,
	CodeFunds: http.StatusUnprocessableEntity, CodeShares: http.StatusUnprocessableEntity, CodeClosed: http.StatusUnprocessableEntity,
}

// Refusal is a definite answer that says no. It matches ErrRefused.
type Refusal struct {
	Status  int    `json:"-"`
	Code    string `json:"code"`
	Message string `json:"message"`
}

// Error implements error.
func (r *Refusal) Error() string {
	return fmt.Sprintf("exchange: refused with %d %s: %s", r.Status, r.Code, r.Message)
}

// Is reports whether target is ErrRefused.
func (r *Refusal) Is(target error) bool { return target == ErrRefused }

func refuse(code, format string, args ...any) *Refusal {
	return &Refusal{Status: statuses[code], Code: code, Message: fmt.Sprintf(format, args...)}
}
