package projection_test

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	projection "github.com/pawlgo/pawl/context"
	"github.com/pawlgo/pawl/guard"
	"github.com/pawlgo/pawl/machine"
)

// loop asks a script, against the pure machine.
func loop(t *testing.T, s *machine.Snapshot[any], answers ...string) (projection.Loop, *[]projection.Turn) {
	d, m := define(t, deskSpec()), machine.Erase(desk)
	var turns []projection.Turn
	return projection.Loop{
		Project: func(context.Context) (projection.View, error) { return d.View(*s, ann, noon) },
		Model: func(_ context.Context, v projection.View) ([]byte, error) {
			if len(answers) == 0 {
				return nil, errors.New("the script is over")
			}
			next := answers[0]
			answers = answers[1:]
			return []byte(next), nil
		},
		Answer: func(_ context.Context, v projection.View, raw []byte) (machine.Outcome, error) {
			p, err := v.Read(raw)
			if err != nil {
				return machine.Outcome{}, err
			}
			next, out := m.Step(*s, machine.Input{Proposal: p, Principal: ann, Received: noon, Now: noon})
			*s = next
			return out, nil
		},
		Record: func(turn projection.Turn) { turns = append(turns, turn) },
	}, &turns
}

// TestLoop: two refusals of different kinds, each told to the model, and then a commit.
func TestLoop(t *testing.T) {
	s := seen(t, waiting(t), stock, "I9", 0, noon)
	before := s.Version
	l, turns := loop(t, &s, "I would cancel.", `{"event":"choose","payload":{"items":["I9"]}}`, `{"event":"cancel","payload":{"text":"gone"}}`)
	out, err := l.Run(t.Context())
	require.NoError(t, err)
	require.Equal(t, machine.Committed, out.Kind)
	require.Equal(t, stateClosed, s.State)
	require.Equal(t, before+1, s.Version)
	require.Len(t, *turns, 3)
	require.Equal(t, "prose", (*turns)[0].Refusal.Code)
	require.Equal(t, "not_in_stock", (*turns)[1].Refusal.Code)
	require.Nil(t, (*turns)[2].Refusal)
	require.NotContains(t, (*turns)[0].View.Markdown(), "refused:")
	require.Contains(t, (*turns)[1].View.Markdown(), "- prose: the answer must be JSON alone")
	require.Contains(t, (*turns)[2].View.Markdown(), "- not_in_stock: an item is out of stock")
	require.NotContains(t, (*turns)[2].View.Markdown(), "prose", "only the last refusal is told")
	require.Equal(t, (*turns)[2].View.Digest(), out.Entry().View, "what was shown is in the history")
}

// TestLoopIsBounded: after so many refusals nothing has changed, and the loop says why.
func TestLoopIsBounded(t *testing.T) {
	for _, tries := range []int{0, 1, 2} {
		s := waiting(t)
		before := s.Version
		l, turns := loop(t, &s, "no", "no", "no", "no", "no")
		l.Tries = tries
		_, err := l.Run(t.Context())
		require.ErrorIs(t, err, projection.ErrTries)
		require.ErrorIs(t, err, guard.ErrForm)
		want := tries
		if tries == 0 {
			want = projection.DefaultTries
		}
		require.Len(t, *turns, want)
		require.Equal(t, before, s.Version)
	}
}

// TestLoopEnds at once when something is broken that is not of the model's making.
func TestLoopEnds(t *testing.T) {
	broken := errors.New("disk full")
	for name, change := range map[string]func(*projection.Loop){
		"project": func(l *projection.Loop) {
			l.Project = func(context.Context) (projection.View, error) { return projection.View{}, broken }
		},
		"model": func(l *projection.Loop) {
			l.Model = func(context.Context, projection.View) ([]byte, error) { return nil, broken }
		},
		"answer": func(l *projection.Loop) {
			l.Answer = func(context.Context, projection.View, []byte) (machine.Outcome, error) {
				return machine.Outcome{}, broken
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := waiting(t)
			l, turns := loop(t, &s, "no", "no", "no")
			change(&l)
			_, err := l.Run(t.Context())
			require.ErrorIs(t, err, broken)
			require.NotErrorIs(t, err, projection.ErrTries)
			require.LessOrEqual(t, len(*turns), 1)
		})
	}
	s := waiting(t)
	l, turns := loop(t, &s, "no")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := l.Run(ctx)
	require.ErrorIs(t, err, context.Canceled)
	require.Empty(t, *turns)
}

// TestLoopReprojects: what moved meanwhile is shown, and a decision that no longer arises ends the loop.
func TestLoopReprojects(t *testing.T) {
	s := waiting(t)
	l, turns := loop(t, &s, "no", "no")
	answer := l.Answer
	l.Answer = func(ctx context.Context, v projection.View, raw []byte) (machine.Outcome, error) {
		s = propose(t, s, cancel.With(words{Text: "by hand"}), noon)
		return answer(ctx, v, raw)
	}
	_, err := l.Run(t.Context())
	require.ErrorIs(t, err, projection.ErrNotNow)
	require.Len(t, *turns, 1)
}
