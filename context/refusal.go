package projection

// Refusal is why the answer before was refused, for a model to act on.
type Refusal struct {
	Code string
	Text string
}
