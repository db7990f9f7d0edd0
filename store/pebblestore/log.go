package pebblestore

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math/bits"
	"slices"
	"strconv"
	"strings"

	"github.com/cockroachdb/pebble/v2/batchrepr"
	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/pawlgo/pawl/store"
)

// Pebble takes an unreadable chunk in its newest log for the place where a crash tore it, and drops what follows, unless
// a later block says that this place had been synced. A damaged byte in the last 32 KiB therefore loses acknowledged
// commits without a word. So the logs are read before Pebble opens them, and the store refuses to open if
//
//   - after an unreadable chunk, anywhere, comes a whole one that was written after that place had been synced; or
//   - the unreadable chunk is whole but for one byte, which no torn write is.
//
// A log is a row of blocks, each a row of chunks: masked CRC-32C of all that follows the length (4), length (2),
// kind (1), log number (4), offset synced so far (8), payload. Integers are little-endian.
const (
	logBlock  = 32 << 10
	logHeader = 4 + 2 + logSummed
	logSummed = 1 + 4 + 8 // of the header, what the checksum covers

	chunkFull  = 9  // kinds: a whole batch
	chunkFirst = 10 // or its first part, up to the end of the block; 11 is one in the middle
	chunkLast  = 12
	chunkEOF   = 5 // with the next log's number, at the end of a log that was closed
)

// closedMark is a file that a clean close leaves: the names of the logs whose every row is in a table by then.
const closedMark = "PAWL-CLOSED"

// checkLogs looks through the logs in dir that Pebble may replay.
func checkLogs(fs vfs.FS, dir string) error {
	names, err := logNames(fs, dir)
	if err != nil {
		return err
	}
	done, err := takeClosedMark(fs, dir)
	if err != nil {
		return err
	}
	for _, name := range names {
		if slices.Contains(done, name) {
			continue
		}
		number, err := strconv.ParseUint(strings.TrimSuffix(name, ".log"), 10, 64)
		if err != nil {
			continue // not one of Pebble's
		}
		data, err := readFile(fs, fs.PathJoin(dir, name))
		if err != nil {
			return err
		}
		l := journal{data: data, number: uint32(number)}
		if at, damaged := l.damage(); damaged {
			return fmt.Errorf("log %s is damaged at byte %d, and opening it would lose acknowledged commits: %w", name, at, store.ErrCorrupt)
		}
	}
	return nil
}

func logNames(fs vfs.FS, dir string) ([]string, error) {
	names, err := fs.List(dir)
	return slices.DeleteFunc(names, func(name string) bool { return !strings.HasSuffix(name, ".log") }), err
}

// leaveClosedMark says that no log needs to be replayed, since everything was flushed before the close.
func leaveClosedMark(fs vfs.FS, dir string) error {
	names, err := logNames(fs, dir)
	if err != nil {
		return err
	}
	return writeFile(fs, dir, closedMark, strings.Join(names, "\n"))
}

// takeClosedMark reads what the last close left, if it was a clean one, and removes it before anything is written.
func takeClosedMark(fs vfs.FS, dir string) ([]string, error) {
	name := fs.PathJoin(dir, closedMark)
	if _, err := fs.Stat(name); err != nil {
		return nil, nil
	}
	data, err := readFile(fs, name)
	if err != nil {
		return nil, err
	}
	if err := fs.Remove(name); err != nil {
		return nil, err
	}
	return strings.Split(string(data), "\n"), syncDir(fs, dir)
}

func readFile(fs vfs.FS, name string) ([]byte, error) {
	f, err := fs.Open(name, vfs.SequentialReadsOption)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	data := make([]byte, info.Size())
	n, err := io.ReadFull(f, data)
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		err = nil
	}
	return data[:n], err
}

// writeFile writes a small file durably.
func writeFile(fs vfs.FS, dir, name, text string) error {
	f, err := fs.Create(fs.PathJoin(dir, name), vfs.WriteCategoryUnspecified)
	if err != nil {
		return err
	}
	if _, err = f.Write([]byte(text)); err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	return syncDir(fs, dir)
}

// journal is a log of Pebble.
type journal struct {
	data   []byte
	number uint32
	batch  int // where the batch begins that the last whole chunk belongs to
}

// chunk is what the bytes at a place say they are; it is whole only if its checksum is right.
type chunk struct {
	kind   byte
	number uint32
	synced uint64
	end    int
	whole  bool
}

// damage is the first place that can be told to be damaged.
func (l *journal) damage() (at int, damaged bool) {
	for at < len(l.data) {
		if c := l.chunk(at); c.whole && c.number == l.number {
			if c.kind <= chunkFirst {
				l.batch = at
			}
			at = c.end
			continue
		}
		block := l.blockEnd(at)
		if block-at < logHeader && block < len(l.data) && zero(l.data[at:block]) {
			at = block
			continue
		}
		return at, !l.closed(at) && (l.vouched(at) || l.repairable(at))
	}
	return at, false
}

func (l *journal) blockEnd(at int) int { return min(len(l.data), at-at%logBlock+logBlock) }

// chunk reads the chunk at a place.
func (l *journal) chunk(at int) chunk {
	b := l.data[at:l.blockEnd(at)]
	if len(b) < logHeader {
		return chunk{}
	}
	c := chunk{
		kind:   b[6],
		number: binary.LittleEndian.Uint32(b[7:]),
		synced: binary.LittleEndian.Uint64(b[11:]),
	}
	n := logHeader + int(binary.LittleEndian.Uint16(b[4:]))
	if n > len(b) || c.kind < chunkFull || c.kind > chunkLast {
		return c
	}
	c.end = at + n
	c.whole = unmask(binary.LittleEndian.Uint32(b)) == crc32.Checksum(b[6:n], castagnoli)
	return c
}

