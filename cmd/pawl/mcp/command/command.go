package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/pawlgo/pawl/cmd/pawl/cli"
	"github.com/pawlgo/pawl/cmd/pawl/mcp"
	"github.com/pawlgo/pawl/machine/workingstate"
	"github.com/pawlgo/pawl/machine/workingstate/files"
	"github.com/pawlgo/pawl/resume"
	"github.com/pawlgo/pawl/store"
)

// Environment variables that stand for flags, as they do for the commands of the state.
const (
	agentVariable = "PAWL_AGENT" // on stdio only
	filesVariable = "PAWL_FILES"
)

// Open opens what is served, on the store of --dir: a controller, decisions, the working state. The function ends what it has
// begun, such as the controller's workers; nil when there is nothing. It must write nothing to stdout.
type Open func(ctx context.Context, st store.Store) (mcp.Options, func() error, error)

// server is what the flags say.
type server struct {
	app  *cli.App
	open Open

	agent, http, tokens, scopes, reads, writes, language, zone, log, files string
	origins                                                                []string
	readOnly                                                               bool
}

// New is the command "mcp" with its commands, for [cli.Tool]'s Commands.
func New(a *cli.App, open Open) *cobra.Command {
	s := &server{app: a, open: open}
	c := &cobra.Command{
		Use:   "mcp",
		Short: "Serve agents over the Model Context Protocol, on stdio or over HTTP",
		Long: `Serve an agent's working state, and the tasks that it may act on, over the Model Context
Protocol: on standard input and output, or with --http as streamable HTTP for every agent
that has a token. Both current eras of the protocol are spoken.

Who the agent is comes from --agent or from the token, never from a call. No tool observes,
confirms for a person, or switches anything off. An agent that has no working state yet
gets an empty one at its first call.

The store is this process's while it runs; commands that only read work beside it.`,
		Example: `  pawl mcp --agent trader --dir /var/lib/desk
  pawl mcp token add laptop --agent trader --dir /var/lib/desk
  pawl mcp --http 127.0.0.1:7777 --dir /var/lib/desk`,
		Args: cobra.NoArgs,
		RunE: s.run,
	}
	c.PersistentFlags().StringVar(&s.tokens, "tokens", "", "the file of tokens; DIR.mcp-tokens when left out")
	f := c.Flags()
	f.StringVar(&s.agent, "agent", "", "the agent that is served (or set "+agentVariable+"); with --http: the only one")
	f.StringVar(&s.http, "http", "", "serve HTTP on this address, under /mcp, such as 127.0.0.1:7777")
	f.StringVar(&s.scopes, "scopes", "read,write", "what the agent on stdio may do: read, write or both")
	f.BoolVar(&s.readOnly, "read-only", false, "offer no tool that writes, whatever the scopes")
	f.StringVar(&s.reads, "reads", rate(mcp.DefaultReads), "how often one agent may read: times/duration")
	f.StringVar(&s.writes, "writes", rate(mcp.DefaultWrites), "how often one agent may write: times/duration")
	f.StringArrayVar(&s.origins, "origin", nil, "a web origin whose pages may call over HTTP, such as https://desk.example; may be repeated")
	f.StringVar(&s.files, "files", os.Getenv(filesVariable), "keep readable files of the working state below this directory up to date (or set "+filesVariable+")")
	f.StringVar(&s.language, "language", "en", "the language of the block: en, zh-Hant or zh-Hans")
	f.StringVar(&s.zone, "zone", "UTC", "the time zone of the block, such as Asia/Taipei")
	f.StringVar(&s.log, "log", "warn", "what is logged to standard error: debug, info, warn or error")
	c.AddCommand(s.tokenCommand())
	return c
}

func rate(r resume.Rate) string {
	return fmt.Sprintf("%d/%s", r.Burst, strings.TrimSuffix(r.Per.String(), "0s"))
}

func parseRate(name, text string) (resume.Rate, error) {
	var r resume.Rate
	times, per, ok := strings.Cut(text, "/")
	_, err := fmt.Sscanf(times, "%d", &r.Burst)
	if ok && err == nil {
		r.Per, err = time.ParseDuration(per)
	}
	if !ok || err != nil || fmt.Sprint(r.Burst) != times || r.Burst < 1 || r.Per <= 0 {
		return r, cli.Usage("--%s %.40q: want times/duration, such as 60/1m", name, text)
	}
	return r, nil
}

