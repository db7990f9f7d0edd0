package modeltest_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlgo/pawl/examples/refund/model/modeltest"
)

const good = `{"model":"small","messages":[{"role":"user","content":"hello"}],"temperature":0,` +
	`"response_format":{"type":"json_schema","json_schema":{"name":"n","strict":true,` +
	`"schema":{"type":"object","properties":{},"required":[],"additionalProperties":false}}}}`

func send(t *testing.T, method, url, authorization, kind, body string) (int, string) {
	t.Helper()
	req, err := http.NewRequest(method, url, strings.NewReader(body))
	require.NoError(t, err)
	req.Header.Set("Authorization", authorization)
	req.Header.Set("Content-Type", kind)
	res, err := http.DefaultClient.Do(req)
	require.NoError(t, err)
	text, err := io.ReadAll(res.Body)
	require.NoError(t, err)
	require.NoError(t, res.Body.Close())
	return res.StatusCode, string(text)
}

func TestServerIsStrict(t *testing.T) {
	s := modeltest.Start(t, "key", "small", modeltest.Script(modeltest.Answer{Content: "hi"}))
	url := s.URL + "/chat/completions"
	const auth, kind = "Bearer key", "application/json"
	swap := func(old, new string) string {
		require.Contains(t, good, old)
		return strings.Replace(good, old, new, 1)
	}
	for _, c := range []struct {
		status                        int
		method, url, auth, kind, body string
	}{
		{404, "POST", s.URL + "/completions", auth, kind, good},
		{405, "PUT", url, auth, kind, good},
		{401, "POST", url, "", kind, good},
		{401, "POST", url, "Bearer other", kind, good},
		{415, "POST", url, auth, "text/plain", good},
		{400, "POST", url, auth, kind, good[:50]},
		{400, "POST", url, auth, kind, swap(`"model"`, `"x":1,"model"`)},
		{404, "POST", url, auth, kind, swap("small", "large")},
		{400, "POST", url, auth, kind, swap(`"user"`, `"assistant"`)},
		{400, "POST", url, auth, kind, swap(`"hello"`, `""`)},
		{400, "POST", url, auth, kind, swap(`[{"role`, `[{"role":"user","content":"x"},{"role`)},
		{400, "POST", url, auth, kind, swap(`"temperature":0`, `"temperature":0.5`)},
		{400, "POST", url, auth, kind, swap(`"temperature":0,`, ``)},
		{400, "POST", url, auth, kind, swap(`"json_schema","json`, `"json_object","json`)},
		{400, "POST", url, auth, kind, swap(`true`, `false`)},
		{400, "POST", url, auth, kind, swap(`"n"`, `"n n"`)},
		{400, "POST", url, auth, kind, swap(`"additionalProperties":false`, `"x":1`)},
	} {
		status, body := send(t, c.method, c.url, c.auth, c.kind, c.body)
		require.Equal(t, c.status, status, c.body)
		require.Contains(t, body, `"error"`)
		require.Len(t, s.Bad(), 1)
	}
	require.Empty(t, s.Questions())
	status, body := send(t, "POST", url, auth, kind, good)
	require.Equal(t, http.StatusOK, status)
	require.Contains(t, body, `"content":"hi"`)
	require.Len(t, s.Questions(), 1)
}

// recorder is a test whose end can be looked at.
type recorder struct {
	testing.TB
	ends   []func()
	errors []string
}

func (r *recorder) Helper()          {}
func (r *recorder) Cleanup(f func()) { r.ends = append(r.ends, f) }
func (r *recorder) Errorf(f string, values ...any) {
	r.errors = append(r.errors, fmt.Sprintf(f, values...))
}

func TestABadRequestFailsTheTest(t *testing.T) {
	r := &recorder{TB: t}
	s := modeltest.Start(r, "key", "small", modeltest.Script())
	_, _ = send(t, "POST", s.URL+"/chat/completions", "Bearer key", "application/json", "{}")
	r.ends[0]()
	require.Equal(t, []string{`modeltest: a bad request: no model ""`}, r.errors)
}

func TestCheckStrict(t *testing.T) {
	object := func(inner string) string {
		return `{"type":"object","properties":{"a":` + inner + `},"required":["a"],"additionalProperties":false}`
	}
	nested := func(depth int) string {
		schema := `{"type":"string"}`
		for range depth {
			schema = object(schema)
		}
		return schema
	}
	wide := func(count int) string {
		properties, required := map[string]any{}, []string{}
		for i := range count {
			name := fmt.Sprint(i)
			properties[name], required = map[string]any{"type": "string"}, append(required, name)
		}
		text, err := json.Marshal(map[string]any{"type": "object", "properties": properties, "required": required, "additionalProperties": false})
		require.NoError(t, err)
		return string(text)
	}
	for _, schema := range []string{
		object(`{"type":"string","enum":["x"]}`), object(`{"type":["object","null"],"properties":{},"additionalProperties":false}`),
		object(`{"anyOf":[{"type":"null"},` + object(`{"type":"integer"}`) + `]}`), object(`{"$ref":"#/$defs/x"}`),
		object(object(`{"type":"array","items":` + object(`{"type":"boolean"}`) + `}`)), nested(modeltest.MaxDepth), wide(modeltest.MaxProperties),
	} {
		require.NoError(t, modeltest.CheckStrict(json.RawMessage(schema)), "%.200s", schema)
	}
	open := `{"type":"object","properties":{}}`
	for _, schema := range []string{
		"", "[]", "null", `{"type":"string"}`, `{"anyOf":[]}`, strings.Replace(nested(1), `"type"`, `"anyOf":[],"type"`, 1), open,
		object(open), object(`{"type":["object","null"]}`), object(`{"type":"array","items":` + open + `}`), object(`{"anyOf":[` + open + `]}`),
		strings.Replace(object("{}"), `"properties"`, `"$defs":{"x":`+open+`},"properties"`, 1),
		strings.Replace(object("{}"), `["a"]`, `[]`, 1), strings.Replace(object("{}"), `["a"]`, `["a","b"]`, 1),
		object(`{"allOf":[]}`), object(`{"not":{}}`), object(`{"if":{}}`), object(`{"oneOf":[]}`), object(`true`),
		nested(modeltest.MaxDepth + 1), wide(modeltest.MaxProperties + 1),
	} {
		require.Error(t, modeltest.CheckStrict(json.RawMessage(schema)), "%.200s", schema)
	}
}
