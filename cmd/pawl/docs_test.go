package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

const page = "../../docs/cli.md"

// transcript runs the commands of the page in one shell, and writes what came of each in place of what the page shows, unless
// that is the same.
type transcript struct {
	t      *testing.T
	dir    string
	script strings.Builder
}

// mark stands between the outputs of two commands.
const mark = "--- next command ---"

// The page shows what happens: its commands are run, and their output compared.
func TestPageIsWhatHappens(t *testing.T) {
	b, err := os.ReadFile(page)
	require.NoError(t, err)
	tr := &transcript{t: t, dir: t.TempDir()}
	tr.script.WriteString("export TERM=dumb\n")
	lines := strings.Split(string(b), "\n")
	for i, l := range lines {
		switch {
		case strings.HasPrefix(l, "<!-- run: "):
			tr.add(strings.TrimSuffix(strings.TrimPrefix(l, "<!-- run: "), " -->"))
		case strings.HasPrefix(l, "<!-- serve: "):
			tr.add("rm -f desk.ready; desk serve desk >/dev/null 2>&1 & service=$!; while [ ! -e desk.ready ]; do sleep 0.01; done")
		case l == "<!-- stop -->":
			tr.add("kill -INT $service; wait $service")
		case strings.HasPrefix(l, "$ ") && fenced(lines[:i]) == "console":
			tr.add(strings.TrimPrefix(l, "$ "))
		}
	}
	got := tr.weave(lines, tr.run())
	if *update {
		require.NoError(t, os.WriteFile(page, []byte(got), 0o644))
		return
	}
	require.Equal(t, string(b), got, "rerun with: go test ./cmd/pawl -run TestPage -update")
}

// fenced is the language of the code block in which the next line stands, "" outside of one.
func fenced(lines []string) (language string) {
	for _, l := range lines {
		if rest, ok := strings.CutPrefix(l, "```"); ok {
			language = rest
		}
	}
	return language
}

// add adds a command; its exit code is that of the shell when the next one begins.
func (tr *transcript) add(command string) {
	fmt.Fprintf(&tr.script, "%s\nlast=$?; echo '%s'; (exit $last)\n", command, mark)
}

// run is what each command wrote.
func (tr *transcript) run() []string {
	ctx, cancel := context.WithTimeout(tr.t.Context(), time.Minute)
	defer cancel()
	sh := exec.CommandContext(ctx, "sh")
	sh.Stdin, sh.Dir = strings.NewReader(tr.script.String()), tr.dir
	sh.Env = append(os.Environ(), nowVariable+"=2026-11-30T09:00:00Z")
	sh.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	sh.Cancel = func() error { return syscall.Kill(-sh.Process.Pid, syscall.SIGKILL) } // its background process as well
	var out bytes.Buffer
	sh.Stdout, sh.Stderr = &out, &out
	_ = sh.Run() // some of the commands are to fail, the last one too
	require.NoError(tr.t, ctx.Err(), "%s", out.String())
	return strings.Split(out.String(), mark+"\n")
}

// weave puts the outputs where the page shows them.
func (tr *transcript) weave(lines, outputs []string) string {
	var out []string
	for i := 0; i < len(lines); i++ {
		l := lines[i]
		out = append(out, l)
		hidden := strings.HasPrefix(l, "<!-- run: ") || strings.HasPrefix(l, "<!-- serve: ") || l == "<!-- stop -->"
		if !hidden && !(strings.HasPrefix(l, "$ ") && fenced(lines[:i]) == "console") {
			continue
		}
		got := strings.Split(strings.TrimSuffix(outputs[0], "\n"), "\n")
		if outputs = outputs[1:]; outputs == nil || hidden {
			continue
		}
		if len(got) == 1 && got[0] == "" {
			got = nil
		}
		from := i + 1
		for i+1 < len(lines) && !strings.HasPrefix(lines[i+1], "$ ") && !strings.HasPrefix(lines[i+1], "```") {
			i++
		}
		if shown := lines[from : i+1]; same(strings.Join(shown, "\n"), strings.Join(got, "\n")) {
			got = shown
		}
		out = append(out, got...)
	}
	return strings.Join(out, "\n")
}

// same tells whether the page shows what was written; ... on the page stands for anything.
func same(shown, got string) bool {
	pattern := strings.ReplaceAll(regexp.QuoteMeta(shown), `\.\.\.`, `(?s:.*)`)
	return regexp.MustCompile("^" + pattern + "$").MatchString(got)
}

// The programs on the page compile.
func TestPageCompiles(t *testing.T) {
	b, err := os.ReadFile(page)
	require.NoError(t, err)
	programs := regexp.MustCompile("(?s)```go\n(.*?)```").FindAllSubmatch(b, -1)
	require.Len(t, programs, 2)
	for i, p := range programs {
		file := filepath.Join(t.TempDir(), "main.go")
		require.NoError(t, os.WriteFile(file, p[1], 0o600))
		out, err := exec.CommandContext(t.Context(), "go", "vet", file).CombinedOutput()
		require.NoError(t, err, "program %d: %s", i, out)
	}
}

// The page and the package comment tell the same exit codes.
func TestExitCodesOfThePage(t *testing.T) {
	b, err := os.ReadFile(page)
	require.NoError(t, err)
	doc, err := os.ReadFile("cli/doc.go")
	require.NoError(t, err)
	codes := regexp.MustCompile(`(?m)^//\t(\d+) +(\w.*)$`).FindAllStringSubmatch(string(doc), -1)
	require.Len(t, codes, 11)
	for _, c := range codes {
		require.Contains(t, string(b), "| "+c[1]+" | "+c[2]+" |\n")
	}
}