// options are what the flags say about the server, before anything is opened.
func (s *server) options(c *cobra.Command) (mcp.Options, error) {
	var o mcp.Options
	var level slog.Level
	if err := level.UnmarshalText([]byte(s.log)); err != nil {
		return o, cli.Usage("--log %.40q: choose debug, info, warn or error", s.log)
	}
	words := workingstate.WordsIn(s.language)
	if words.Language != s.language {
		return o, cli.Usage("--language %.40q: choose en, zh-Hant or zh-Hans", s.language)
	}
	zone, err := time.LoadLocation(s.zone)
	if err != nil || s.zone == "" {
		return o, cli.Usage("--zone %.40q: there is no such time zone", s.zone)
	}
	reads, err := parseRate("reads", s.reads)
	if err != nil {
		return o, err
	}
	writes, err := parseRate("writes", s.writes)
	if err != nil {
		return o, err
	}
	o.Log = slog.New(slog.NewTextHandler(c.ErrOrStderr(), &slog.HandlerOptions{Level: level}))
	o.Layout = workingstate.Layout{Words: words, Zone: zone}
	o.Reads, o.Writes, o.ReadOnly, o.Origins, o.Version = reads, writes, s.readOnly, s.origins, s.app.Version()
	return o, nil
}

// filled are the flags' options with what was opened.
func (s *server) filled(flags, opened mcp.Options) mcp.Options {
	opened.Log, opened.Layout, opened.Reads, opened.Writes = flags.Log, flags.Layout, flags.Reads, flags.Writes
	if s.files != "" {
		if opened.Committer == nil {
			opened.Committer = opened.Tasks
		}
		opened.Committer = files.Mirror(opened.Committer, s.files, func(err error) { flags.Log.Error("files", "error", err) })
	}
	opened.ReadOnly, opened.Version = flags.ReadOnly || opened.ReadOnly, flags.Version
	opened.Origins = append(opened.Origins, flags.Origins...)
	return opened
}

func (s *server) run(c *cobra.Command, _ []string) (err error) {
	flags, err := s.options(c)
	if err != nil {
		return err
	}
	serve, err := s.transport(c)
	if err != nil {
		return err
	}
	st, closeStore, err := s.app.Open(c.Context(), c.CommandPath(), true)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, closeStore()) }()
	opened, end, err := s.open(c.Context(), st)
	if err != nil {
		return err
	}
	if end != nil {
		defer func() { err = errors.Join(err, end()) }()
	}
	srv, err := mcp.New(s.filled(flags, opened))
	if err != nil {
		return err
	}
	return serve(srv)
}

// transport is how clients reach the server, as far as it can be told before anything is opened.
func (s *server) transport(c *cobra.Command) (func(*mcp.Server) error, error) {
	if s.agent == "" && s.http == "" {
		s.agent = os.Getenv(agentVariable)
	}
	if s.agent != "" {
		if err := workingstate.CheckAgent(s.agent); err != nil {
			return nil, cli.Usage("--agent: %v", err)
		}
	}
	if s.http != "" {
		return s.overHTTP(c)
	}
	if s.agent == "" {
		return nil, cli.Usage("say who the agent is with --agent, or serve HTTP with --http")
	}
	scopes, err := mcp.ParseScopes(s.scopes)
	if err != nil {
		return nil, cli.Usage("--scopes: %v", err)
	}
	in, out := streams(c)
	return func(srv *mcp.Server) error {
		return srv.ServeStdio(c.Context(), mcp.Grant{Agent: s.agent, Scopes: scopes}, in, out)
	}, nil
}

// streams are those that the protocol is spoken on. What else in this process writes to standard output goes to standard error
// from now on: one stray line would break the protocol.
func streams(c *cobra.Command) (io.ReadCloser, io.WriteCloser) {
	in, ok := c.InOrStdin().(io.ReadCloser)
	if !ok {
		in = io.NopCloser(c.InOrStdin())
	}
	out := c.OutOrStdout()
	if out == os.Stdout {
		os.Stdout = os.Stderr
	}
	return in, unclosed{out}
}

// unclosed leaves closing to whoever opened.
type unclosed struct{ io.Writer }

func (unclosed) Close() error { return nil }

func (s *server) overHTTP(c *cobra.Command) (func(*mcp.Server) error, error) {
	tokens, err := s.file()
	if err != nil {
		return nil, err
	}
	known, err := tokens.List()
	if err != nil {
		return nil, err
	}
	live := 0
	for _, t := range known {
		if t.Revoked.IsZero() && (s.agent == "" || t.Agent == s.agent) {
			live++
		}
	}
	if live == 0 {
		return nil, cli.Usage("%s has no token that would let anybody in; make one with %s token add", tokens.Path(), c.CommandPath())
	}
	l, err := new(net.ListenConfig).Listen(c.Context(), "tcp", s.http)
	if err != nil {
		return nil, cli.Usage("--http: %v", err)
	}
	return func(srv *mcp.Server) error {
		fmt.Fprintf(c.ErrOrStderr(), "serving http://%s/mcp\n", l.Addr())
		if a, ok := l.Addr().(*net.TCPAddr); ok && !a.IP.IsLoopback() {
			fmt.Fprintln(c.ErrOrStderr(), "this is plain HTTP, and others can reach it: put TLS in front, or tokens can be read on the way")
		}
		return srv.Serve(c.Context(), l, tokens, s.agent)
	}, nil
}
