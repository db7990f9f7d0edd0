package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/pawlgo/pawl/store"
)

// change is one difference of two snapshots in JSON; what is missing on one side is null there.
type change struct {
	Path string           `json:"path"`
	Was  *json.RawMessage `json:"was"`
	Is   *json.RawMessage `json:"is"`
}

func (a *App) taskDiff() *cobra.Command {
	return &cobra.Command{
		Use:   "diff TASK [FROM [TO]]",
		Short: "Show what differs between two versions of a task",
		Long: `Show what differs between two versions of a task, value by value. Without versions these are the
newest and the one before; with one, that one and the newest.`,
		Example: a.example(`
{} task diff refund_order_123
{} task diff refund_order_123 3
{} task diff refund_order_123 3 4 -o json`),
		Args:              cobra.RangeArgs(1, 3),
		ValidArgsFunction: a.completeTask,
		RunE: func(c *cobra.Command, args []string) error {
			versions := make([]uint64, 2)
			for i, s := range args[1:] {
				v, err := strconv.ParseUint(s, 10, 64)
				if err != nil || v == 0 {
					return Usage("%s is no version: versions are whole numbers from 1", printable(s))
				}
				versions[i] = v
			}
			return a.reading(c, func(s *source) error { return a.diff(c, s, args[0], versions[0], versions[1]) })
		},
	}
}

func (a *App) diff(c *cobra.Command, s *source, task string, from, to uint64) error {
	is, _, err := a.load(c, s, task, to)
	if err != nil {
		return err
	}
	if from == 0 {
		from = is.Tip.Version - 1
	}
	was := store.Record{Snapshot: []byte("{}")}
	if from > 0 {
		if was, _, err = a.load(c, s, task, from); err != nil {
			return err
		}
	}
	before, err := leaves(was.Snapshot)
	if err != nil {
		return fmt.Errorf("task %s, version %d: %w", task, from, err)
	}
	after, err := leaves(is.Snapshot)
	if err != nil {
		return fmt.Errorf("task %s, version %d: %w", task, is.Tip.Version, err)
	}
	out := &sheet{columns: []string{"VALUE", fmt.Sprintf("VERSION %d", from), fmt.Sprintf("VERSION %d", is.Tip.Version)}}
	for _, d := range differences(before, after) {
		out.add(d, d.Path, text(d.Was), text(d.Is))
	}
	if len(out.rows) == 0 {
		a.say("nothing differs")
	}
	return a.show(out)
}

func text(v *json.RawMessage) string {
	if v == nil {
		return ""
	}
	return string(*v)
}

// differences are the values that differ, in order of their paths.
func differences(before, after map[string]json.RawMessage) (out []change) {
	both := maps.Clone(before)
	maps.Copy(both, after)
	for _, path := range slices.Sorted(maps.Keys(both)) {
		was, had := before[path]
		is, has := after[path]
		if had && has && bytes.Equal(was, is) {
			continue
		}
		d := change{Path: path}
		if had {
			d.Was = &was
		}
		if has {
			d.Is = &is
		}
		out = append(out, d)
	}
	return out
}

// leaves are the values of a JSON document by their paths, like data.items[2].price. Empty objects and lists are values.
func leaves(doc []byte) (map[string]json.RawMessage, error) {
	d := json.NewDecoder(bytes.NewReader(doc))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return nil, fmt.Errorf("the snapshot is no JSON, so it cannot be compared: %w", err)
	}
	out := map[string]json.RawMessage{}
	return out, walk(out, "", v)
}

func walk(out map[string]json.RawMessage, path string, v any) (err error) {
	switch v := v.(type) {
	case map[string]any:
		for name, child := range v {
			if err = walk(out, strings.TrimPrefix(path+"."+step(name), "."), child); err != nil {
				return err
			}
		}
		if len(v) > 0 {
			return nil
		}
	case []any:
		for i, child := range v {
			if err = walk(out, fmt.Sprintf("%s[%d]", path, i), child); err != nil {
				return err
			}
		}
		if len(v) > 0 {
			return nil
		}
	}
	out[path], err = json.Marshal(v)
	return err
}

// step is a name in a path; one that could be taken for a path is quoted.
func step(name string) string {
	if name == "" || strings.ContainsAny(name, `.[]"`) {
		return strconv.Quote(name)
	}
	return name
}

// joined are the cells of a line that is not part of a table.
func joined(cells []string) string {
	return strings.Join(slices.DeleteFunc(slices.Clone(cells), func(s string) bool { return s == "" }), "  ")
}