// unmask is the CRC that a masked one stands for.
func unmask(v uint32) uint32 {
	v -= 0xa282ead8
	return v>>17 | v<<15
}

// closed says whether the log was closed here.
func (l *journal) closed(at int) bool {
	b := l.data[at:]
	return len(b) >= 11 && zero(b[:6]) && b[6] == chunkEOF && binary.LittleEndian.Uint32(b[7:]) == l.number+1
}

func zero(b []byte) bool {
	for _, c := range b {
		if c != 0 {
			return false
		}
	}
	return true
}

// vouched says whether a later chunk of this log was written after the place had been synced.
func (l *journal) vouched(at int) bool {
	for i := at + 1; i+logHeader <= len(l.data); i++ {
		kind := l.data[i+6]
		if kind < chunkFull || kind > chunkLast || binary.LittleEndian.Uint32(l.data[i+7:]) != l.number {
			continue
		}
		if c := l.chunk(i); c.whole && c.synced > uint64(at) {
			return true
		}
	}
	return false
}

// repairable says whether changing one byte makes the chunk at a place whole.
func (l *journal) repairable(at int) bool {
	b := l.data[at:l.blockEnd(at)]
	if len(b) < logHeader {
		return false
	}
	length := binary.LittleEndian.Uint16(b[4:])
	if l.ours(b) && l.repairableLength(at, b, length) {
		return true
	}
	n := logHeader + int(length)
	if n > len(b) {
		return false
	}
	return l.repairableSum(at, b[:n]) || l.repairableByte(at, b[:n])
}

// repairableLength says whether the chunk that b begins with is whole but for a byte of its length.
func (l *journal) repairableLength(at int, b []byte, length uint16) bool {
	want := unmask(binary.LittleEndian.Uint32(b))
	for delta := uint16(1); delta < 256; delta++ {
		for _, other := range [...]uint16{length ^ delta, length ^ delta<<8} {
			n := logHeader + int(other)
			if n <= len(b) && want == crc32.Checksum(b[6:n], castagnoli) && l.convincing(at, b[:n], 1) {
				return true
			}
		}
	}
	return false
}

// ours says whether a chunk has a kind and the number of this log.
func (l *journal) ours(b []byte) bool {
	return b[6] >= chunkFull && b[6] <= chunkLast && binary.LittleEndian.Uint32(b[7:]) == l.number
}

// repairableSum says whether the chunk is whole but for a byte of its checksum.
func (l *journal) repairableSum(at int, b []byte) bool {
	crc := crc32.Checksum(b[6:], castagnoli)
	want := (crc>>15 | crc<<17) + 0xa282ead8
	delta := want ^ binary.LittleEndian.Uint32(b)
	oneByte := bits.LeadingZeros32(delta)/8+bits.TrailingZeros32(delta)/8 == 3
	return oneByte && l.ours(b) && l.convincing(at, b, delta)
}

// repairableByte looks for the byte whose change makes the checksum right. A change of one bit changes a CRC by the
// same amount whatever the other bytes are, so the amounts for the eight bits of each byte are carried backwards
// through the chunk and combined.
func (l *journal) repairableByte(at int, b []byte) bool {
	want := unmask(binary.LittleEndian.Uint32(b)) ^ crc32.Checksum(b[6:], castagnoli)
	var amount [8]uint32
	for i := range amount {
		amount[i] = castagnoli[1<<i]
	}
	for p := len(b) - 1; p >= 6; p-- {
		sum, delta := uint32(0), byte(0)
		for k := 1; k < 256; k++ { // Gray code: one bit changes at a time
			i := bits.TrailingZeros(uint(k))
			sum ^= amount[i]
			delta ^= 1 << i
			if sum == want && l.fixes(at, b, p, delta) {
				return true
			}
		}
		for i, a := range amount {
			amount[i] = castagnoli[byte(a)] ^ a>>8
		}
	}
	return false
}

// fixes says whether the chunk with one byte changed is one of this log and convincing.
func (l *journal) fixes(at int, b []byte, p int, delta byte) bool {
	fixed := append([]byte(nil), b...)
	fixed[p] ^= delta
	return l.ours(fixed) && l.convincing(at, fixed, uint32(delta))
}

// convincing says whether a chunk that was made whole by a change is no accident of a torn one: its batch, if all other chunks of it
// are there, can be read; if they are not, only one bit was changed.
func (l *journal) convincing(at int, mended []byte, delta uint32) bool {
	batch, whole := l.assembled(at, mended)
	if !whole {
		return bits.OnesCount32(delta) == 1
	}
	head, ok := batchrepr.ReadHeader(batch)
	if !ok {
		return false
	}
	r := batchrepr.Read(batch)
	for n := uint32(0); ; n++ {
		_, _, _, ok, err := r.Next()
		if err != nil {
			return false
		}
		if !ok {
			return n == head.Count
		}
	}
}

// assembled is the batch that a mended chunk belongs to; false if another chunk of it is not whole.
func (l *journal) assembled(at int, mended []byte) (batch []byte, whole bool) {
	take := func(at int) (c chunk) {
		if at < len(l.data) {
			c = l.chunk(at)
		}
		if whole = c.whole && c.number == l.number; whole {
			batch = append(batch, l.data[at+logHeader:c.end]...)
		}
		return c
	}
	for i := l.batch; i < at && mended[6] > chunkFirst; {
		if i = take(i).end; !whole {
			return nil, false
		}
	}
	batch = append(batch, mended[logHeader:]...)
	for c := (chunk{kind: mended[6], end: at + len(mended)}); c.kind != chunkFull && c.kind != chunkLast; {
		if c = take(c.end); !whole {
			return nil, false
		}
	}
	return batch, true
}
