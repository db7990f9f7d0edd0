//go:build !linux

package main

import "time"

// block waits, without holding the thread.
func block(d time.Duration) { time.Sleep(d) }
