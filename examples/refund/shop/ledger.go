package shop

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"path/filepath"
)

// LedgerFile is the name of the ledger in the shop's directory: one JSON object a line, synced before the
// answer that depends on it.
const LedgerFile = "ledger.jsonl"

// ErrCorrupt says that the ledger holds something that the shop did not write. A last line that has no line
// end is not corruption: it was torn by a crash before anybody was told of it, and is cut off.
var ErrCorrupt = errors.New("shop: corrupt ledger")

// entry is one thing that happened; exactly one of its pointers is set.
type entry struct {
	Seq       int      `json:"seq"`
	Refund    *Refund  `json:"refund,omitempty"`
	Handled   *handled `json:"handled,omitempty"`
	Policy    *Policy  `json:"policy,omitempty"`
	Delivered *string  `json:"delivered,omitempty"` // event id
}

type handled struct {
	OrderID string `json:"order_id"`
	Channel string `json:"channel"`
}

// line is an entry as it is stored: the CRC-32C of its exact bytes finds what strict JSON cannot.
type line struct {
	CRC   string          `json:"crc"`
	Entry json.RawMessage `json:"entry"`
}

type ledger struct {
	file   durable
	seq    int
	failed error // the first failed write; nothing is written after it
}

// durable is the part of an *os.File that appending needs.
type durable interface {
	io.WriteCloser
	Sync() error
}

// openLedger opens or creates the ledger in dir and returns its entries, oldest first.
func openLedger(dir string) (*ledger, []entry, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, nil, fmt.Errorf("shop: %w", err)
	}
	file, err := os.OpenFile(filepath.Join(dir, LedgerFile), os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return nil, nil, fmt.Errorf("shop: %w", err)
	}
	entries, err := load(file)
	if err == nil {
		err = syncDir(dir)
	}
	if err != nil {
		return nil, nil, errors.Join(err, file.Close())
	}
	return &ledger{file: file, seq: len(entries)}, entries, nil
}

func load(file *os.File) ([]entry, error) {
	content, err := io.ReadAll(file)
	if err != nil {
		return nil, fmt.Errorf("shop: %w", err)
	}
	whole := content[:bytes.LastIndexByte(content, '\n')+1]
	var entries []entry
	for raw := range bytes.Lines(whole) {
		e, err := readLine(raw, len(entries)+1)
		if err != nil {
			return nil, fmt.Errorf("%w: line %d: %w", ErrCorrupt, len(entries)+1, err)
		}
		entries = append(entries, e)
	}
	if len(whole) == len(content) {
		return entries, nil
	}
	if err := file.Truncate(int64(len(whole))); err != nil {
		return nil, fmt.Errorf("shop: %w", err)
	}
	return entries, file.Sync()
}

func readLine(raw []byte, seq int) (entry, error) {
	var l line
	if err := decodeStrict(raw, &l); err != nil {
		return entry{}, err
	}
	if sum := checksum(l.Entry); sum != l.CRC {
		return entry{}, fmt.Errorf("checksum %s where %q is stored", sum, l.CRC)
	}
	var e entry
	if err := decodeStrict(l.Entry, &e); err != nil {
		return entry{}, err
	}
	if e.Seq != seq {
		return entry{}, fmt.Errorf("entry %d stands in the place of %d", e.Seq, seq)
	}
	return e, nil
}

// append returns after e is durable. After the first failure nobody knows what is on disk, so all later
// calls fail as well; a restart reads what is there.
func (l *ledger) append(e entry) error {
	if l.failed != nil {
		return l.failed
	}
	e.Seq = l.seq + 1
	raw, err := json.Marshal(e)
	if err != nil {
		return fmt.Errorf("shop: %w", err)
	}
	text, err := json.Marshal(line{CRC: checksum(raw), Entry: raw})
	if err != nil {
		return fmt.Errorf("shop: %w", err)
	}
	if _, err = l.file.Write(append(text, '\n')); err == nil {
		err = l.file.Sync()
	}
	if err != nil {
		l.failed = fmt.Errorf("shop: the ledger takes no more entries: %w", err)
		return l.failed
	}
	l.seq++
	return nil
}

func (l *ledger) close() error { return l.file.Close() }

func checksum(b []byte) string {
	return fmt.Sprintf("%08x", crc32.Checksum(b, crc32.MakeTable(crc32.Castagnoli)))
}

func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return fmt.Errorf("shop: %w", err)
	}
	return errors.Join(d.Sync(), d.Close())
}

// decodeStrict reads exactly one JSON value without unknown fields.
func decodeStrict(b []byte, v any) error {
	dec := json.NewDecoder(bytes.NewReader(b))
	dec.DisallowUnknownFields()
	if err := dec.Decode(v); err != nil {
		return err
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return errors.New("more than one JSON value")
	}
	return nil
}
