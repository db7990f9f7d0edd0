package command

import (
	"encoding/json"
	"fmt"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/pawlgo/pawl/cmd/pawl/cli"
	"github.com/pawlgo/pawl/cmd/pawl/mcp"
)

// file is the file of tokens. It stands beside the store, since a copy of a store should not hold who may use it.
func (s *server) file() (*mcp.Tokens, error) {
	path := s.tokens
	if path == "" {
		if s.app.Dir() == "" {
			return nil, cli.Usage("say where the store is with --dir, or where the tokens are with --tokens")
		}
		path = strings.TrimRight(s.app.Dir(), "/") + ".mcp-tokens"
	}
	return mcp.NewTokens(path), nil
}

func (s *server) tokenCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "token",
		Short: "Make, list and revoke the tokens of agents that call over HTTP",
		Long: `Make, list and revoke the tokens of agents that call over HTTP. Only the SHA-256 of a token is
kept, in a file that only its owner may read. A server that is running heeds changes at once.`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(s.addCommand(), s.listCommand(), s.revokeCommand())
	return c
}

func (s *server) addCommand() *cobra.Command {
	var agent, scopes string
	var expires time.Duration
	c := &cobra.Command{
		Use:     "add NAME",
		Short:   "Make a token and show it, this once",
		Example: `  pawl mcp token add laptop --agent trader --scopes read --expires 720h --dir /var/lib/desk`,
		Args:    cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			file, err := s.file()
			if err != nil {
				return err
			}
			granted, err := mcp.ParseScopes(scopes)
			if err != nil {
				return cli.Usage("--scopes: %v", err)
			}
			if agent == "" || expires < 0 {
				return cli.Usage("say which agent with --agent; --expires may not be negative")
			}
			now, until := time.Now(), time.Time{}
			if expires > 0 {
				until = now.Add(expires).UTC()
			}
			token, err := file.Add(args[0], agent, granted, now, until)
			if err != nil {
				return err
			}
			fmt.Fprintln(c.OutOrStdout(), token)
			fmt.Fprintf(c.ErrOrStderr(), "this is the only time that token %s is shown; %s keeps its hash\n", args[0], file.Path())
			return nil
		},
	}
	c.Flags().StringVar(&agent, "agent", "", "the agent that whoever has the token speaks for")
	c.Flags().StringVar(&scopes, "scopes", "read,write", "what it may do: read, write or both")
	c.Flags().DurationVar(&expires, "expires", 0, "after how long it ends; never when left out")
	return c
}

func (s *server) revokeCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "revoke NAME",
		Short:   "End a token at once",
		Example: `  pawl mcp token revoke laptop --dir /var/lib/desk`,
		Args:    cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			file, err := s.file()
			if err != nil {
				return err
			}
			return file.Revoke(args[0], time.Now())
		},
	}
}

// row is a token as it is listed.
type row struct {
	Name    string      `json:"name"`
	Agent   string      `json:"agent"`
	Scopes  []mcp.Scope `json:"scopes"`
	Created time.Time   `json:"created"`
	Expires time.Time   `json:"expires,omitzero"`
	Revoked time.Time   `json:"revoked,omitzero"`
}

func (r row) state(now time.Time) string {
	switch {
	case !r.Revoked.IsZero():
		return "revoked " + r.Revoked.Format(time.DateOnly)
	case r.Expires.IsZero():
		return "valid"
	case now.Before(r.Expires):
		return "until " + r.Expires.Format(time.DateOnly)
	}
	return "expired " + r.Expires.Format(time.DateOnly)
}

func (s *server) listCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "list",
		Short:   "List every token that was made, revoked ones included",
		Example: `  pawl mcp token list --dir /var/lib/desk -o json`,
		Args:    cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			file, err := s.file()
			if err != nil {
				return err
			}
			known, err := file.List()
			if err != nil {
				return err
			}
			rows := make([]row, len(known))
			for i, t := range known {
				rows[i] = row{t.Name, t.Agent, t.Scopes, t.Created, t.Expires, t.Revoked}
			}
			return write(c, rows)
		},
	}
}

// write writes the rows as --output says.
func write(c *cobra.Command, rows []row) error {
	format, err := c.Flags().GetString("output")
	if err != nil {
		return err
	}
	out := json.NewEncoder(c.OutOrStdout())
	switch format {
	case "json":
		out.SetIndent("", "  ")
		return out.Encode(rows)
	case "jsonl":
		for _, r := range rows {
			if err := out.Encode(r); err != nil {
				return err
			}
		}
		return nil
	}
	w := tabwriter.NewWriter(c.OutOrStdout(), 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "NAME\tAGENT\tSCOPES\tCREATED\tSTATE")
	for _, r := range rows {
		var scopes []string
		for _, s := range r.Scopes {
			scopes = append(scopes, string(s))
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\n", r.Name, r.Agent, strings.Join(scopes, ","), r.Created.Format(time.DateOnly), r.state(time.Now()))
	}
	return w.Flush()
}
