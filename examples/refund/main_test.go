package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/pawlgo/pawl/examples/child"
	"github.com/pawlgo/pawl/examples/refund/model/modeltest"
	"github.com/stretchr/testify/require"
)

// The story starts its own program as shop and desk: here that is the test binary. It is the whole program when asProgram is set.
func TestMain(m *testing.M) {
	if os.Getenv(asProgram) != "" {
		main()
		return
	}
	if is, err := child.Played(context.Background(), parts); is {
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

// play tells the story and reads its last line.
func play(t *testing.T, o options) (string, summary) {
	t.Helper()
	o.dir = t.TempDir()
	var out bytes.Buffer
	err := tell(t.Context(), o, &out)
	require.NoError(t, err, out.String())
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	var s summary
	require.NoError(t, json.Unmarshal([]byte(lines[len(lines)-1]), &s))
	return out.String(), s
}

func TestStory(t *testing.T) {
	text, s := play(t, options{})
	require.Equal(t, summary{Task: "refund_order_123", State: "refunded", Version: 9, RefundsInLedger: 1, Refused: 4, Asked: 1, Conflicts: 2, Restarts: 2}, s)
	for _, part := range []string{
		"-> request_refund committed: version 4, awaiting_user_confirmation",
		`"user_confirmation" is not declared`, `"state_version" is not declared`,
		"mallory -> the desk answered 404: task refund_order_123: no such task for this principal",
		"stale_version: based on version 4, the newest is 6",
		"effect issue_refund, key refund_order_123/issue_refund/1, recorded in the same version",
		`as "sent"`,
		"no_transition: confirm_refund is not possible in refunded",
	} {
		require.Contains(t, text, part)
	}
	for n := 1; n <= 10; n++ {
		require.Contains(t, text, fmt.Sprintf("\n%d. ", n))
	}
}

func TestStoryWhenThePolicyMoves(t *testing.T) {
	text, s := play(t, options{policyMoves: true})
	require.Equal(t, 1, s.RefundsInLedger)
	require.Equal(t, "refunded", string(s.State))
	require.Contains(t, text, "changed: refund_eligibility(123) was eligible under policy v7, is eligible under policy v8")
	require.Contains(t, text, "is void: refund_eligibility(123) has changed.")
}

func TestStoryInFull(t *testing.T) {
	text, _ := play(t, options{verbose: true})
	require.Contains(t, text, "the model saw:")
	require.Contains(t, text, `"kind": "committed"`)
}

// A chat-completions server in place of the script.
func TestStoryWithAModelServer(t *testing.T) {
	t.Setenv(keyVariable, "a-key")
	srv := modeltest.Start(t, "a-key", "small", func(q modeltest.Question) modeltest.Answer {
		if strings.Contains(q.User, "yes, refund it") {
			return modeltest.Answer{Content: confirmIt}
		}
		return modeltest.Answer{Content: askIt}
	})
	_, s := play(t, options{modelURL: srv.URL, model: "small"})
	require.Equal(t, 1, s.RefundsInLedger)
	require.Len(t, srv.Questions(), 2)
	require.Empty(t, srv.Bad())
}

// A model that answers the wrong thing makes the story end badly, and pays nothing.
func TestStoryWithAStubbornModel(t *testing.T) {
	t.Setenv(keyVariable, "a-key")
	srv := modeltest.Start(t, "a-key", "small", func(modeltest.Question) modeltest.Answer { return modeltest.Answer{Content: askIt} })
	var out bytes.Buffer
	err := tell(t.Context(), options{dir: t.TempDir(), modelURL: srv.URL, model: "small"}, &out)
	require.ErrorContains(t, err, "step 7 did not go as told")
}

func TestTalk(t *testing.T) {
	var out bytes.Buffer
	in := strings.NewReader("continue with yesterday's one\nyes, refund it\nhello?\n")
	require.NoError(t, talk(t.Context(), options{dir: t.TempDir()}, in, &out))
	require.Contains(t, out.String(), "desk: thank you, it is on its way")
	require.Contains(t, out.String(), "desk: nothing waits for you; the refund is ")
}

func TestCommandLine(t *testing.T) {
	for _, args := range [][]string{{"-nonsense"}, {"extra", "argument"}, {"-model", "x"}, {"-model-url", "x"}} {
		require.Error(t, run(t.Context(), args), args)
	}
}
