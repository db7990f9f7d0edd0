package replay

import (
	"fmt"
	"sync"

	"github.com/pawlgo/pawl/machine"
)

// Report is what a replay found. Parts that the data has no records for are nil. Its JSON is the last line of the output.
type Report struct {
	Domain     string      `json:"domain"`
	Gold       *GoldPart   `json:"gold"`
	Attempts   *Attempts   `json:"attempts"`
	Variations *Variations `json:"variations"`
	Wrong      *Refusals   `json:"wrong_writes"`
	Right      *Refusals   `json:"gold_equal_writes"`
	Unbound    *int        `json:"unbound_consent"`
	Rate       float64     `json:"conversations_per_second"`

	mu            sync.Mutex
	conversations int
	flaggedTasks  map[string]bool // gold tasks that break the policy themselves
	details       details
}

// GoldPart is about gold tasks.
type GoldPart struct {
	Tasks  int `json:"tasks"`
	Writes int `json:"writes"`
	Agree  int `json:"agree"`
	Equal  int `json:"final_state_equal"`
}

// Attempts are the writes of recorded conversations, against what the recorded tool did.
type Attempts struct {
	Total      int `json:"total"`
	Agree      int `json:"agree"`
	PolicyOnly int `json:"policy_only"` // refused for a rule that the tool does not know
	Differ     int `json:"differ"`
}

// Variations are the writes of made conversations, against what is expected.
type Variations struct {
	Writes          int `json:"writes"`
	Agree           int `json:"agree"`
	LegalRefused    int `json:"legal_refused"`
	IllegalAdmitted int `json:"illegal_admitted"`
	BareToolAccepts int `json:"bare_tool_accepts"` // illegal ones that the tool alone would have made
}

// Refusals are writes, and how many of them were refused on database facts.
type Refusals struct {
	Total   int `json:"total"`
	Refused int `json:"refused_by_facts"`
}

// details are what the table shows beside the JSON.
type details struct {
	policy     map[string]int             // refusals that only the policy asks for, by rule
	differ     []string                   // every other difference, by conversation
	lost       []string                   // recorded writes that could not be followed
	goldDiffer []string                   // gold tasks that came out otherwise
	varDiffer  []string                   // made writes that came out otherwise
	finals     []string                   // orders that ended otherwise after made writes
	illegal    int                        // refused writes
	offered    int                        // of those, in the view all the same
	awaited    int                        // of those, waiting for the customer's yes alone
	consents   map[string]map[consent]int // executed writes, by model
	examples   []string                   // executed writes that lacked a yes
	wrong      map[string]int             // refusals of writes that differ from gold, by code
	right      map[string]int             // refusals of writes that are equal to gold, by code
}

func newReport(domain string) *Report {
	return &Report{Domain: domain, flaggedTasks: map[string]bool{}, details: details{
		policy: map[string]int{}, consents: map[string]map[consent]int{}, wrong: map[string]int{}, right: map[string]int{}}}
}

func (r *Report) lock() func() { r.mu.Lock(); return r.mu.Unlock }

func (r *Report) goldTask(id string, flagged, agreed, equal bool) {
	defer r.lock()()
	if r.Gold == nil {
		r.Gold = &GoldPart{}
	}
	r.conversations++
	r.Gold.Tasks++
	if equal {
		r.Gold.Equal++
	}
	if flagged {
		r.flaggedTasks[id] = true
	}
	if !agreed || !equal {
		r.details.goldDiffer = append(r.details.goldDiffer, id)
	}
}

func (r *Report) goldWrite(agrees bool) {
	defer r.lock()()
	if r.Gold == nil {
		r.Gold = &GoldPart{}
	}
	r.Gold.Writes++
	if agrees {
		r.Gold.Agree++
	}
}

func (r *Report) variationWrite(v Variation, e Event, out machine.Outcome, offered bool) {
	defer r.lock()()
	if r.Variations == nil {
		r.Variations = &Variations{}
	}
	p, admits, legal := r.Variations, out.Kind == machine.Committed, e.Expect == "admit"
	p.Writes++
	if !legal && e.ToolOK {
		p.BareToolAccepts++
	}
	if !legal && !admits {
		r.illegal(offered, out)
	}
	switch {
	case admits == legal:
		p.Agree++
		return
	case legal:
		p.LegalRefused++
	default:
		p.IllegalAdmitted++
	}
	r.details.varDiffer = append(r.details.varDiffer, fmt.Sprintf("%s %s: %s to be %sed (%s): %s", v.ID, v.Operator, e.Tool, e.Expect, e.Rule, reason(out)))
}

