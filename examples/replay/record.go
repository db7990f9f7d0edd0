package replay

import "encoding/json"

// Call is one call of a tool.
type Call struct {
	Tool string          `json:"n"`
	Args json.RawMessage `json:"a"`
}

// Event is one line of a conversation. Which fields are set depends on Type; see the README of the data.
type Event struct {
	Type string `json:"t"`
	Call
	Text     string   `json:"x"`
	Consent  string   `json:"cf"`  // what a pattern says of the customer's full text: strict, weak, mixed or none
	IDs      []string `json:"ids"` // named in the full text
	OK       bool     `json:"ok"`
	Result   string   `json:"r"`
	Write    int      `json:"w"`
	Gold     bool     `json:"gold"`
	NoResult int      `json:"nores"`
	Differs  any      `json:"diff"`

	ID       string          `json:"id"`
	Writes   []Call          `json:"writes"`
	Confirms []string        `json:"confirms"`
	Declines []string        `json:"declines"`
	Proposal string          `json:"p"`
	Expect   string          `json:"expect"`
	Rule     string          `json:"rule"`
	ToolOK   bool            `json:"tool_ok"`
	Path     []string        `json:"path"`
	Value    json.RawMessage `json:"value"`
}

// The types of events.
const (
	Customer  = "u"
	Assistant = "a"
	ToolCall  = "c"
	Listed    = "p"
	Attempted = "w"
	Changed   = "x"
)

// Run is a conversation of a real model with a simulated customer.
type Run struct {
	ID     string  `json:"run"`
	Bench  string  `json:"bench"`
	Model  string  `json:"model"`
	Task   int     `json:"task"`
	User   string  `json:"user_id"`
	Events []Event `json:"events"`
}

// Variation is a conversation that was made, legal or not in a known place.
type Variation struct {
	ID          string            `json:"id"`
	Operator    string            `json:"op"`
	Legal       bool              `json:"legal"`
	User        string            `json:"user_id"`
	FinalStatus map[string]string `json:"final_status"`
	Events      []Event           `json:"events"`
}

// Gold is what should be done for a customer, and what the databases then are.
type Gold struct {
	Bench   string          `json:"bench"`
	Split   string          `json:"split"`
	Task    json.Number     `json:"task"`
	User    string          `json:"user_id"`
	Actions []Action        `json:"actions"`
	Final   json.RawMessage `json:"final_diff"`
}

// Action is one step of a gold task.
type Action struct {
	Call
	Kind        string   `json:"kind"` // read, write or transfer
	OK          bool     `json:"ok"`
	Flags       []string `json:"policy_flags"`
	Conditional []string `json:"policy_conditional"`
}
