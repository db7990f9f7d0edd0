package mcp_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlgo/pawl/cmd/pawl/mcp"
	"github.com/pawlgo/pawl/examples/refund/refund"
	"github.com/pawlgo/pawl/guard"
	"github.com/pawlgo/pawl/machine"
)

// proposal is the arguments of task_propose.
func proposal(task string, version int, event, payload string) string {
	return fmt.Sprintf(`{"task_id":%q,"state_version":%d,"decision":"interpret_reply","event":%q,"payload":%s}`, task, version, event, payload)
}

const confirmed = `{"order_id":"123","amount":{"minor":4300,"currency":"EUR"}}`

// TestTask goes through one task with every tool, in every era: found without its id, reported, projected, proposed to, and its
// history read.
func TestTask(t *testing.T) {
	each(t, func(t *testing.T, connect dial) {
		d := openDesk(t)
		s := connect(d, both)
		require.Equal(t, map[string]any{"ok": true, "tasks": []any{}, "more": 0.0}, call(t, s, "task_find", "").ok().fields)
		id := d.refunds("123")
		found := call(t, s, "task_find", `{"which":"waiting"}`).ok().fields["tasks"].([]any)
		require.Len(t, found, 1)
		require.Equal(t, id, found[0].(map[string]any)["task_id"])
		require.Equal(t, "you", found[0].(map[string]any)["waits_for"])

		report := call(t, s, "task_report", fmt.Sprintf(`{"task_id":%q}`, id)).ok()
		require.Equal(t, "awaiting_user_confirmation", report.fields["state"])
		require.Equal(t, []any{"interpret_reply"}, report.fields["decisions"])
		require.Equal(t, []any{"issue_refund"}, report.fields["not_happened"])
		require.Contains(t, report.fields["permitted"], "ask_again")
		require.Contains(t, report.text, `{"fact":"order_owner","status":"verified"}`)

		view := call(t, s, "task_project", fmt.Sprintf(`{"task_id":%q,"decision":"interpret_reply"}`, id)).ok()
		version := int(view.fields["state_version"].(float64))
		require.Contains(t, view.text, "Does this message amount to explicit confirmation?")
		require.Contains(t, view.text, "task_propose")
		require.NotContains(t, view.fields["prompt"], id, "a view does not name its task")

		done := call(t, s, "task_propose", proposal(id, version, "ask_again", `{"text":"Shall I?"}`)).ok()
		require.Equal(t, float64(version+1), done.fields["state_version"])
		require.Equal(t, false, done.fields["replayed"])
		require.Len(t, done.fields["offers"], 1)
		again := call(t, s, "task_propose", proposal(id, version, "ask_again", `{"text":"Shall I?"}`)).ok()
		require.Equal(t, true, again.fields["replayed"], "the same call again, as a client that lost the answer makes it")
		require.Equal(t, done.fields["state_version"], again.fields["state_version"])

		stale := call(t, s, "task_propose", proposal(id, version, "confirm_refund", confirmed)).refused("stale_version")
		require.Equal(t, float64(version+1), stale.refusal()["state_version"])

		history := call(t, s, "task_history", fmt.Sprintf(`{"task_id":%q}`, id)).ok()
		entries := history.fields["entries"].([]any)
		require.Equal(t, "ask_again", entries[len(entries)-1].(map[string]any)["event"])
		require.Equal(t, "model", entries[len(entries)-1].(map[string]any)["by"])
		refusals := history.fields["refused"].([]any)
		require.Len(t, refusals, 1)
		require.Equal(t, "stale_version", refusals[0].(map[string]any)["code"])
		require.Equal(t, true, refusals[0].(map[string]any)["yours"])
		operator, err := d.ctl.Resume(t.Context(), id, guard.Principal{ID: "olga", Roles: []string{guard.OperatorRole}})
		require.NoError(t, err)
		_, err = operator.ProposeRaw(t.Context(), "no_such_event", []byte(`{}`))
		require.NoError(t, err)
		refusals = call(t, s, "task_history", fmt.Sprintf(`{"task_id":%q}`, id)).ok().fields["refused"].([]any)
		require.Equal(t, false, refusals[1].(map[string]any)["yours"])
		for _, r := range []result{report, view, history} {
			require.NotContains(t, r.text, "secret_reference")
		}
	})
}

