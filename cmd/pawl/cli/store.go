package cli

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/pawlgo/pawl/store"
	"github.com/pawlgo/pawl/store/pebblestore"
)

func (a *App) storeCommand() *cobra.Command {
	c := a.group(&cobra.Command{
		Use:   "store",
		Short: "Verify, back up, restore, release and measure a store",
		Long:  `A store is a directory that one process at a time has open.`,
		Example: a.example(`
{} store verify --dir /var/lib/desk
{} store backup /backup/monday --dir /var/lib/desk
{} store restore /backup/monday --dir /var/lib/new
{} store release --dir /var/lib/new
{} store stats --dir /var/lib/desk`),
	})
	c.AddCommand(a.storeVerify(), a.storeBackup(), a.storeRestore(), a.storeRelease(), a.storeCount(), a.storeStats())
	return c
}

// maxProblems is how many problems verify tells; whoever has more has one.
const maxProblems = 1000

// problemRow is a problem in JSON.
type problemRow struct {
	Task    string `json:"task,omitempty"`
	Version uint64 `json:"version,omitempty"`
	What    string `json:"what"`
}

func (a *App) storeVerify() *cobra.Command {
	return &cobra.Command{
		Use:   "verify",
		Short: "Read everything and tell what is wrong",
		Long: `Read the whole store and hold it against itself: hash chains, checksums, indexes, timers, effects,
names. Nothing is changed. A problem ends it with exit code 7. Beside a running service the
service does the reading.`,
		Example: a.example(`
{} store verify
{} store verify -o json`),
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			return a.reading(c, func(s *source) error { return a.verify(c, s) })
		},
	}
}

func (a *App) verify(c *cobra.Command, s *source) error {
	out := &sheet{columns: []string{"TASK", "VERSION", "PROBLEM"}}
	found := 0
	p := a.begin("verify", 0)
	var broken error
	for problem, err := range s.Verify(c.Context()) {
		if broken = err; err != nil {
			break
		}
		if found++; found <= maxProblems {
			version := ""
			if problem.Version > 0 {
				version = strconv.FormatUint(problem.Version, 10)
			}
			out.add(problemRow(problem), problem.Task, version, problem.What)
		}
	}
	p.done()
	if err := a.show(out); err != nil || broken != nil {
		return errors.Join(broken, err)
	}
	if found > 0 {
		return &plainError{fmt.Sprintf("%d problems in store %s", found, a.dir), ErrCorrupt}
	}
	a.say("store %s is whole", a.dir)
	return nil
}

func (a *App) storeBackup() *cobra.Command {
	return &cobra.Command{
		Use:   "backup TO",
		Short: "Make a copy of a store, also while it serves",
		Long: `Make a consistent copy in a new directory, also while a service has the store open: then the
service makes it. The copy takes its name when it is whole. Opened or restored, it is a new
incarnation: its unsettled effects are looked up before anything is sent.`,
		Example: a.example(`{} store backup /backup/monday --dir /var/lib/desk`),
		Args:    cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			to, err := filepath.Abs(args[0])
			if err != nil {
				return err
			}
			return a.reading(c, func(s *source) error { return a.backup(c.Context(), s, to) })
		},
	}
}

func (a *App) backup(ctx context.Context, s *source, to string) error {
	if _, err := os.Lstat(to); err == nil {
		return &plainError{to + " is there already", fs.ErrExist}
	}
	if own, err := filepath.Abs(a.dir); err != nil || strings.HasPrefix(to, own+string(filepath.Separator)) {
		return errors.Join(Usage("%s is not outside the store", to), err)
	}
	p := a.begin("backup", 0)
	var err error
	if s.local != nil {
		err = s.local.Backup(ctx, to)
	} else {
		err = s.remote.Backup(ctx, to)
	}
	p.done()
	if err != nil {
		return err
	}
	size, err := sizeOf(to)
	if err != nil {
		return fmt.Errorf("the backup is made, but cannot be read by this user: %w", err)
	}
	return a.showOne(map[string]any{"backup": to, "bytes": size}, &sheet{rows: [][]string{{"backup", to}, {"bytes", strconv.FormatInt(size, 10)}}})
}

func (a *App) storeRestore() *cobra.Command {
	return &cobra.Command{
		Use:   "restore FROM",
		Short: "Make a store of a backup",
		Long: `Copy a backup to the directory of --dir, which must be new or empty, and open it there: it becomes a
new incarnation of the store, so nothing that the original may have sent is sent again
before it was looked up. The backup stays as it is.`,
		Example: a.example(`{} store restore /backup/monday --dir /var/lib/desk`),
		Args:    cobra.ExactArgs(1),
		RunE:    func(c *cobra.Command, args []string) error { return a.restore(c, args[0]) },
	}
}

func (a *App) restore(c *cobra.Command, from string) error {
	if a.dir == "" {
		return a.there(false)
	}
	names, err := entries(from)
	switch {
	case err != nil:
		return err
	case !isStore(names):
		return notFound("there is no backup in %s", from)
	case !slices.Contains(names, copyMark):
		return hint(Usage("%s is a store and no fresh backup", from), "make a backup of it, and restore that")
	}
	if there, err := entries(a.dir); err == nil && len(there) > 0 {
		return &plainError{a.dir + " is not empty", fs.ErrExist}
	}
	if err := a.copyStore(c.Context(), from, a.dir); err != nil {
		return fmt.Errorf("restore %s: %w", from, err)
	}
	return a.changing(c, false, func(st *pebblestore.Store) error {
		i := st.Info()
		return a.showOne(map[string]any{"store": a.dir, "incarnation": i.Incarnation},
			&sheet{rows: [][]string{{"store", a.dir}, {"incarnation", strconv.FormatUint(i.Incarnation, 10)}}})
	})
}

