package holder_test

import (
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlgo/pawl/cmd/pawl/holder"
	"github.com/pawlgo/pawl/store"
)

// pretending is a client of a holder that answers one question as it is told, and others with nothing.
func pretending(t *testing.T, question string, answer http.HandlerFunc) *holder.Client {
	t.Helper()
	h := holder.Holder{PID: os.Getpid(), Program: "liar", Socket: filepath.Join(t.TempDir(), "s")}
	l, err := net.Listen("unix", h.Socket)
	require.NoError(t, err)
	mux := http.NewServeMux()
	mux.HandleFunc("/v1/hello", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintf(w, `{"PID":%d}`, h.PID) })
	mux.HandleFunc("/v1/"+question, answer)
	s := &http.Server{Handler: mux}
	go func() { _ = s.Serve(l) }()
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	c, err := holder.Dial(t.Context(), h)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, c.Close()) })
	return c
}

func text(s string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, s) }
}

// What is no answer is an error, and never an empty store.
func TestMalformedAnswers(t *testing.T) {
	for _, bad := range []string{"", "x", `{"Record":`, `[]`, `{"Record":{"Task":7}}`} {
		_, _, err := pretending(t, "load", text(bad)).Load(t.Context(), "a")
		require.ErrorIs(t, err, holder.ErrAnswer, bad)
	}
	_, err := pretending(t, "tip", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusTeapot) }).Tip(t.Context(), "a")
	require.ErrorIs(t, err, holder.ErrAnswer)
	_, err = pretending(t, "tip", func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusTeapot)
		fmt.Fprint(w, `{"Code":"of a later version","Text":"what it says"}`)
	}).Tip(t.Context(), "a")
	require.EqualError(t, err, "what it says")
}

// A stream that does not say how it ended has not ended well.
func TestBrokenStreams(t *testing.T) {
	for answer, want := range map[string]error{
		"": holder.ErrGone, `{"Problem":{"What":"x"}}` + "\n": holder.ErrGone, "x\n": holder.ErrAnswer,
		`{"Fault":{"Code":"corrupt","Text":"x"}}` + "\n": store.ErrCorrupt,
	} {
		var last error
		for _, err := range pretending(t, "verify", text(answer)).Verify(t.Context()) {
			last = err
		}
		require.ErrorIs(t, last, want, answer)
	}
	require.ErrorIs(t, pretending(t, "backup", text("")).Backup(t.Context(), "/x"), holder.ErrGone)
}

// A history goes down, and ends.
func TestHistoriesThatDoNot(t *testing.T) {
	for _, versions := range [][]uint64{{}, {0}, {5, 5}, {5, 6}} {
		p := map[string]any{"More": true}
		var records []store.Record
		for _, v := range versions {
			records = append(records, store.Record{Task: "a", Tip: store.Tip{Version: v}})
		}
		p["Records"] = records
		b, err := json.Marshal(p)
		require.NoError(t, err)
		n, last := 0, error(nil)
		for _, err := range pretending(t, "history", text(string(b))).History(t.Context(), "a", 0, 0) {
			last = err
			n++
		}
		require.ErrorIs(t, last, holder.ErrAnswer)
		require.LessOrEqual(t, n, 2)
	}
}

// The longest answer, and one byte more.
func TestAnswersAreBounded(t *testing.T) {
	for over, want := range map[int]error{0: holder.ErrAnswer, 1: store.ErrTooBig} {
		_, err := pretending(t, "now", text(strings.Repeat(" ", holder.MaxAnswer+over))).Now(t.Context())
		require.ErrorIs(t, err, want)
	}
}