// TestNoConfirmation proposes what needs a person's word, and is told to have the person asked; no tool can say yes for them,
// and an effect is intended by nobody.
func TestNoConfirmation(t *testing.T) {
	d := openDesk(t)
	s := d.stdio(d.srv, both, sessionless)
	id := d.refunds("123")
	view := call(t, s, "task_project", fmt.Sprintf(`{"task_id":%q,"decision":"interpret_reply"}`, id)).ok()
	version := int(view.fields["state_version"].(float64))
	r := call(t, s, "task_propose", proposal(id, version, "confirm_refund", confirmed)).refused("ask")
	require.NotEmpty(t, r.refusal()["question"])
	require.Contains(t, r.refusal()["permitted"], "cancel_refund")
	require.Contains(t, r.text, "changed nothing")
	for _, bad := range []struct{ event, payload, code string }{
		{"confirm_refund", `{"order_id":"123","amount":{"minor":430000,"currency":"EUR"}}`, "offer_differs"},
		{"confirm_refund", `{"order_id":"123","amount":{"minor":4300,"currency":"EUR"},"confirmed":true}`, "unknown_field"},
		{"confirm_refund", `{"order_id":"123","order_id":"124","amount":{"minor":4300,"currency":"EUR"}}`, "duplicate_key"},
		{"request_refund", `{}`, "not_allowed"},
		{"observe", `{}`, "not_allowed"},
		{"user_confirmation", `{"by":"trader","text":"yes"}`, "not_allowed"},
		{"issue_refund", `{}`, "not_allowed"},
	} {
		call(t, s, "task_propose", proposal(id, version, bad.event, bad.payload)).refused(bad.code)
	}
	snap, _, err := d.ctl.Latest(t.Context(), id, guard.Principal{ID: "trader"})
	require.NoError(t, err)
	require.False(t, snap.Emitted(refund.IssueRefund))
	require.Equal(t, refund.AwaitingUserConfirmation, snap.State)
}

// TestNotShown takes an answer only to what this agent was shown, at that version, for that decision.
func TestNotShown(t *testing.T) {
	d := openDesk(t)
	s := d.stdio(d.srv, both, sessionless)
	id := d.refunds("123")
	call(t, s, "task_propose", proposal(id, 2, "ask_again", `{"text":"x"}`)).refused(mcp.CodeNotShown)
	view := call(t, s, "task_project", fmt.Sprintf(`{"task_id":%q,"decision":"interpret_reply"}`, id)).ok()
	version := int(view.fields["state_version"].(float64))
	call(t, s, "task_propose", proposal(id, version+1, "ask_again", `{"text":"x"}`)).refused(mcp.CodeNotShown)
	restarted := d.stdio(d.server(d.ctl), both, sessionless)
	call(t, restarted, "task_propose", proposal(id, version, "ask_again", `{"text":"x"}`)).refused(mcp.CodeNotShown)
}

// TestOtherTasks treats a stranger's task as one that is not there.
func TestOtherTasks(t *testing.T) {
	d := openDesk(t)
	id := d.refunds("123")
	s := d.stdio(d.srv, mcp.Grant{Agent: "stranger", Scopes: both.Scopes}, sessions)
	for _, task := range []string{id, "no_such_task"} {
		for tool, more := range map[string]string{"task_report": "", "task_history": "", "task_project": `,"decision":"interpret_reply"`,
			"task_propose": `,"state_version":2,"decision":"interpret_reply","event":"ask_again","payload":{"text":"x"}`} {
			r := call(t, s, tool, fmt.Sprintf(`{"task_id":%q%s}`, task, more)).refused(mcp.CodeNoTask)
			require.Equal(t, "Refused (no_task): there is no such task for you; task_find lists yours. The call changed nothing.", r.text)
		}
	}
	require.Empty(t, call(t, s, "task_find", `{"which":"owned"}`).ok().fields["tasks"])
}

// TestNotNow refuses a decision that does not arise, or is not about this kind of task.
func TestNotNow(t *testing.T) {
	d := openDesk(t)
	s := d.stdio(d.srv, both, sessions)
	id := d.refunds("123")
	view := call(t, s, "task_project", fmt.Sprintf(`{"task_id":%q,"decision":"interpret_reply"}`, id)).ok()
	call(t, s, "task_propose", proposal(id, int(view.fields["state_version"].(float64)), "cancel_refund", `{"text":"no"}`)).ok()
	r := call(t, s, "task_project", fmt.Sprintf(`{"task_id":%q,"decision":"interpret_reply"}`, id)).refused(mcp.CodeNotNow)
	require.Contains(t, r.text, "cancelled")
	call(t, s, "task_project", fmt.Sprintf(`{"task_id":%q,"decision":"freeze"}`, id)).refused("unknown_decision")
	call(t, s, "working_state_get", "").ok()
	call(t, s, "task_project", `{"task_id":"working_state:trader","decision":"interpret_reply"}`).refused(mcp.CodeOtherTask)
	require.Equal(t, true, call(t, s, "task_report", fmt.Sprintf(`{"task_id":%q}`, id)).ok().fields["final"])
}

