package main

import (
	"bytes"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestParse(t *testing.T) {
	o, err := parse(nil, nil)
	require.NoError(t, err)
	require.Equal(t, defaultTasks, o.tasks)
	require.Equal(t, defaultReps, o.reps)
	require.True(t, o.names.MatchString("anything"))

	o, err = parse([]string{"-run", "^step/", "-json", "-reps", "5", "-dir", "d", "-cpuprofile", "c", "-memprofile", "m",
		"-tasks", "1000", "-orders", "o", "-sync", "1s"}, nil)
	require.NoError(t, err)
	require.Equal(t, options{names: regexp.MustCompile("^step/"), json: true, reps: 5, dir: "d", cpuProfile: "c", memProfile: "m",
		tasks: 1000, orders: "o", sync: time.Second}, o)
}

func TestParseRefuses(t *testing.T) {
	for _, args := range [][]string{{"-reps", "4"}, {"-reps", "1001"}, {"-reps", "x"}, {"-run", "("}, {"-fast"}, {"commit/1"},
		{"-sync", "-1us"}, {"-sync", "1001ms"}, {"-tasks", "999"}, {"-tasks", "100000001"}} {
		_, err := parse(args, nil)
		require.Error(t, err, "%q", args)
	}
	_, err := parse([]string{"-reps", "1000", "-tasks", "100000000"}, nil)
	require.NoError(t, err)
}

func TestHelp(t *testing.T) {
	var help bytes.Buffer
	_, err := parse([]string{"-h"}, &help)
	require.True(t, errors.Is(err, flag.ErrHelp))
	require.Contains(t, help.String(), "-reps")
}

func TestNothingChosenIsAnError(t *testing.T) {
	require.ErrorContains(t, run([]string{"-run", "no such"}, nil, nil), "no benchmark matches")
}

func TestNames(t *testing.T) {
	seen := map[string]bool{}
	for _, b := range all(&warehouse{tasks: minTasks}) {
		require.Regexp(t, `^[a-z]+(/[a-z0-9]+)+$`, b.name)
		require.False(t, seen[b.name], "%s is there twice", b.name)
		seen[b.name] = true
		require.Contains(t, []unit{perSecond, nanoseconds, storedBytes, writtenRows}, b.unit)
		if b.count != nil {
			continue
		}
		require.Positive(t, b.callers)
		require.Positive(t, b.calls)
	}
	require.Len(t, chosen(all(&warehouse{tasks: minTasks}), regexp.MustCompile("^commit/")), 3)
	require.Len(t, chosen(all(&warehouse{tasks: minTasks}), regexp.MustCompile("64$")), 2)
}

func TestProfile(t *testing.T) {
	dir := t.TempDir()
	o := options{cpuProfile: filepath.Join(dir, "cpu"), memProfile: filepath.Join(dir, "mem")}
	stop, err := o.profile()
	require.NoError(t, err)
	require.NoError(t, stop())
	for _, name := range []string{o.cpuProfile, o.memProfile} {
		info, err := os.Stat(name)
		require.NoError(t, err)
		require.Positive(t, info.Size())
	}
	o.cpuProfile = filepath.Join(dir, "absent", "cpu")
	_, err = o.profile()
	require.Error(t, err)
}
