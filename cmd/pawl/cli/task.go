package cli

import (
	"github.com/spf13/cobra"
)

func (a *App) taskCommand() *cobra.Command {
	c := a.group(&cobra.Command{
		Use:   "task",
		Short: "List tasks, show where one stands and how it came there, export and import",
		Long: `A task is one long-lived run of a machine. Each of its versions is a snapshot and an entry of its
history; nothing is ever changed in place. These commands read the records themselves, so
they also work for machines that this program does not know.`,
		Example: a.example(`
{} task ls --machine refund --state awaiting_user_confirmation
{} task show refund_order_123
{} task history refund_order_123
{} task diff refund_order_123 3 4`),
	})
	c.AddCommand(a.taskList(), a.taskShow(), a.taskHistory(), a.taskDiff(), a.taskWatch(), a.taskExport(), a.taskImport())
	return c
}
