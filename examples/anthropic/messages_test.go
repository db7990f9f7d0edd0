package anthropic_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	projection "github.com/pawlgo/pawl/context"
	"github.com/pawlgo/pawl/examples/anthropic"
	"github.com/pawlgo/pawl/guard"
	"github.com/pawlgo/pawl/machine"
)

// A little desk: somebody asked for a key.
type request struct {
	Room string `json:"room"`
}

type reason struct {
	Text string `json:"text" validate:"required,max=80"`
}

var (
	deny = machine.NewEvent[reason]("turn_down")
	give = machine.NewEvent[machine.None]("hand_out")
	keys = func() *machine.Machine[request] {
		b := machine.New[request]("keys", "asked")
		b.Final("handed_out", "turned_down")
		machine.On(b, give).From("asked").To("handed_out").By(guard.Model)
		machine.On(b, deny).From("asked").To("turned_down").By(guard.Model)
		return b.MustBuild()
	}()
	mayHave = projection.MustDefine(keys, projection.Spec[request]{
		Name: "may_have", In: []machine.State{"asked"}, Question: "May they have it?",
		Goal: func(r request) string { return "Give out the key of room " + r.Room },
		Allow: []projection.Answer{
			{Event: give, Means: "they may have it"},
			{Event: deny, Means: "they may not; text says why"},
		},
	})
	ann  = guard.Principal{ID: "ann"}
	noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
)

// question is what the server was asked, as the protocol has it.
type question struct {
	Model     string `json:"model"`
	MaxTokens int    `json:"max_tokens"`
	System    []struct {
		Type  string            `json:"type"`
		Text  string            `json:"text"`
		Cache map[string]string `json:"cache_control"`
	} `json:"system"`
	Messages []struct {
		Role    string `json:"role"`
		Content string `json:"content"`
	} `json:"messages"`
	Tools []struct {
		Name        string         `json:"name"`
		Description string         `json:"description"`
		InputSchema map[string]any `json:"input_schema"`
	} `json:"tools"`
	ToolChoice map[string]any `json:"tool_choice"`
}

// server speaks the protocol as far as a client that uses tools needs it, and plays a script.
func server(t *testing.T, script ...string) (*anthropic.Client, *[]question) {
	var asked []question
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var q question
		d := json.NewDecoder(r.Body)
		d.DisallowUnknownFields()
		switch {
		case r.Method != http.MethodPost || r.URL.Path != "/v1/messages":
			w.WriteHeader(http.StatusNotFound)
			return
		case r.Header.Get("X-Api-Key") != "key":
			w.WriteHeader(http.StatusUnauthorized)
			_, _ = io.WriteString(w, `{"type":"error","error":{"type":"authentication_error","message":"invalid x-api-key"}}`)
			return
		case r.Header.Get("Anthropic-Version") != "2023-06-01", d.Decode(&q) != nil, len(script) == 0:
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		asked = append(asked, q)
		_, _ = io.WriteString(w, script[0])
		script = script[1:]
	}))
	t.Cleanup(s.Close)
	return &anthropic.Client{BaseURL: s.URL, Model: "small", Key: "key"}, &asked
}

func reply(stop, content string) string {
	return `{"id":"msg_1","type":"message","role":"assistant","model":"small","content":` + content + `,"stop_reason":"` + stop +
		`","stop_sequence":null,"usage":{"input_tokens":9,"output_tokens":9}}`
}

// TestLoop: the model answers in words, then calls two tools, then one: two refusals are told to it, and one commit made.
func TestLoop(t *testing.T) {
	client, asked := server(t,
		reply("end_turn", `[{"type":"text","text":"Here you are!"}]`),
		reply("tool_use", `[{"type":"tool_use","id":"t1","name":"hand_out","input":{}},{"type":"tool_use","id":"t2","name":"turn_down","input":{"text":"no"}}]`),
		reply("tool_use", `[{"type":"text","text":"I turn it down."},{"type":"tool_use","id":"t1","name":"turn_down","input":{"text":"It is taken."}}]`),
	)
	s, _, err := keys.Task("key_1", ann, request{Room: "7"}).First(noon)
	require.NoError(t, err)
	var codes []string
	out, err := projection.Loop{
		Project: func(context.Context) (projection.View, error) { return mayHave.View(s, ann, noon) },
		Model:   client.Answer,
		Answer: func(_ context.Context, v projection.View, raw []byte) (machine.Outcome, error) {
			p, err := v.Read(raw)
			if err != nil {
				return machine.Outcome{}, err
			}
			_, out := machine.Erase(keys).Step(s, machine.Input{Proposal: p, Principal: ann, Received: noon, Now: noon})
			return out, nil
		},
		Record: func(turn projection.Turn) {
			if turn.Refusal != nil {
				codes = append(codes, turn.Refusal.Code)
			}
		},
	}.Run(t.Context())
	require.NoError(t, err)
	require.Equal(t, machine.State("turned_down"), out.State)
	require.Equal(t, []string{projection.CodeProse, projection.CodeSeveralAnswers}, codes)

	require.Len(t, *asked, 3)
	q := (*asked)[2]
	require.Equal(t, "small", q.Model)
	require.Equal(t, anthropic.MaxTokens, q.MaxTokens)
	require.Equal(t, map[string]string{"type": "ephemeral"}, q.System[0].Cache)
	require.Equal(t, (*asked)[0].System[0].Text, q.System[0].Text, "the cached part is the same each time")
	require.Contains(t, q.Messages[0].Content, "- several_answers: ")
	require.NotContains(t, (*asked)[0].Messages[0].Content, "refused")
	require.Equal(t, map[string]any{"type": "any", "disable_parallel_tool_use": true}, q.ToolChoice)
	require.Equal(t, "turn_down", q.Tools[1].Name)
	require.Equal(t, "object", q.Tools[1].InputSchema["type"])
}

// TestErrors: what is no whole message is an error, and no answer.
func TestErrors(t *testing.T) {
	s, _, err := keys.Task("key_1", ann, request{Room: "7"}).First(noon)
	require.NoError(t, err)
	v, err := mayHave.View(s, ann, noon)
	require.NoError(t, err)
	for name, c := range map[string]struct {
		script string
		want   error
	}{
		"cut off":  {reply("max_tokens", `[{"type":"tool_use","id":"t","name":"turn_down","input":{}}]`), anthropic.ErrCutOff},
		"an error": {`{"type":"error","error":{"type":"overloaded_error","message":"later"}}`, anthropic.ErrServer},
		"no JSON":  {"<html>", anthropic.ErrServer},
		"too long": {strings.Repeat(" ", anthropic.MaxResponse+1), anthropic.ErrServer},
	} {
		client, _ := server(t, c.script)
		_, err := client.Answer(t.Context(), v)
		require.ErrorIs(t, err, c.want, name)
	}
	client, asked := server(t, reply("end_turn", `[]`))
	client.Key = "other"
	_, err = client.Answer(t.Context(), v)
	require.ErrorIs(t, err, anthropic.ErrServer)
	require.ErrorContains(t, err, "401")
	require.NotContains(t, err.Error(), "other", "a key is never told")
	require.Empty(t, *asked)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = client.Answer(ctx, v)
	require.ErrorIs(t, err, context.Canceled)
}
