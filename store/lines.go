package store

import (
	"bufio"
	"bytes"
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"
	"strconv"
	"time"
	"unicode/utf8"
)

// line is one line of an export: an effect or a record. The effects of a task come first, then its records, oldest first.
type line struct {
	Effect *effectLine `json:"effect,omitempty"`
	Record *recordLine `json:"record,omitempty"`
}

type effectLine struct {
	Task    string `json:"task"`
	ID      string `json:"id"`
	Version uint64 `json:"version"`
	Rev     uint64 `json:"rev"`
	Status  string `json:"status"` // told, not taken: an imported effect is unknown
	Body    blob   `json:"body"`
}

type recordLine struct {
	Task     string  `json:"task"`
	Version  uint64  `json:"version"`
	Hash     hexHash `json:"hash"`
	Prev     hexHash `json:"prev"`
	At       stamp   `json:"at"`
	Nonce    string  `json:"nonce"` // decimal: JSON readers round large numbers
	Machine  string  `json:"machine"`
	State    string  `json:"state"`
	Owner    string  `json:"owner,omitempty"`
	WaitsFor string  `json:"waits_for,omitempty"`
	Since    stamp   `json:"since"`
	Wake     stamp   `json:"wake"`
	Final    bool    `json:"final,omitempty"`
	Changes  blob    `json:"changes"`
	Snapshot blob    `json:"snapshot"`
	Entry    blob    `json:"entry"`
}

// hexHash is a hash in hexadecimal.
type hexHash [32]byte

// MarshalText implements encoding.TextMarshaler.
func (h hexHash) MarshalText() ([]byte, error) { return hex.AppendEncode(nil, h[:]), nil }

// UnmarshalText implements encoding.TextUnmarshaler.
func (h *hexHash) UnmarshalText(b []byte) error {
	if len(b) != 2*len(h) {
		return errors.New("hash is not 64 hexadecimal digits")
	}
	_, err := hex.Decode(h[:], b)
	return err
}

// stamp is an instant as a time a person can read; zero is empty, and one no calendar has is its microseconds.
type stamp Micros

// MarshalText implements encoding.TextMarshaler.
func (s stamp) MarshalText() ([]byte, error) {
	if s == 0 {
		return nil, nil
	}
	t := time.UnixMicro(int64(s)).UTC()
	if y := t.Year(); y < 1970 || y > 9999 {
		return strconv.AppendInt(nil, int64(s), 10), nil
	}
	return t.AppendFormat(nil, time.RFC3339Nano), nil
}

// UnmarshalText implements encoding.TextUnmarshaler.
func (s *stamp) UnmarshalText(b []byte) error {
	if len(b) == 0 {
		*s = 0
		return nil
	}
	if n, err := strconv.ParseInt(string(b), 10, 64); err == nil {
		*s = stamp(n)
		return nil
	}
	t, err := time.Parse(time.RFC3339Nano, string(b))
	*s = stamp(t.UnixMicro())
	return err
}

// blob is bytes as readable as they can be without losing one: JSON without needless space stands as it is, other
// UTF-8 as {"text": ...}, and the rest as {"base64": ...}.
type blob []byte

type wrapped struct {
	Text   *string `json:"text,omitempty"`
	Base64 []byte  `json:"base64,omitempty"`
}

// bare says whether the bytes can stand in a line as they are, and cannot be mistaken for a wrapping.
func (b blob) bare() bool {
	var compact bytes.Buffer
	return json.Compact(&compact, b) == nil && bytes.Equal(compact.Bytes(), b) && utf8.Valid(b) &&
		!bytes.HasPrefix(b, []byte(`{"text":`)) && !bytes.HasPrefix(b, []byte(`{"base64":`)) && string(b) != "null"
}

