package pebblestore

import (
	"runtime"
	"time"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/bloom"
	"github.com/cockroachdb/pebble/v2/vfs"
)

// Options of a store. The zero value is ready to use.
type Options struct {
	// FS is the file system the directory lies in; nil means the disk.
	FS vfs.FS

	// Now is the clock; nil means time.Now. The store's clock follows it, never goes back, and after a restart
	// never shows less than any condition was judged on before.
	Now func() time.Time

	// Key is the key of the MAC of every record, kept outside the store; empty means none. It is chosen when the
	// store is created and needed at every open from then on.
	Key []byte

	// CacheBytes is the size of Pebble's block cache; zero means 64 MiB. While the memtables are small it takes their room, too.
	CacheBytes int64

	// MemTableBytes is the size of a memtable, of which there are mostly one or two; zero means 64 MiB. With 4 MiB the store takes half as
	// many commits, with more than 64 MiB it takes no more.
	MemTableBytes uint64

	// Tasks is how many tasks are remembered (about 600 bytes each), beside those in use; zero means 65,536. To load a task that
	// is remembered takes one get, and to commit to it no read.
	Tasks int

	// ReadFault, if set, hears of damaged files that Pebble finds in the background. It must not block.
	ReadFault func(error)

	// Observe, if set, hears of every commit, load, claim and update after it ended. It is called by many goroutines at
	// once and must not block. Nothing is measured if it is nil.
	Observe func(Observation)
}

// Observation is one call that ended.
type Observation struct {
	Call  string        // "commit", "load", "claim" or "update"
	Task  string        // empty for a claim
	Bytes int           // of snapshot and entry that were written or read
	Took  time.Duration // with all waiting
	Err   error
}

const (
	defaultCache   = 64 << 20
	defaultTasks   = 1 << 16
	memTableSize   = 64 << 20
	blockSize      = 16 << 10
	bloomBits      = 10
	l0Compaction   = 4
	l0StopWrites   = 200 // far away: a writer that waits for a compaction would wait forever if the disk failed then
	maxOpenFiles   = 2000
	memTablesLimit = 4

	// pebbleFormat is pinned: with older ones a flipped byte in the last log opened silently and lost acknowledged
	// commits; a newer one is for a later version of this package to choose.
	pebbleFormat = pebble.FormatMajorVersion(24)
)

// pebble are Pebble's options for a store on fs.
func (o *Options) pebble(fs vfs.FS, g *gate) *pebble.Options {
	po := &pebble.Options{
		FS:                          fs,
		Comparer:                    comparer,
		FormatMajorVersion:          pebbleFormat,
		MemTableSize:                memTableSize,
		MemTableStopWritesThreshold: memTablesLimit,
		L0CompactionThreshold:       l0Compaction,
		L0StopWritesThreshold:       l0StopWrites,
		MaxOpenFiles:                maxOpenFiles,
		CacheSize:                   o.CacheBytes,
		CompactionConcurrencyRange:  func() (int, int) { return 1, max(1, runtime.GOMAXPROCS(0)/2) },
		Logger:                      logger{g},
		EventListener: &pebble.EventListener{
			BackgroundError: func(err error) { o.hear(err) },
			DataCorruption:  func(info pebble.DataCorruptionInfo) { o.hear(info.Details) },
		},
	}
	if o.MemTableBytes != 0 {
		po.MemTableSize = o.MemTableBytes
	}
	if po.CacheSize == 0 {
		po.CacheSize = defaultCache
	}
	// Pebble takes the memtables out of its cache: without this two of them would leave nothing of it.
	po.CacheSize += 2 * int64(po.MemTableSize)
	po.ApplyCompressionSettings(func() pebble.DBCompressionSettings { return pebble.DBCompressionFastest })
	for i := range po.Levels {
		po.Levels[i].BlockSize = blockSize
		po.Levels[i].FilterPolicy = bloom.FilterPolicy(bloomBits)
	}
	return po
}

func (o *Options) hear(err error) {
	if o.ReadFault != nil {
		o.ReadFault(err)
	}
}
