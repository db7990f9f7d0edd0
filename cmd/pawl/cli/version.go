package cli

import (
	"fmt"
	"runtime"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/pawlgo/pawl/machine"
	"github.com/pawlgo/pawl/store"
	"github.com/pawlgo/pawl/store/pebblestore"
)

func (a *App) versionCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "version",
		Short:   "Show the version of the program, of the formats that it writes, and of the machines that it knows",
		Example: a.example(`{} version -o json`),
		Args:    cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			var stamps []machine.Stamp
			for _, d := range a.tool.Machines {
				stamps = append(stamps, machine.Erase(d).Stamp())
			}
			slices.SortFunc(stamps, func(x, y machine.Stamp) int { return strings.Compare(x.String(), y.String()) })
			v := map[string]any{"name": a.tool.Name, "version": a.tool.version(), "go": runtime.Version(),
				"store_format": pebblestore.Format, "record_format": store.RecordFormat, "machines": stamps}
			out := &sheet{rows: [][]string{{a.tool.Name, a.tool.version()}, {"go", runtime.Version()},
				{"formats", fmt.Sprintf("store %d, record %d", pebblestore.Format, store.RecordFormat)}}}
			for _, s := range stamps {
				out.rows = append(out.rows, []string{"machine", s.String()})
			}
			return a.showOne(v, out)
		},
	}
}
