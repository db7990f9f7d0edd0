package replay

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"sync"
)

// maxLine is the longest line of a data file, in bytes.
const maxLine = 4 << 20

// stream reads a file of one record a line and works on many of them at once; only as many are in memory. A file that is not there
// has no records.
func stream[T any](ctx context.Context, fsys fs.FS, name string, workers int, work func(context.Context, T) error) error {
	f, err := fsys.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer f.Close()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	lines := make(chan []byte)
	var wg sync.WaitGroup
	for range workers {
		wg.Go(func() {
			for line := range lines {
				if err := one(ctx, line, work); err != nil {
					cancel(fmt.Errorf("%s: %w", name, err))
				}
			}
		})
	}
	err = feed(ctx, f, lines)
	close(lines)
	wg.Wait()
	if cause := context.Cause(ctx); cause != nil {
		return cause
	}
	return err
}

func one[T any](ctx context.Context, line []byte, work func(context.Context, T) error) error {
	if ctx.Err() != nil {
		return nil // another one has failed
	}
	var record T
	if err := json.Unmarshal(line, &record); err != nil {
		return err
	}
	return work(ctx, record)
}

func feed(ctx context.Context, r io.Reader, lines chan<- []byte) error {
	s := bufio.NewScanner(r)
	s.Buffer(make([]byte, 0, 64<<10), maxLine)
	for s.Scan() {
		if len(s.Bytes()) == 0 {
			continue
		}
		select {
		case lines <- append([]byte(nil), s.Bytes()...):
		case <-ctx.Done():
			return nil
		}
	}
	return s.Err()
}
