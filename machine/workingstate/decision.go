package workingstate

import (
	"context"
	"fmt"
	"time"

	projection "github.com/pawlgo/pawl/context"
	"github.com/pawlgo/pawl/machine"
)

// WhatToChange is the model call that decides which commitment must change, and nothing else: what happened comes in as quotes.
// Make its view with [Agent.View], which leaves out what has expired.
var WhatToChange = DecideChange(Machine)

// WhatToLeave is the model call at the end of a wake-up: what the next one must know.
var WhatToLeave = DecideHandoff(Machine)

// DecideChange is [WhatToChange] for a machine that was made by [New].
func DecideChange(m *machine.Machine[Table]) *projection.Decision {
	return projection.MustDefine(m, projection.Spec[Table]{
		Name:     "change_commitments",
		In:       []machine.State{Live},
		Goal:     func(Table) string { return "Keep exactly the commitments that hold now" },
		Stages:   map[machine.State]string{Live: "in force"},
		Fields:   []projection.Field[Table]{{Label: "keys that hold", Value: func(t Table) any { return keysThatHold(t) }}},
		Question: "Which commitment must be made, changed or retired because of what is quoted?",
		Allow: []projection.Answer{
			{Event: SetKey, Means: "a commitment is made, or changed"},
			{Event: ClearKey, Means: "a commitment no longer holds"},
		},
		Other: []projection.Translation[Table]{
			{Words: &projection.TraditionalChinese, Texts: decisionsTraditional, Goal: func(Table) string { return "只保留此刻有效的承諾" }},
			{Words: &projection.SimplifiedChinese, Texts: decisionsSimplified, Goal: func(Table) string { return "只保留此刻有效的承诺" }},
		},
	})
}

// DecideHandoff is [WhatToLeave] for a machine that was made by [New].
func DecideHandoff(m *machine.Machine[Table]) *projection.Decision {
	return projection.MustDefine(m, projection.Spec[Table]{
		Name: "leave_handoff",
		In:   []machine.State{Live},
		Goal: func(Table) string {
			return "Leave what the next wake-up must know, and nothing that it can read elsewhere"
		},
		Stages: map[machine.State]string{Live: "in force"},
		Fields: []projection.Field[Table]{
			{Label: "keys that hold", Value: func(t Table) any { return keysThatHold(t) }},
			{Label: "handoff", Value: func(t Table) any { return handoffLeft(t) }},
		},
		Question: "What must the next wake-up know?",
		Allow: []projection.Answer{
			{Event: LeaveHandoff, Means: "it must know this; complete only with evidence, blocked only with a blocker"},
			{Event: RetireHandoff, Means: "the handoff is dealt with, and nothing new is to be known"},
		},
		Other: []projection.Translation[Table]{
			{Words: &projection.TraditionalChinese, Texts: decisionsTraditional, Goal: func(Table) string { return "只留下次喚醒必須知道、別處讀不到的事" }},
			{Words: &projection.SimplifiedChinese, Texts: decisionsSimplified, Goal: func(Table) string { return "只留下次唤醒必须知道、别处读不到的事" }},
		},
	})
}

var decisionsTraditional = map[string]string{
	"in force":       "生效中",
	"keys that hold": "有效的鍵",
	"handoff":        "交接",
	"Which commitment must be made, changed or retired because of what is quoted?": "依引用的內容，哪一項承諾必須訂立、變更或撤銷？",
	"a commitment is made, or changed":                                             "訂立或變更一項承諾",
	"a commitment no longer holds":                                                 "一項承諾不再有效",
	"What must the next wake-up know?":                                             "下次喚醒必須知道什麼？",
	"it must know this; complete only with evidence, blocked only with a blocker":  "必須知道這件事；complete 須附 evidence，blocked 須附 blocker",
	"the handoff is dealt with, and nothing new is to be known":                    "交接事項已處理，也沒有新的事要知道",
}

var decisionsSimplified = map[string]string{
	"in force":       "生效中",
	"keys that hold": "有效的键",
	"handoff":        "交接",
	"Which commitment must be made, changed or retired because of what is quoted?": "依引用的内容，哪一项承诺必须订立、变更或撤销？",
	"a commitment is made, or changed":                                             "订立或变更一项承诺",
	"a commitment no longer holds":                                                 "一项承诺不再有效",
	"What must the next wake-up know?":                                             "下次唤醒必须知道什么？",
	"it must know this; complete only with evidence, blocked only with a blocker":  "必须知道这件事；complete 须附 evidence，blocked 须附 blocker",
	"the handoff is dealt with, and nothing new is to be known":                    "交接事项已处理，也没有新的事要知道",
}

// keysThatHold are the keys with what they hold. The value stands last: nothing that it contains can pass for the rest.
func keysThatHold(t Table) []string {
	keys, _ := t.Keys(time.Time{})
	lines := make([]string, len(keys))
	for i, k := range keys {
		e := t.States[k]
		lines[i] = fmt.Sprintf("%s, version %d%s: %s", k, e.Version, until(e.ExpiresAt), e.Value)
	}
	return lines
}

func handoffLeft(t Table) *string {
	if t.Handoff == nil {
		return nil
	}
	status := ""
	if t.Handoff.Status != "" {
		status = string(t.Handoff.Status) + ": "
	}
	line := status + t.Handoff.Note
	return &line
}

func until(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return ", until " + t.UTC().Format("01-02 15:04 MST")
}

// At is the table with only what holds at an instant.
func (t Table) At(now time.Time) Table {
	t = t.Clone()
	for k, e := range t.States {
		if !e.Live(now) {
			delete(t.States, k)
		}
	}
	if !t.Handoff.Live(now) {
		t.Handoff = nil
	}
	return t
}

// View is what a model sees for a decision about the working state: what holds now. Read its answer with [Agent.Answer].
// Errors are the [Committer]'s or the projection's.
func (a Agent) View(ctx context.Context, d *projection.Decision, said ...projection.Quote) (projection.View, error) {
	s, now, err := a.c.Latest(ctx, a.task, a.who)
	if err != nil {
		return projection.View{}, err
	}
	if t, ours := s.Data.(Table); ours {
		s.Data = t.At(now)
	}
	return d.View(s, a.who, now, said...)
}

// Answer proposes what a model answered to a view. Output in the wrong form, and an event that the view did not list, is an
// error that wraps guard.ErrForm and can be told with [projection.View.Refusal]; nothing was proposed then.
func (a Agent) Answer(ctx context.Context, v projection.View, output []byte) (machine.Outcome, error) {
	p, err := v.Read(output)
	if err != nil {
		return machine.Outcome{}, err
	}
	return a.propose(ctx, p)
}