// illegal counts a write that must not be, whether a model would have been shown it, and whether that only waits for a yes.
func (r *Report) illegal(offered bool, out machine.Outcome) {
	r.details.illegal++
	if offered {
		r.details.offered++
	}
	if offered && out.Kind == machine.Ask {
		r.details.awaited++
	}
}

func (r *Report) variationDone(v Variation, wrong []string) {
	defer r.lock()()
	r.conversations++
	for _, w := range wrong {
		r.details.finals = append(r.details.finals, v.ID+" "+v.Operator+": "+w)
	}
}

func (r *Report) lost(why string) { defer r.lock()(); r.details.lost = append(r.details.lost, why) }

func (r *Report) runDone() { defer r.lock()(); r.conversations++ }

func (r *Report) attempt(g *gate, a attempt) {
	defer r.lock()()
	if r.Attempts == nil {
		r.Attempts, r.Wrong, r.Right, r.Unbound = &Attempts{}, &Refusals{}, &Refusals{}, new(int)
	}
	e := a.run.Events[a.event]
	r.Attempts.Total++
	rule := g.ruleOf(a)
	if a.refused || a.unidentified {
		r.illegal(a.offered, a.out)
	}
	switch {
	case a.refused != e.OK && rule == "", a.refused && !e.OK:
		r.Attempts.Agree++
	case rule != "":
		r.Attempts.PolicyOnly++
		r.details.policy[rule]++
	default:
		r.Attempts.Differ++
		r.details.differ = append(r.details.differ, fmt.Sprintf("%s event %d: %s recorded ok=%v %.90s; %s", a.run.ID, a.event, e.Tool, e.OK, e.Result, reason(a.out)))
	}
	r.against(a, e)
	if e.OK {
		r.consents(a, e)
	}
}

// against counts what the facts say of executed writes that are right and of those that are not. Tasks whose gold breaks the
// policy itself are left out.
func (r *Report) against(a attempt, e Event) {
	if !e.OK || r.flaggedTasks[fmt.Sprintf("gold:%s:test:%d", a.run.Bench, a.run.Task)] {
		return
	}
	part, codes := r.Wrong, r.details.wrong
	if e.Gold {
		part, codes = r.Right, r.details.right
	}
	part.Total++
	if code := a.out.Code(); a.refused && code != machine.CodeNoTransition && code != machine.CodeForm {
		part.Refused++
		codes[code]++
	}
}

func (r *Report) consents(a attempt, e Event) {
	if r.details.consents[a.run.Model] == nil {
		r.details.consents[a.run.Model] = map[consent]int{}
	}
	r.details.consents[a.run.Model][a.consent]++
	if a.consent.unbound() {
		*r.Unbound++
		r.details.examples = append(r.details.examples, fmt.Sprintf("%s event %d, %s: %s %s", a.run.ID, a.event, a.consent, e.Tool, compact(e.Args)))
	}
}

// The rules about conversations that every domain has, and no tool.
const (
	ruleIdentified = "the customer is identified first"
	ruleTransfer   = "nothing follows a transfer"
)

// ruleOf is the rule that refused a write, when only the policy knows it: "" when it was admitted, or a tool would refuse it, too.
func (g *gate) ruleOf(a attempt) string {
	rule := ""
	if a.unidentified {
		rule = ruleIdentified
	}
	if !a.refused {
		return rule
	}
	for _, f := range a.out.Findings {
		switch {
		case g.customers(f):
			continue
		case f.Code == machine.CodeNoTransition && a.unidentified:
		case f.Code == machine.CodeNoTransition:
			rule = ruleTransfer
		default:
			rule = g.domain.Policy(f)
		}
		if rule == "" {
			return ""
		}
	}
	return rule
}

// reason is why a write was refused, on one line.
func reason(out machine.Outcome) string {
	s := string(out.Kind)
	for _, f := range out.Findings {
		s += fmt.Sprintf("; %s %s %.120s", f.Guard, f.Code, f.Text)
	}
	return s
}
