package cli

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/pawlgo/pawl/resume"
	"github.com/pawlgo/pawl/store"
)

// completed is how many tasks the shell is offered.
const completed = 100

type completion = func(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective)

// fixed completes one of some words.
func fixed(words ...string) completion {
	return func(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
		return words, cobra.ShellCompDirectiveNoFileComp
	}
}

func (a *App) completeMachines(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
	return a.machineNames(), cobra.ShellCompDirectiveNoFileComp
}

// completeStates offers the states of the machine that was named.
func (a *App) completeStates(c *cobra.Command, _ []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
	if m := a.machine(c.Flag("machine").Value.String()); m != nil {
		return statesOf(m), cobra.ShellCompDirectiveNoFileComp
	}
	return nil, cobra.ShellCompDirectiveNoFileComp
}

// completeTask offers the ids of tasks for the first argument. Where there is no store, or it cannot be read, it offers nothing.
func (a *App) completeTask(c *cobra.Command, args []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	var ids []string
	_ = a.reading(c, func(s *source) error { // a shell has no place for errors
		var err error
		ids, err = a.tasksLike(c, s, func(id string) bool { return strings.HasPrefix(id, typed) })
		return err
	})
	return ids, cobra.ShellCompDirectiveNoFileComp
}

// tasksLike are some tasks whose ids fit, of those that one page of the store's list shows.
func (a *App) tasksLike(c *cobra.Command, s *source, fits func(string) bool) (ids []string, err error) {
	rows, _, err := s.Find(c.Context(), store.Query{})
	for _, r := range rows {
		if len(ids) < completed && fits(r.Task) && !strings.HasPrefix(r.Task, resume.Reserved) {
			ids = append(ids, r.Task)
		}
	}
	return ids, err
}
