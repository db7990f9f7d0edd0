package store

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"hash"
	"hash/crc32"
	"slices"
	"sync"
)

// RecordFormat is the format byte of the records that this version writes, and the newest it reads.
const RecordFormat = 1

// Kind tells apart what stands at a version.
type Kind uint8

const (
	KindRecord Kind = iota // a version
	KindBase               // what Prune left: the hash of a version whose bytes are gone
	KindErased             // the tombstone of an erased task
)

// Flags of a record.
const (
	flagFinal  = 1 << 0
	flagBase   = 1 << 1
	flagErased = 1 << 2
	flagsKnown = flagFinal | flagBase | flagErased
)

const (
	sumSize = 4  // CRC-32C
	macSize = 32 // HMAC-SHA-256

	plain = 0 // what stands before the checksum: no MAC
	maced = 1 // a MAC stands before this byte
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// AppendKey appends the key of a record: its task, and its version inverted so that the newest comes first. The
// checksum and the hash of a record cover it, so a record cannot be passed off as another one's.
func AppendKey(dst []byte, task string, version uint64) []byte {
	dst = append(dst, 't')
	dst = append(dst, task...)
	dst = append(dst, 0, 2)
	return binary.BigEndian.AppendUint64(dst, ^version)
}

// Sealer turns records into bytes and back; all stores use it, so their bytes and hashes are the same. The zero Sealer
// is ready to use and writes no MAC. It is safe for concurrent use.
//
// A sealed record is: format, flags, previous hash, nonce, at, since, wake, machine, state, owner, waits-for, changes,
// snapshot, entry; then the MAC over key and those, if there is one, a byte that says so, and the CRC-32C over key and all
// of that. Integers are big-endian, lengths are uvarints. Its hash is the SHA-256 over key and everything before the MAC;
// it is not stored but computed, and does not depend on the MAC's key. Every later format keeps the first byte and the
// last four, so that an old version can tell newer bytes from damaged ones.
type Sealer struct {
	macs *sync.Pool // of hash.Hash
}

// NewSealer seals with a MAC under key, which is kept outside the store: whoever can write the store but lacks the
// key cannot change a record unnoticed. An empty key means no MAC.
func NewSealer(key []byte) *Sealer {
	if len(key) == 0 {
		return &Sealer{}
	}
	key = append([]byte(nil), key...)
	return &Sealer{macs: &sync.Pool{New: func() any { return hmac.New(sha256.New, key) }}}
}

// Seal appends key and value of the record to buf and returns it with the length of the key. It reads r.Tip.Version and
// everything but r.Tip.Hash, which it sets.
func (s *Sealer) Seal(buf []byte, r *Record, kind Kind) (out []byte, key int) {
	start := len(buf)
	buf = AppendKey(slices.Grow(buf, r.sealedSize()), r.Task, r.Tip.Version)
	key = len(buf) - start
	flags := byte(0)
	if r.Meta.Final {
		flags |= flagFinal
	}
	if kind == KindErased {
		flags |= flagErased
	}
	buf = append(buf, RecordFormat, flags)
	buf = append(buf, r.Prev[:]...)
	buf = binary.BigEndian.AppendUint64(buf, r.Nonce)
	buf = binary.BigEndian.AppendUint64(buf, uint64(r.At))
	buf = binary.BigEndian.AppendUint64(buf, uint64(r.Meta.Since))
	buf = binary.BigEndian.AppendUint64(buf, uint64(r.Meta.Wake))
	buf = appendString(buf, r.Meta.Machine)
	buf = appendString(buf, r.Meta.State)
	buf = appendString(buf, r.Meta.Owner)
	buf = appendString(buf, r.Meta.WaitsFor)
	for _, part := range [...][]byte{r.Changes, r.Snapshot, r.Entry} {
		buf = append(binary.AppendUvarint(buf, uint64(len(part))), part...)
	}
	r.Tip.Hash = sha256.Sum256(buf[start:])
	return s.finish(buf, start), key
}

// sealedSize is about what a sealed record takes, key and MAC included.
func (rec *Record) sealedSize() int {
	return 256 + len(rec.Task) + len(rec.Meta.Machine) + len(rec.Meta.State) + len(rec.Meta.Owner) + len(rec.Meta.WaitsFor) +
		len(rec.Changes) + len(rec.Snapshot) + len(rec.Entry)
}

// SealBase appends key and value of the base row that stands for a version whose bytes are gone.
func (s *Sealer) SealBase(buf []byte, task string, tip Tip) (out []byte, key int) {
	start := len(buf)
	buf = AppendKey(buf, task, tip.Version)
	key = len(buf) - start
	buf = append(buf, RecordFormat, flagBase)
	buf = append(buf, tip.Hash[:]...)
	return s.finish(buf, start), key
}

// finish appends the MAC and the checksum over what was appended since start.
func (s *Sealer) finish(buf []byte, start int) []byte {
	if s.macs != nil {
		mac := s.macs.Get().(hash.Hash)
		mac.Reset()
		mac.Write(buf[start:])
		buf = append(mac.Sum(buf), maced)
		s.macs.Put(mac)
	} else {
		buf = append(buf, plain)
	}
	return binary.BigEndian.AppendUint32(buf, crc32.Checksum(buf[start:], castagnoli))
}

// Open checks and decodes a sealed value. The record shares nothing with value. Of a base, only Task and Tip are set.
// ErrCorrupt or ErrNewer, naming task and version.
func (s *Sealer) Open(task string, version uint64, value []byte) (Record, Kind, error) {
	return s.open(task, Tip{Version: version}, value, true)
}

// Reopen is Open for a version whose hash the store computed before, when it wrote or read it, and remembers. It checks all
// that Open checks, and saves the hash.
func (s *Sealer) Reopen(task string, tip Tip, value []byte) (Record, Kind, error) {
	return s.open(task, tip, value, false)
}

func (s *Sealer) open(task string, tip Tip, value []byte, hash bool) (Record, Kind, error) {
	rec, version := Record{Task: task, Tip: tip}, tip.Version
	if len(value) < 3+sumSize {
		return corrupt(task, version, "record is truncated")
	}
	// One copy of key and value in a row: it is what is summed and hashed, and what the record keeps.
	whole := make([]byte, 0, len(task)+11+len(value))
	whole = AppendKey(whole, task, version)
	key := len(whole)
	whole = append(whole, value...)
	end := len(whole) - sumSize
	if crc32.Checksum(whole[:end], castagnoli) != binary.BigEndian.Uint32(whole[end:]) {
		return corrupt(task, version, "checksum does not match")
	}
	if whole[key] != RecordFormat {
		return Record{}, 0, &NewerError{Task: task, Version: version, Format: int(whole[key]), Known: RecordFormat}
	}
	whole, fault := s.checkMAC(whole[:end], key)
	if fault != "" {
		return corrupt(task, version, fault)
	}
	flags := whole[key+1]
	body := reader{b: whole[key+2:]}
	switch {
	case flags&^flagsKnown != 0:
		return corrupt(task, version, "unknown flags")
	case flags&flagBase != 0:
		rec.Tip.Hash = body.hash()
		if body.bad || len(body.b) != 0 {
			return corrupt(task, version, "base row is malformed")
		}
		return rec, KindBase, nil
	case !rec.decode(body):
		return corrupt(task, version, "record is malformed")
	}
	rec.Meta.Final = flags&flagFinal != 0
	if hash {
		rec.Tip.Hash = sha256.Sum256(whole)
	}
	if flags&flagErased != 0 {
		return rec, KindErased, nil
	}
	return rec, KindRecord, nil
}

func corrupt(task string, version uint64, what string) (Record, Kind, error) {
	return Record{}, 0, &CorruptError{Task: task, Version: version, What: what}
}

// checkMAC takes the MAC off key and value, less the checksum, and says what is wrong, if anything.
func (s *Sealer) checkMAC(whole []byte, key int) (sealed []byte, fault string) {
	whole, how := whole[:len(whole)-1], whole[len(whole)-1]
	switch {
	case how == plain && s.macs == nil:
		return whole, ""
	case how == plain:
		return nil, "record has no MAC"
	case how != maced:
		return nil, "record is malformed"
	case len(whole) < key+2+macSize:
		return nil, "record is truncated"
	}
	whole, want := whole[:len(whole)-macSize], whole[len(whole)-macSize:]
	if s.macs == nil {
		return whole, ""
	}
	mac := s.macs.Get().(hash.Hash)
	defer s.macs.Put(mac)
	mac.Reset()
	mac.Write(whole)
	var got [macSize]byte
	if !hmac.Equal(mac.Sum(got[:0]), want) {
		return nil, "MAC does not match"
	}
	return whole, ""
}

// decode reads what follows the flags. Its byte slices stay part of what is read; its strings are cut from one copy.
func (rec *Record) decode(r reader) bool {
	rec.Prev = r.hash()
	rec.Nonce = r.uint64()
	rec.At = Micros(r.uint64())
	rec.Meta.Since = Micros(r.uint64())
	rec.Meta.Wake = Micros(r.uint64())
	names := r.b
	for range 4 {
		r.bytes()
	}
	if r.bad {
		return false
	}
	text := string(names[:len(names)-len(r.b)])
	for _, name := range [...]*string{&rec.Meta.Machine, &rec.Meta.State, &rec.Meta.Owner, &rec.Meta.WaitsFor} {
		n, size := binary.Uvarint([]byte(text[:min(len(text), binary.MaxVarintLen64)]))
		*name, text = text[size:size+int(n)], text[size+int(n):]
	}
	rec.Changes = r.bytes()
	rec.Snapshot = r.bytes()
	rec.Entry = r.bytes()
	return !r.bad && len(r.b) == 0
}

// String names the kind.
func (k Kind) String() string {
	switch k {
	case KindRecord:
		return "record"
	case KindBase:
		return "base"
	case KindErased:
		return "tombstone"
	}
	return fmt.Sprintf("kind(%d)", uint8(k))
}

// Prepare fills in c.Tip.Version, c.Prev and c.Changes and seals the record; every store's Commit ends with it.
func (c *Commit) Prepare(s *Sealer, buf []byte) (out []byte, key int) {
	c.Tip.Version = c.Base.Version + 1
	c.Prev = c.Base.Hash
	c.Changes = c.appendChanges(nil) // fresh: the old slice may be somebody's record
	return s.Seal(buf, &c.Record, KindRecord)
}
