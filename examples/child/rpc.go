package child

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
)

// maxBody bounds a request and an answer, in bytes.
const maxBody = 1 << 20

// ErrAnswer is wrapped by an answer of a desk that is an error.
var ErrAnswer = errors.New("the desk answered")

// Handler reads a Q and writes an A, as JSON. What status says of an error is its code; nil says 500 of each.
func Handler[Q, A any](f func(context.Context, Q) (A, error), status func(error) int) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		var q Q
		if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxBody)).Decode(&q); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		a, err := f(r.Context(), q)
		if err != nil {
			code := http.StatusInternalServerError
			if status != nil {
				code = status(err)
			}
			http.Error(w, err.Error(), code)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(a) // an error here is the reader's to see
	}
}

// Call asks what a [Handler] answers at a URL. An answer that is an error wraps [ErrAnswer].
func Call[A any](ctx context.Context, client *http.Client, url string, q any) (A, error) {
	var a A
	body, err := json.Marshal(q)
	if err != nil {
		return a, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(body))
	if err != nil {
		return a, err
	}
	resp, err := client.Do(req)
	if err != nil {
		return a, err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(io.LimitReader(resp.Body, maxBody))
	switch {
	case err != nil:
		return a, err
	case resp.StatusCode != http.StatusOK:
		return a, fmt.Errorf("%w %d: %s", ErrAnswer, resp.StatusCode, bytes.TrimSpace(text))
	}
	return a, json.Unmarshal(text, &a)
}
