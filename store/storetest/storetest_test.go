package storetest_test

import (
	"testing"
	"time"

	"github.com/pawlgo/pawl/store"
	"github.com/pawlgo/pawl/store/storetest"
)

type memoryDisk struct{}

func (memoryDisk) Open(now func() time.Time) (store.Store, error) {
	return store.NewMemory(store.MemoryOptions{Now: now}), nil
}

func TestMemory(t *testing.T) {
	storetest.Exercise(t, func(storetest.T) storetest.Disk { return memoryDisk{} })
}
