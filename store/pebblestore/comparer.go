package pebblestore

import (
	"bytes"

	"github.com/cockroachdb/pebble/v2"
)

// comparer is bytewise and splits the keys of a task after the task's name, so that the filters answer whether a
// task exists at all and a search for its newest record skips every other file.
var comparer = func() *pebble.Comparer {
	c := *pebble.DefaultComparer
	c.Name = "pawl.v1"
	c.Split = split
	c.ImmediateSuccessor = successor
	return &c
}()

func split(key []byte) int {
	if len(key) > 0 && key[0] == taskSpace {
		if i := bytes.IndexByte(key, 0); i >= 0 {
			return i + 1
		}
	}
	return len(key)
}

// successor is the smallest prefix above a: 00 ends a task's prefix, so the next one after it ends in 01.
func successor(dst, a []byte) []byte {
	dst = append(dst, a...)
	if len(a) > 0 && a[0] == taskSpace && a[len(a)-1] == 0 {
		dst[len(dst)-1] = 1
		return dst
	}
	return append(dst, 0)
}
