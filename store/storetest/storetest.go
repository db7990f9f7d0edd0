// Package storetest is the conformance suite that every store must pass: each promise of the contract in package
// store is one named test. A new store runs [Exercise] from a test of its own:
//
//	func TestStore(t *testing.T) {
//		storetest.Exercise(t, func(storetest.T) storetest.Disk { return myDisk() })
//	}
//
// [Promises] lists the promises with what each of them means to somebody whose money is in the store.
package storetest

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlgo/pawl/store"
)

// T is what a promise needs of a test; *testing.T is one.
type T interface {
	require.TestingT
	Helper()                         // marks the caller as a helper, see [testing.T]
	Logf(format string, args ...any) // as in [testing.T]
}

// Disk is the place that one store lives in. It starts empty.
type Disk interface {
	// Open opens the store that lives there, which is closed at the time, on the given clock.
	Open(now func() time.Time) (store.Store, error)
}

// Reopener is a disk whose store survives Close.
type Reopener interface {
	Disk
	Survives() // only marks the disk
}

// Crasher is a disk that can lose power.
type Crasher interface {
	Reopener

	// Crash is what a power cut at this moment may leave: everything that was synced, and of the rest whatever
	// the seed decides. The original goes on.
	Crash(seed uint64) Crasher

	// OnSync calls f before each sync of written data, in the goroutine that waits for it or another; nil ends it.
	OnSync(f func())
}

// Corrupter is a disk on which a stored record can be damaged.
type Corrupter interface {
	Reopener

	// Corrupt changes a byte of the stored record while the store is closed.
	Corrupt(task string, version uint64) error
}

// Promise is one promise of the contract.
type Promise struct {
	Name  string
	Means string // to a user, in one or two sentences
	run   func(*bench)
	needs func(Disk) string // what the disk lacks to show it, or empty
}

// Needs says what the disk cannot do that showing the promise takes; empty if it can.
func (p Promise) Needs(d Disk) string {
	if p.needs == nil {
		return ""
	}
	return p.needs(d)
}

// Check shows the promise on an empty disk or fails t.
func (p Promise) Check(t T, d Disk) {
	b := &bench{T: t, disk: d, at: start}
	defer b.shut()
	b.open()
	p.run(b)
}

// Exercise shows every promise, each on a disk of its own.
func Exercise(t *testing.T, disk func(T) Disk) {
	for _, p := range Promises() {
		t.Run(p.Name, func(t *testing.T) {
			d := disk(t)
			if lacks := p.Needs(d); lacks != "" {
				t.Skip(lacks) // reason: the promise is about something this disk cannot do, such as survive
			}
			p.Check(t, d)
		})
	}
}

func survives(d Disk) string {
	if _, ok := d.(Reopener); ok {
		return ""
	}
	return "this disk keeps nothing after Close"
}

func crashes(d Disk) string {
	if _, ok := d.(Crasher); ok {
		return ""
	}
	return "this disk cannot lose power"
}

func corrupts(d Disk) string {
	if _, ok := d.(Corrupter); ok {
		return ""
	}
	return "records on this disk cannot be damaged"
}

// Promises lists all promises of the contract.
func Promises() []Promise {
	var all []Promise
	for _, part := range [][]Promise{
		recordPromises, conflictPromises, timePromises, historyPromises, oncePromises, effectPromises, findPromises,
		duePromises, attemptPromises, resourcePromises, keeperPromises, copierPromises, inputPromises, racePromises, diskPromises,
	} {
		all = append(all, part...)
	}
	return all
}

// start is where the clock of every promise begins.
const start store.Micros = 1_700_000_000_000_000

const second store.Micros = 1e6
