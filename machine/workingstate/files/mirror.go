package files

import (
	"context"
	"fmt"
	"strings"
	"sync"

	"github.com/pawlgo/pawl/guard"
	"github.com/pawlgo/pawl/machine"
	ws "github.com/pawlgo/pawl/machine/workingstate"
)

// MaxCatchUp is how many changes a mirror writes at most when its file is behind: those of a time without it.
const MaxCatchUp = 1000

// mirror writes the files of each agent after its commits.
type mirror struct {
	ws.Committer
	dir     string
	problem func(error)

	mu   sync.Mutex
	last map[string]uint64 // by agent, the version that its files hold
}

// Mirror is a committer that keeps the files in dir up to date: give it to [ws.NewAgent] in place of the controller. A commit
// stands whether or not its files could be written; problem hears when they could not, and the next commit writes what is
// missing. Nil hears nothing. It writes in the caller's time. Safe for concurrent use.
func Mirror(c ws.Committer, dir string, problem func(error)) ws.Committer {
	if problem == nil {
		problem = func(error) {}
	}
	return &mirror{Committer: c, dir: dir, problem: problem, last: map[string]uint64{}}
}

// Ensure implements [ws.Committer].
func (m *mirror) Ensure(ctx context.Context, t machine.Task, who guard.Principal) (bool, error) {
	started, err := m.Committer.Ensure(ctx, t, who)
	if started {
		m.write(ctx, t.ID, who)
	}
	return started, err
}

// Update implements [ws.Committer].
func (m *mirror) Update(ctx context.Context, task string, who guard.Principal, propose func(machine.Snapshot[any]) machine.Proposal) (machine.Outcome, error) {
	out, err := m.Committer.Update(ctx, task, who, propose)
	if out.Kind == machine.Committed {
		m.write(ctx, task, who)
	}
	return out, err
}

// UpdateRaw implements [ws.Committer].
func (m *mirror) UpdateRaw(ctx context.Context, task string, who guard.Principal, event string, payload []byte, dress func(machine.Proposal) machine.Proposal) (machine.Outcome, error) {
	out, err := m.Committer.UpdateRaw(ctx, task, who, event, payload, dress)
	if out.Kind == machine.Committed {
		m.write(ctx, task, who)
	}
	return out, err
}

// write brings the files of one agent up to date; those of other tasks are none of its business.
func (m *mirror) write(ctx context.Context, task string, who guard.Principal) {
	agent, ours := strings.CutPrefix(task, ws.Name+":")
	if !ours {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := m.sync(context.WithoutCancel(ctx), agent, who); err != nil {
		m.problem(fmt.Errorf("files of agent %s: %w", agent, err))
	}
}

func (m *mirror) sync(ctx context.Context, agent string, who guard.Principal) error {
	a, err := ws.NewAgent(m.Committer, agent)
	if err != nil {
		return err
	}
	a = a.As(who, guard.User)
	t, _, err := a.Table(ctx)
	if err != nil {
		return err
	}
	last, known := m.last[agent]
	if !known {
		if last, err = written(m.dir, agent); err != nil {
			return err
		}
	}
	news, err := a.Changes(ctx, int(min(t.Version-min(last, t.Version), MaxCatchUp)))
	if err != nil {
		return err
	}
	if err := Write(m.dir, agent, t, news); err != nil {
		return err
	}
	m.last[agent] = t.Version
	return nil
}

// written is the version of the newest change that an agent's history file holds.
func written(dir, agent string) (uint64, error) {
	changes, _, err := ReadHistory(dir, agent, 1)
	if err != nil || len(changes) == 0 {
		return 0, err
	}
	return changes[0].Version, nil
}
