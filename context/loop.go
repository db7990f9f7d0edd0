package projection

import (
	"context"
	"errors"
	"fmt"

	"github.com/pawlgo/pawl/machine"
)

// DefaultTries is how often a Loop asks its model when it does not say.
const DefaultTries = 3

// ErrTries is wrapped when every try of a Loop was refused. What was refused changed nothing.
var ErrTries = errors.New("every answer was refused")

// Loop asks a model until one of its answers is committed: project, ask, propose; on refusal, project again with the
// refusal, and so on for a bounded number of tries. The model is a function, so it works with any client. Safe for
// concurrent use if its functions are.
type Loop struct {
	// Project makes the view of the newest state.
	Project func(context.Context) (View, error)
	// Model is given a view and returns its raw answer, in any shape that View.Read takes.
	Model func(context.Context, View) ([]byte, error)
	// Answer reads and proposes the raw answer to the view. An error that [View.Refusal] explains is told to the model; any
	// other ends the loop.
	Answer func(context.Context, View, []byte) (machine.Outcome, error)
	// Record, when set, is told of each try.
	Record func(Turn)
	// Tries is the most that the model is asked; 0: DefaultTries.
	Tries int
}

// Turn is one try of a Loop.
type Turn struct {
	Try     int // from 1
	View    View
	Raw     []byte
	Outcome machine.Outcome
	Err     error    // nil when the answer was committed
	Refusal *Refusal // what the model is told; nil when the loop has ended
}

// Run is the outcome that was committed. Errors wrap [ErrTries] and the last refusal, or are those of Project, Model,
// Answer or the context; then the outcome is the last one.
func (l Loop) Run(ctx context.Context) (machine.Outcome, error) {
	tries := l.Tries
	if tries <= 0 {
		tries = DefaultTries
	}
	var last Turn
	for try := 1; try <= tries; try++ {
		if err := ctx.Err(); err != nil {
			return last.Outcome, err
		}
		turn, err := l.turn(ctx, try, last.Refusal)
		if err != nil {
			return turn.Outcome, fmt.Errorf("try %d: %w", try, err)
		}
		if l.Record != nil {
			l.Record(turn)
		}
		if turn.Err == nil {
			return turn.Outcome, nil
		}
		if turn.Refusal == nil {
			return turn.Outcome, fmt.Errorf("try %d: %w", try, turn.Err)
		}
		last = turn
	}
	return last.Outcome, fmt.Errorf("%w %d times: %w", ErrTries, tries, last.Err)
}

func (l Loop) turn(ctx context.Context, try int, before *Refusal) (Turn, error) {
	turn := Turn{Try: try}
	var err error
	if turn.View, err = l.Project(ctx); err != nil {
		return turn, err
	}
	if before != nil {
		if turn.View, err = turn.View.After(*before); err != nil {
			return turn, err
		}
	}
	if turn.Raw, err = l.Model(ctx, turn.View); err != nil {
		return turn, err
	}
	turn.Outcome, turn.Err = l.Answer(ctx, turn.View, turn.Raw)
	if turn.Err == nil {
		turn.Err = turn.Outcome.Err()
	}
	if r, ok := turn.View.Refusal(turn.Err); ok {
		turn.Refusal = &r
	}
	return turn, nil
}