// TestFind lists what waits and what is owned, of one machine and state, and says how much more there is.
func TestFind(t *testing.T) {
	d := openDesk(t)
	s := d.stdio(d.srv, both, sessions)
	call(t, s, "working_state_set", set("k", "v", "")).ok()
	for i := range 25 {
		d.refunds(fmt.Sprint(i))
	}
	for arguments, want := range map[string][2]int{
		`{}`:                            {20, 5},
		`{"limit":1}`:                   {1, 24},
		`{"limit":100}`:                 {25, 0},
		`{"which":"owned"}`:             {20, 5},
		`{"which":null}`:                {20, 5},
		`{"which":"owned","limit":100}`: {25, 0}, // and not the working state
		`{"machine":"refund","state":"awaiting_user_confirmation"}`: {20, 5},
		`{"machine":"other"}`:            {0, 0},
		`{"state":"dispatching_refund"}`: {0, 0},
	} {
		r := call(t, s, "task_find", arguments).ok()
		require.Len(t, r.fields["tasks"], want[0], arguments)
		require.Equal(t, float64(want[1]), r.fields["more"], arguments)
	}
	require.Len(t, call(t, s, "task_find", fmt.Sprintf(`{"limit":%d}`, mcp.MaxFound)).ok().fields["tasks"], 25)
}

// TestHistoryLimit holds the limit of the history on both sides.
func TestHistoryLimit(t *testing.T) {
	d := openDesk(t)
	s := d.stdio(d.srv, both, sessions)
	id := d.refunds("123")
	for limit, want := range map[int]int{1: 1, mcp.MaxHistory: 3} {
		r := call(t, s, "task_history", fmt.Sprintf(`{"task_id":%q,"limit":%d}`, id, limit)).ok()
		require.LessOrEqual(t, len(r.fields["entries"].([]any)), want)
		require.NotEmpty(t, r.fields["entries"])
	}
	call(t, s, "task_history", fmt.Sprintf(`{"task_id":%q,"limit":%d}`, id, mcp.MaxHistory+1)).refused("invalid")
}

// TestRoles gives an agent roles, and never the operator's.
func TestRoles(t *testing.T) {
	d := openDesk(t, func(o *mcp.Options) {
		o.Principal = func(agent string) guard.Principal {
			return guard.Principal{ID: agent, Roles: []string{guard.OperatorRole}}
		}
	})
	s := d.stdio(d.srv, both, sessions)
	for _, tool := range all {
		call(t, s, tool, `{}`).refused(mcp.CodeBroken)
	}
	require.Contains(t, d.log.String(), "nothing that a model can call is an operator's")
}

// TestSizes holds the limit of a call's arguments on both sides.
func TestSizes(t *testing.T) {
	d := openDesk(t)
	s := d.http(d.srv, both, sessionless)
	sized := func(n int) string {
		head, tail := `{"key":"k","reason":"r","value":"`, `"}`
		return head + strings.Repeat("a", n-len(head)-len(tail)) + tail
	}
	require.Equal(t, true, call(t, s, "working_state_set", sized(machineProposal-200)).ok().fields["truncated"])
	call(t, s, "working_state_set", sized(machineProposal+1)).refused("too_large")
	call(t, s, "working_state_set", sized(mcp.MaxArguments)).refused("too_large")
	r := call(t, s, "working_state_set", sized(mcp.MaxArguments+1)).refused("too_large")
	require.Contains(t, r.text, fmt.Sprint(mcp.MaxArguments))
	_, err := tryCall(t, s, "working_state_set", sized(mcp.MaxBody+1))
	require.ErrorContains(t, err, "Request Entity Too Large")
}

// machineProposal is the limit of a payload; as it is stored it has more members than as it was sent.
const machineProposal = machine.MaxProposal

// TestTimeout tells of a call that took too long that it may have been done.
func TestTimeout(t *testing.T) {
	d := openDesk(t, func(o *mcp.Options) { o.Within = time.Nanosecond })
	s := d.stdio(d.srv, both, sessions)
	id := d.refunds("123")
	r := call(t, s, "task_report", fmt.Sprintf(`{"task_id":%q}`, id)).refused(mcp.CodeTimeout)
	require.Contains(t, r.text, "may have been done")
}