// MarshalJSON implements json.Marshaler.
func (b blob) MarshalJSON() ([]byte, error) {
	text := string(b)
	switch {
	case len(b) == 0:
		return []byte("null"), nil
	case b.bare():
		return b, nil
	case utf8.Valid(b):
		return json.Marshal(wrapped{Text: &text})
	}
	return json.Marshal(wrapped{Base64: b})
}

// UnmarshalJSON implements json.Unmarshaler.
func (b *blob) UnmarshalJSON(in []byte) error {
	if string(in) == "null" {
		*b = nil
		return nil
	}
	if !bytes.HasPrefix(in, []byte(`{"text":`)) && !bytes.HasPrefix(in, []byte(`{"base64":`)) {
		*b = bytes.Clone(in)
		return nil
	}
	var w wrapped
	d := json.NewDecoder(bytes.NewReader(in))
	d.DisallowUnknownFields()
	if err := d.Decode(&w); err != nil {
		return err
	}
	if *b = w.Base64; w.Text != nil {
		*b = []byte(*w.Text)
	}
	return nil
}

// Export writes a task as JSON Lines that a person can read and Import takes back byte for byte: its unsettled effects,
// then its records, oldest first. It exports the tip it found when it began.
func Export(ctx context.Context, s Store, task string, w io.Writer) error {
	rec, effects, err := s.Load(ctx, task)
	if err != nil {
		return err
	}
	out := json.NewEncoder(w)
	out.SetEscapeHTML(false)
	for i := range effects {
		e := &effects[i]
		l := effectLine{Task: e.Task, ID: e.ID, Version: e.Version, Rev: e.Rev, Status: e.Status.String(), Body: e.Body}
		if err := out.Encode(line{Effect: &l}); err != nil {
			return err
		}
	}
	oldest := rec.Tip.Version
	for r, err := range s.History(ctx, task, rec.Tip.Version, 0) {
		if err != nil {
			return err
		}
		oldest = r.Tip.Version
	}
	for ; oldest <= rec.Tip.Version; oldest += exportPage {
		if err := exportRecords(ctx, s, task, oldest, min(oldest+exportPage-1, rec.Tip.Version), out); err != nil {
			return err
		}
	}
	return nil
}

const exportPage = 32

// exportRecords writes a few versions, oldest first.
func exportRecords(ctx context.Context, s Store, task string, oldest, newest uint64, out *json.Encoder) error {
	var page []Record
	for r, err := range s.History(ctx, task, newest, oldest) {
		if err != nil {
			return err
		}
		page = append(page, r)
	}
	for _, r := range slices.Backward(page) {
		m := &r.Meta
		err := out.Encode(line{Record: &recordLine{
			Task: r.Task, Version: r.Tip.Version, Hash: r.Tip.Hash, Prev: r.Prev,
			At: stamp(r.At), Nonce: strconv.FormatUint(r.Nonce, 10),
			Machine: m.Machine, State: m.State, Owner: m.Owner, WaitsFor: m.WaitsFor,
			Since: stamp(m.Since), Wake: stamp(m.Wake), Final: m.Final,
			Changes: r.Changes, Snapshot: r.Snapshot, Entry: r.Entry,
		}})
		if err != nil {
			return err
		}
	}
	return nil
}

// ExportAll exports every task but the erased ones, in the order of Find.
func ExportAll(ctx context.Context, s Store, w io.Writer) error {
	q := Query{}
	for {
		rows, next, err := s.Find(ctx, q)
		if err != nil {
			return err
		}
		for i := range rows {
			if err := Export(ctx, s, rows[i].Task, w); err != nil {
				return err
			}
		}
		if q.After = next; next == "" {
			return nil
		}
	}
}

