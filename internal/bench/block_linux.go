package main

import (
	"syscall"
	"time"
)

// block holds the thread in the kernel, as a sync does.
func block(d time.Duration) {
	left := syscall.NsecToTimespec(d.Nanoseconds())
	for syscall.Nanosleep(&left, &left) == syscall.EINTR {
	}
}
