package httpeffect_test

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/pawlgo/pawl/machine"
	"github.com/pawlgo/pawl/resume/httpeffect"
	"github.com/stretchr/testify/require"
)

const (
	uncertain = machine.ClassUncertain
	notSent   = machine.ClassNotSent
	refused   = machine.ClassRefused
	done      = machine.Class(-1) // the effect has happened
)

func TestJudge(t *testing.T) {
	for _, row := range []struct {
		status          int
		header          string // Retry-After
		class, promised machine.Class
	}{
		{200, "", done, done}, {201, "", done, done}, {204, "", done, done}, {202, "", uncertain, uncertain}, {206, "", uncertain, uncertain},
		{199, "", uncertain, uncertain}, {300, "", uncertain, uncertain}, {303, "", uncertain, uncertain}, {304, "", uncertain, uncertain},
		{399, "", uncertain, uncertain}, {400, "", refused, refused}, {401, "", refused, refused}, {402, "", refused, refused},
		{403, "", refused, refused}, {404, "", refused, refused}, {410, "", refused, refused}, {413, "", refused, refused},
		{422, "", refused, refused}, {422, "9", refused, refused}, {451, "", refused, refused}, {498, "", refused, refused},
		{408, "", uncertain, uncertain}, {409, "", uncertain, uncertain}, {409, "9", uncertain, uncertain}, {423, "", uncertain, uncertain},
		{424, "", uncertain, uncertain}, {425, "", uncertain, uncertain}, {499, "", uncertain, uncertain},
		{429, "", uncertain, uncertain}, {429, "9", uncertain, notSent}, {503, "", uncertain, uncertain}, {503, "9", uncertain, notSent},
		{500, "", uncertain, uncertain}, {500, "9", uncertain, uncertain}, {502, "", uncertain, uncertain}, {504, "9", uncertain, uncertain},
		{599, "", uncertain, uncertain}, {999, "", uncertain, uncertain},
	} {
		t.Run(fmt.Sprint(row.status, row.header), func(t *testing.T) {
			a := httpeffect.Answer{Status: row.status, Header: http.Header{}}
			if row.header != "" {
				a.Header.Set("Retry-After", row.header)
			}
			require.Equal(t, row.class, class(new(httpeffect.Client).Judge(a)))
			require.Equal(t, row.promised, class((&httpeffect.Client{BusyIsNotSent: true}).Judge(a)))
		})
	}
}

func class(err error) machine.Class {
	if err == nil {
		return done
	}
	return machine.ClassOf(err)
}

// What a gateway refuses is not refused by the provider.
func TestDefinite(t *testing.T) {
	c := httpeffect.Client{Definite: func(a httpeffect.Answer) bool { return string(a.Body) == "ours" }}
	require.Equal(t, refused, class(c.Judge(httpeffect.Answer{Status: 404, Body: []byte("ours")})))
	require.Equal(t, uncertain, class(c.Judge(httpeffect.Answer{Status: 404, Body: []byte("<html>")})))
	require.Equal(t, uncertain, class(c.Judge(httpeffect.Answer{Status: 500, Body: []byte("ours")})))
}

func TestStatusError(t *testing.T) {
	err := new(httpeffect.Client).Judge(httpeffect.Answer{Status: 409, Body: []byte("card 4242")})
	require.ErrorIs(t, err, httpeffect.ErrDuplicate)
	require.NotContains(t, err.Error(), "4242")
	require.NotErrorIs(t, new(httpeffect.Client).Judge(httpeffect.Answer{Status: 422}), httpeffect.ErrDuplicate)
}

func TestRetryAfter(t *testing.T) {
	const date = "Fri, 04 Dec 2026 17:00:00 GMT"
	for _, row := range []struct {
		after, date string
		want        time.Duration
	}{
		{"120", "", 2 * time.Minute}, {"0", "", 0}, {"", "", 0}, {"-1", "", 0}, {"soon", "", 0}, {"1.5", "", 0},
		{"2147483647", "", 2147483647 * time.Second}, {"99999999999999999999", "", 0},
		{"Fri, 04 Dec 2026 17:00:30 GMT", date, 30 * time.Second}, {date, date, 0},
		{"Fri, 04 Dec 2026 16:00:00 GMT", date, 0}, {"Fri, 04 Dec 2026 17:00:30 GMT", "", 0},
	} {
		e := &httpeffect.StatusError{Answer: httpeffect.Answer{Status: 503, Header: http.Header{"Retry-After": {row.after}, "Date": {row.date}}}}
		require.Equal(t, row.want, e.RetryAfter(), row.after)
	}
}
