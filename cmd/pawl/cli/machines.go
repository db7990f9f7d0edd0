package cli

import (
	"slices"

	"github.com/pawlgo/pawl/machine"
)

// machine is the newest definition of a machine, nil when it is not compiled in.
func (a *App) machine(name string) *machine.Machine[any] {
	var newest *machine.Machine[any]
	for _, d := range a.tool.Machines {
		if m := machine.Erase(d); m != nil && m.Name() == name && (newest == nil || m.Version() > newest.Version()) {
			newest = m
		}
	}
	return newest
}

// machineNamed is a machine that was asked for by name.
func (a *App) machineNamed(name string) (*machine.Machine[any], error) {
	if m := a.machine(name); m != nil {
		return m, nil
	}
	return nil, nearest(notFound("machine %s is not compiled into %s", name, a.tool.Name), name, a.machineNames())
}

// machineNames are the machines that are compiled in, sorted.
func (a *App) machineNames() (names []string) {
	for _, d := range a.tool.Machines {
		names = append(names, d.Name())
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// stored is the definition that a task was stored under, nil when it is not compiled in.
func (a *App) stored(s machine.Stamp) *machine.Machine[any] {
	for _, d := range a.tool.Machines {
		if m := machine.Erase(d); m != nil && m.Stamp() == s {
			return m
		}
	}
	return nil
}

func statesOf(m *machine.Machine[any]) (names []string) {
	for _, s := range m.Describe().States {
		names = append(names, string(s.Name))
	}
	return names
}

func contains(names []string, name string) bool { return slices.Contains(names, name) }
