package guard

import "slices"

// Actor says what kind of party proposes. The zero Actor is nobody and may propose nothing.
type Actor string

// The actors. Timer, Worker and Observer are the controller's own hands: proposals that come from outside
// in their name are refused.
const (
	Model    Actor = "model"    // a language model; what a proposal is when it does not say
	User     Actor = "user"     // a person, through the service's own surface
	Operator Actor = "operator" // a person with the operator role
	Timer    Actor = "timer"    // a deadline that came due
	Worker   Actor = "worker"   // the worker that performs effects
	Observer Actor = "observer" // evidence that drives an edge
)

// Outside tells whether the actor can be somebody outside the controller.
func (a Actor) Outside() bool { return a == Model || a == User || a == Operator }

// OperatorRole is the role that a principal needs to act as [Operator].
const OperatorRole = "operator"

// Principal is who is signed in, as the service authenticated them. The zero Principal is nobody: it owns
// nothing and may do nothing.
type Principal struct {
	ID    string   `json:"id"`
	Roles []string `json:"roles,omitempty"`
}

// Has tells whether the principal has the role. Nobody has any.
func (p Principal) Has(role string) bool { return p.ID != "" && slices.Contains(p.Roles, role) }
