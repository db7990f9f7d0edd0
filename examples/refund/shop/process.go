package shop

import (
	"context"
	"io"
	"os/exec"

	"github.com/pawlgo/pawl/examples/child"
)

// Main is the whole of a child process that Launch started. It runs until ctx is done, SIGINT or SIGTERM comes, or in ends.
func Main(ctx context.Context, in io.Reader, out io.Writer) error {
	return child.Run(ctx, in, out, func(ctx context.Context, config Config, ready func(url string)) error {
		config.Ready = ready
		return Serve(ctx, config)
	})
}

// Launch starts cmd, which must come to call Main, and returns when the shop answers; see [child.Launch]. config.Now and
// config.Ready do not reach the child.
func Launch(ctx context.Context, cmd *exec.Cmd, config Config) (*child.Process, error) {
	return child.Launch(ctx, cmd, config)
}
