// Package desk is the agent service of the example: it holds the store, talks to the shop and to a model, and is reached over
// HTTP on loopback by the story that plays it.
package desk

import (
	"context"
	"errors"
	"io"
	"os/exec"
	"time"

	"github.com/pawlgo/pawl/examples/child"
)

// TaskID is the task of the story.
const TaskID = "refund_order_123"

// Config is what a desk is given when it starts.
type Config struct {
	Dir         string        `json:"dir"`  // of the store
	Shop        string        `json:"shop"` // URL
	Secret      []byte        `json:"secret"`
	ClockOffset time.Duration `json:"clock_offset_ns,omitempty"` // how far the story's time is from the machine's
	Worker      bool          `json:"worker,omitempty"`          // perform effects and fire timers all the time
	ModelURL    string        `json:"model_url,omitempty"`       // "" plays the script
	Model       string        `json:"model,omitempty"`
	APIKey      string        `json:"api_key,omitempty"`
}

func (c Config) check() error {
	switch {
	case c.Dir == "":
		return errors.New("desk: no directory for the store")
	case c.Shop == "":
		return errors.New("desk: no shop")
	}
	return nil
}

// Main is the whole of a child process that Launch started.
func Main(ctx context.Context, in io.Reader, out io.Writer) error {
	return child.Run(ctx, in, out, Serve)
}

// Launch starts cmd, which must come to call Main, and returns when the desk answers; see [child.Launch].
func Launch(ctx context.Context, cmd *exec.Cmd, config Config) (*child.Process, error) {
	return child.Launch(ctx, cmd, config)
}