// Import takes what Export or ExportAll wrote, one task after the other, and says how many tasks it imported before it
// ended or failed. The task at which it failed is not imported. One that is there already with all that the lines hold of it is passed over, so that
// an import which was interrupted can be made again; one that is there with another history is an ErrConflict. Malformed input is
// ErrInvalid and names the line.
func Import(ctx context.Context, c Copier, r io.Reader) (tasks int, err error) {
	in := &importer{lines: bufio.NewScanner(r)}
	in.lines.Buffer(nil, 4*MaxCommit)
	in.read()
	for in.task != "" {
		task := in.task
		effects := in.effects(task)
		err := c.Import(ctx, task, in.records(task), effects)
		there := false
		if errors.Is(err, ErrConflict) {
			there, err = in.there(ctx, c, task, err)
		}
		if err != nil {
			return tasks, fmt.Errorf("import, line %d: %w", in.n, errors.Join(in.err, err))
		}
		if !there {
			tasks++
		}
	}
	if in.err != nil {
		return tasks, fmt.Errorf("import, line %d: %w", in.n, in.err)
	}
	return tasks, nil
}

// there passes over a task if the store has all of its records, and gives the conflict if it has not. It reads the records either way.
func (in *importer) there(ctx context.Context, c Copier, task string, conflict error) (bool, error) {
	var last Tip
	for r, err := range in.records(task) {
		if err != nil {
			return false, err
		}
		last = r.Tip
	}
	s, can := c.(Store)
	if !can || last.Version == 0 {
		return false, conflict
	}
	for r, err := range s.History(ctx, task, last.Version, last.Version) {
		if err != nil {
			return false, err
		}
		if r.Tip == last {
			return true, nil
		}
	}
	return false, conflict
}

// importer reads lines; it stands on the next one, whose task is empty at the end and after an error.
type importer struct {
	lines *bufio.Scanner
	n     int
	err   error
	next  line
	task  string
}

func (in *importer) read() {
	in.next, in.task = line{}, ""
	if !in.lines.Scan() {
		in.err = in.lines.Err()
		return
	}
	in.n++
	d := json.NewDecoder(bytes.NewReader(in.lines.Bytes()))
	d.DisallowUnknownFields()
	if err := d.Decode(&in.next); err != nil {
		in.err = errors.Join(err, ErrInvalid)
		return
	}
	switch e, r := in.next.Effect, in.next.Record; {
	case (e == nil) == (r == nil):
		in.err = invalid("line is neither an effect nor a record")
	case e != nil:
		in.task = e.Task
	default:
		in.task = r.Task
	}
	if in.err == nil && in.task == "" {
		in.err = invalid("line names no task")
	}
}

func (in *importer) effects(task string) (es []Effect) {
	for in.task == task && in.next.Effect != nil {
		e := in.next.Effect
		es = append(es, Effect{Task: e.Task, ID: e.ID, Version: e.Version, Rev: e.Rev, Status: Unknown, Body: e.Body})
		in.read()
	}
	return es
}

func (in *importer) records(task string) iter.Seq2[Record, error] {
	return func(yield func(Record, error) bool) {
		for in.task == task && in.next.Record != nil {
			r, err := in.next.Record.record()
			if err != nil {
				yield(r, err)
				return
			}
			in.read()
			if in.err != nil {
				yield(r, in.err)
				return
			}
			if !yield(r, nil) {
				return
			}
		}
	}
}

func (l *recordLine) record() (Record, error) {
	nonce, err := strconv.ParseUint(l.Nonce, 10, 64)
	if err != nil {
		return Record{}, invalid("task %s, version %d: nonce %q", l.Task, l.Version, l.Nonce)
	}
	return Record{
		Task: l.Task, Tip: Tip{Version: l.Version, Hash: l.Hash}, Prev: l.Prev, At: Micros(l.At), Nonce: nonce,
		Meta: Meta{
			Machine: l.Machine, State: l.State, Owner: l.Owner, WaitsFor: l.WaitsFor,
			Since: Micros(l.Since), Wake: Micros(l.Wake), Final: l.Final,
		},
		Changes: l.Changes, Snapshot: l.Snapshot, Entry: l.Entry,
	}, nil
}