// copyMark is the file by which pebblestore knows a copy that has not been opened yet.
const copyMark = "PAWL-COPY"

// copyStore copies the files of a backup into a directory beside the new one, which takes its name when it is whole.
func (a *App) copyStore(ctx context.Context, from, to string) error {
	total, err := sizeOf(from)
	if err != nil {
		return err
	}
	p := a.begin("restore", total)
	defer p.done()
	to = filepath.Clean(to)
	partial := to + ".partial"
	if err := errors.Join(os.RemoveAll(partial), os.MkdirAll(partial, 0o755)); err != nil {
		return err
	}
	es, err := os.ReadDir(from)
	for _, e := range es {
		if err == nil {
			err = ctx.Err()
		}
		if err == nil && e.Type().IsRegular() && !strings.HasPrefix(e.Name(), "PAWL-HOLDER") {
			err = copyFile(filepath.Join(from, e.Name()), filepath.Join(partial, e.Name()), p)
		}
	}
	if err == nil {
		if err = os.Remove(to); errors.Is(err, fs.ErrNotExist) { // an empty directory gives way
			err = nil
		}
	}
	if err == nil {
		err = os.Rename(partial, to)
	}
	if err != nil {
		return errors.Join(err, os.RemoveAll(partial))
	}
	return syncDir(filepath.Dir(to))
}

func copyFile(from, to string, p *progress) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, counted{in, p})
	return errors.Join(err, out.Sync(), out.Close())
}

func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// sizeOf is how many bytes the files of a directory have.
func sizeOf(dir string) (size int64, err error) {
	err = filepath.WalkDir(dir, func(_ string, e fs.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() {
			return err
		}
		i, err := e.Info()
		if errors.Is(err, fs.ErrNotExist) {
			return nil // Pebble removes files while it serves
		}
		if err == nil {
			size += i.Size()
		}
		return err
	})
	return size, err
}

// statistics are the figures of a store in JSON.
type statistics struct {
	ID          string           `json:"id"`
	Incarnation uint64           `json:"incarnation"`
	Format      int              `json:"format"`
	Bytes       int64            `json:"bytes"`
	Tasks       int              `json:"tasks"`
	Open        int              `json:"open"`
	Waiting     int              `json:"waiting"`
	Machines    []machineFigures `json:"machines"`
	Unsettled   map[string]int   `json:"unsettled_effects"`
}

// machineFigures are the tasks of a machine in one state.
type machineFigures struct {
	Machine string `json:"machine"`
	State   string `json:"state"`
	Final   bool   `json:"final"`
	Tasks   int    `json:"tasks"`
}

func (a *App) storeStats() *cobra.Command {
	return &cobra.Command{
		Use:   "stats",
		Short: "Count tasks by machine and state, and effects without an outcome",
		Example: a.example(`
{} store stats
{} store stats -o json`),
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			return a.reading(c, func(s *source) error { return a.stats(c.Context(), s) })
		},
	}
}

func (a *App) stats(ctx context.Context, s *source) error {
	i := s.Info()
	st := statistics{ID: hex.EncodeToString(i.ID[:]), Incarnation: i.Incarnation, Format: i.Format, Machines: []machineFigures{}, Unsettled: map[string]int{}}
	p := a.begin("stats", 0)
	err := errors.Join(st.countTasks(ctx, s), st.countEffects(ctx, s))
	p.done()
	if err != nil {
		return err
	}
	if st.Bytes, err = sizeOf(a.dir); err != nil {
		return err
	}
	out := &sheet{rows: [][]string{
		{"store", st.ID}, {"incarnation", strconv.FormatUint(st.Incarnation, 10)}, {"format", strconv.Itoa(st.Format)},
		{"bytes", strconv.FormatInt(st.Bytes, 10)}, {"tasks", fmt.Sprintf("%d, %d of them not ended, %d waiting", st.Tasks, st.Open, st.Waiting)},
	}}
	for _, m := range st.Machines {
		state := m.State
		if m.Final {
			state += " (final)"
		}
		out.rows = append(out.rows, []string{m.Machine, fmt.Sprintf("%d %s", m.Tasks, state)})
	}
	for _, status := range []store.Status{store.Intent, store.Sent, store.Unknown} {
		if n := st.Unsettled[status.String()]; n > 0 {
			out.rows = append(out.rows, []string{"effects", fmt.Sprintf("%d %s", n, status)})
		}
	}
	return a.showOne(st, out)
}

// countTasks counts in the order of machine and state, in which the store lists.
func (st *statistics) countTasks(ctx context.Context, s *source) error {
	for q := (store.Query{}); ; {
		rows, next, err := s.Find(ctx, q)
		if err != nil {
			return err
		}
		for _, r := range rows {
			m := r.Meta
			st.Tasks++
			if !m.Final {
				st.Open++
			}
			if m.WaitsFor != "" {
				st.Waiting++
			}
			last := len(st.Machines) - 1
			if last < 0 || st.Machines[last].Machine != m.Machine || st.Machines[last].State != m.State {
				st.Machines = append(st.Machines, machineFigures{m.Machine, m.State, m.Final, 0})
				last++
			}
			st.Machines[last].Tasks++
		}
		if q.After = next; next == "" {
			return nil
		}
	}
}

func (st *statistics) countEffects(ctx context.Context, s *source) error {
	for after := ""; ; {
		es, next, err := s.Effects(ctx, after, 0)
		if err != nil {
			return err
		}
		for _, e := range es {
			st.Unsettled[e.Status.String()]++
		}
		if after = next; next == "" {
			return nil
		}
	}
}
