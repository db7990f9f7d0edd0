package cli

import (
	"fmt"
	"os"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"github.com/stretchr/testify/require"
)

// pseudo is a terminal of this test's own.
func pseudo(t *testing.T) *os.File {
	t.Helper()
	m, err := os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, m.Close()) })
	var n, unlocked int32
	for request, arg := range map[uintptr]*int32{syscall.TIOCGPTN: &n, syscall.TIOCSPTLCK: &unlocked} {
		_, _, errno := syscall.Syscall(syscall.SYS_IOCTL, m.Fd(), request, uintptr(unsafe.Pointer(arg)))
		require.Zero(t, errno)
	}
	s, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|syscall.O_NOCTTY, 0)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	return s
}

// Colours and progress are for terminals, unless the environment says otherwise, and unless the flag says otherwise still.
func TestTerminal(t *testing.T) {
	t.Setenv("TERM", "xterm")
	t.Setenv("NO_COLOR", "")
	tty := pseudo(t)
	null, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	require.NoError(t, err)
	defer null.Close()
	for _, c := range []struct {
		when  string
		out   *os.File
		env   string
		value string
		want  bool
	}{
		{auto, tty, "", "", true},
		{auto, null, "", "", false}, // a character device, and no terminal
		{auto, tty, "NO_COLOR", "1", false},
		{always, tty, "NO_COLOR", "1", true},
		{auto, tty, "TERM", "dumb", false},
		{always, null, "TERM", "dumb", true},
		{never, tty, "", "", false},
	} {
		if c.env != "" {
			t.Setenv(c.env, c.value)
		}
		a := &App{io: Streams{Out: c.out, Err: c.out}, color: c.when, progress: c.when, tool: Tool{Now: time.Now}}
		require.Equal(t, c.want, a.bold("x") != "x", "%+v", c)
		t.Setenv("NO_COLOR", "")
		p := a.begin("work", 0)
		require.Equal(t, c.want || c.env == "NO_COLOR", p.w != nil, "%+v", c)
		p.done()
		t.Setenv("TERM", "xterm")
	}
}
