// Package command is "pawl mcp": the MCP server of package mcp as a command of a command line, with the commands that make and
// revoke its tokens. A service adds it to its own command line with its own machines:
//
//	cli.Main(cli.Tool{Machines: machines, Commands: func(a *cli.App) []*cobra.Command {
//		return []*cobra.Command{command.New(a, serve)}
//	}})
package command
