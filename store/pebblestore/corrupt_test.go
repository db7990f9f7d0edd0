package pebblestore

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/stretchr/testify/require"

	"github.com/pawlgo/pawl/store"
)

// contents reads a file.
func contents(t *testing.T, fs vfs.FS, name string) []byte {
	f, err := fs.Open(name)
	require.NoError(t, err)
	defer f.Close()
	b, err := io.ReadAll(f)
	require.NoError(t, err)
	return b
}

// rewrite replaces a file.
func rewrite(t *testing.T, fs vfs.FS, name string, b []byte) {
	f, err := fs.Create(name, vfs.WriteCategoryUnspecified)
	require.NoError(t, err)
	_, err = f.Write(b)
	require.NoError(t, err)
	require.NoError(t, f.Sync())
	require.NoError(t, f.Close())
}

// filled is what is left of a process that committed ten versions of three tasks and was killed, and their dump.
func filled(t *testing.T, end func(*Store)) (*vfs.MemFS, string) {
	d := newDisk(vfs.NewCrashableMem())
	c := &clock{}
	c.at.Store(epoch)
	s, err := Open("db", small(d.fs, c.now))
	require.NoError(t, err)
	for i, op := range generate(21, 30, 600) {
		c.at.Store(epoch + int64(i)*1e6)
		require.NoError(t, op(s))
	}
	want, err := dump(s)
	require.NoError(t, err)
	end(s)
	left := d.mem.CrashClone(vfs.CrashCloneCfg{})
	_ = s.Close()
	return left, want
}

// copied is a copy of a memory file system.
func copied(fs *vfs.MemFS) *vfs.MemFS { return fs.CrashClone(vfs.CrashCloneCfg{}) }

func files(t *testing.T, fs vfs.FS, suffix string) (names []string) {
	all, err := fs.List("db")
	require.NoError(t, err)
	for _, name := range all {
		if strings.HasSuffix(name, suffix) {
			names = append(names, fs.PathJoin("db", name))
		}
	}
	return names
}

// TestFlippedByteInTheLog changes every byte of the log of a killed process: the store refuses to open, or has
// lost nothing.
func TestFlippedByteInTheLog(t *testing.T) {
	left, want := filled(t, func(*Store) {})
	refused := 0
	for _, log := range files(t, left, ".log") {
		whole := contents(t, left, log)
		for i := 0; i < len(whole); i += thinned {
			fs := copied(left)
			bad := append([]byte(nil), whole...)
			bad[i] ^= byte(i*37%255 + 1)
			rewrite(t, fs, log, bad)
			c := &clock{}
			c.at.Store(epoch)
			s, err := Open("db", small(fs, c.now))
			if err != nil {
				require.ErrorIs(t, err, store.ErrCorrupt, "byte %d of %s", i, log)
				refused++
				continue
			}
			got, err := dump(s)
			require.NoError(t, err)
			require.Equal(t, want, got, "byte %d of %d of %s", i, len(whole), log)
			require.NoError(t, s.Close())
		}
	}
	t.Log(refused, "refused")
	require.Greater(t, refused, 10_000/thinned)
}

// TestFlippedByteInALargeBatch changes bytes of the very last batch, which lies in several blocks of the log, as one that many commits
// share does, and which nothing later vouches for.
func TestFlippedByteInALargeBatch(t *testing.T) {
	d := newDisk(vfs.NewCrashableMem())
	s, err := Open("db", small(d.fs, nil))
	require.NoError(t, err)
	c := step("task", 1, store.Tip{})
	c.Snapshot = bytes.Repeat(c.Snapshot, 80)
	_, err = s.Commit(ctx, c)
	require.NoError(t, err)
	left := d.mem.CrashClone(vfs.CrashCloneCfg{})
	require.NoError(t, s.Close())

	log := slices.Max(files(t, left, ".log"))
	whole := contents(t, left, log)
	var kinds []byte
	l := journal{data: whole, number: 4}
	for at := 0; at < len(whole); at = l.chunk(at).end {
		require.True(t, l.chunk(at).whole)
		kinds = append(kinds, l.chunk(at).kind)
	}
	require.Subset(t, kinds, []byte{chunkFirst, chunkFirst + 1, chunkLast})
	for i := 0; i < len(whole); i += 599 {
		bad := bytes.Clone(whole)
		bad[i] ^= byte(i*37%255 + 1)
		fs := copied(left)
		rewrite(t, fs, log, bad)
		_, err := Open("db", small(fs, nil))
		require.ErrorIs(t, err, store.ErrCorrupt, "byte %d of %d", i, len(whole))
	}
}

// TestDamagedSectorOfTheLog spoils 256 bytes at a time. Wherever a later commit was written after the damaged one had been
// synced, the store refuses to open. Of the very last commit nothing vouches: it looks like one that was torn.
func TestDamagedSectorOfTheLog(t *testing.T) {
	left, _ := filled(t, func(*Store) {})
	log := slices.Max(files(t, left, ".log"))
	whole := contents(t, left, log)
	l := journal{data: whole, number: 4}
	vouched := 0
	for at := 0; at < len(whole); at = l.chunk(at).end {
		require.True(t, l.chunk(at).whole)
		vouched = int(l.chunk(at).synced)
	}
	require.Greater(t, vouched, len(whole)/2)
	for _, fill := range []byte{0, 0xff, 0x5a} {
		for at := 0; at < vouched; at += 256 {
			fs := copied(left)
			bad := append([]byte(nil), whole...)
			for i := at; i < min(at+256, vouched); i++ {
				bad[i] = fill
			}
			rewrite(t, fs, log, bad)
			_, err := Open("db", small(fs, nil))
			require.ErrorIs(t, err, store.ErrCorrupt, "256 bytes of %x at %d of %d", fill, at, len(whole))
		}
	}
}

// TestFlippedByteInATable flips bytes of the tables: whatever is read is right or ErrCorrupt.
func TestFlippedByteInATable(t *testing.T) {
	left, want := filled(t, func(s *Store) { require.NoError(t, s.db.Flush()) })
	tables := files(t, left, ".sst")
	require.NotEmpty(t, tables)
	caught := 0
	for _, table := range tables {
		whole := contents(t, left, table)
		for i := 0; i < len(whole); i += 97 {
			fs := copied(left)
			bad := append([]byte(nil), whole...)
			bad[i] ^= 1 << (i % 8)
			rewrite(t, fs, table, bad)
			c := &clock{}
			c.at.Store(epoch)
			s, err := Open("db", small(fs, c.now))
			if err != nil {
				require.ErrorIs(t, err, store.ErrCorrupt, "byte %d of %s", i, table)
				caught++
				continue
			}
			got, err := dump(s)
			if err != nil {
				require.ErrorIs(t, err, store.ErrCorrupt, "byte %d of %s", i, table)
				caught++
			} else {
				require.Equal(t, want, got, "byte %d of %s", i, table)
			}
			require.NoError(t, s.Close())
		}
	}
	require.Greater(t, caught, 10)
}

// damage changes rows of a closed store behind its back.
func damage(t *testing.T, fs vfs.FS, change func(db *pebble.DB)) {
	db, err := pebble.Open("db", (&Options{MemTableBytes: 256 << 10}).pebble(fs, &gate{}))
	require.NoError(t, err)
	change(db)
	require.NoError(t, db.Close())
}

// subject is a store with one task that has everything, closed, and what is in it.
type subject struct {
	fs  *vfs.MemFS
	c   *clock
	tip store.Tip
	rec store.Record
	pay store.Effect
}

func newSubject(t *testing.T) *subject {
	u := &subject{fs: vfs.NewCrashableMem(), c: &clock{}}
	u.c.at.Store(epoch)
	s, err := Open("db", small(u.fs, u.c.now))
	require.NoError(t, err)
	for i := range 5 {
		k := step("a", i, u.tip)
		if i == 1 {
			k.Emit = []store.Effect{{ID: "pay", Body: []byte("b")}, {ID: "mail"}}
			k.Once = []string{"reply"}
			k.Swap = []store.Resource{{Name: "cap", Value: []byte("1")}}
		}
		if i == 3 {
			k.Settle = []store.Settle{{Effect: "mail", Rev: store.FirstRev(2)}}
		}
		u.tip, err = s.Commit(ctx, k)
		require.NoError(t, err)
	}
	_, err = s.Commit(ctx, step("b", 0, store.Tip{}))
	require.NoError(t, err)
	rec, es, err := s.Load(ctx, "a")
	require.NoError(t, err)
	u.rec, u.pay = rec, es[0]
	sound(t, s)
	require.NoError(t, s.Close())
	return u
}

// damaged opens a copy that was changed behind the store's back, and gives what Verify says.
func (u *subject) damaged(t *testing.T, change wrong) (*Store, string) {
	left := copied(u.fs)
	damage(t, left, func(db *pebble.DB) {
		if change.drop {
			require.NoError(t, db.Delete(change.key, pebble.Sync))
		} else {
			require.NoError(t, db.Set(change.key, change.value, pebble.Sync))
		}
	})
	s, err := Open("db", small(left, u.c.now))
	require.NoError(t, err)
	told := []string{}
	for p, err := range s.Verify(ctx) {
		require.NoError(t, err)
		told = append(told, fmt.Sprintf("%s version %d: %s", p.Task, p.Version, p.What))
	}
	return s, strings.Join(told, "\n")
}

// wrong is one wrong row, and what Verify must say.
type wrong struct {
	says       string
	key, value []byte
	drop       bool
}

// forged is the record with another snapshot at a version, its checksum right.
func (u *subject) forged(version uint64) (key, value []byte) {
	r := u.rec
	r.Tip.Version, r.Snapshot = version, []byte("forged")
	out, n := (&store.Sealer{}).Seal(nil, &r, store.KindRecord)
	return out[:n], out[n:]
}

func (u *subject) wrongRecords() []wrong {
	inner, forgery := u.forged(3)
	stray := appendAttempt(nil, "c", 1)
	return []wrong{
		{says: "a version 3: record is missing", key: store.AppendKey(nil, "a", 3), drop: true},
		{says: "a version 1: record is missing", key: store.AppendKey(nil, "a", 1), drop: true},
		{says: "a version 3: hash is not the one the next version names", key: inner, value: forgery},
		{says: "a version 2: checksum does not match", key: store.AppendKey(nil, "a", 2), value: []byte("nonsense")},
		{says: "is no row of a task", key: []byte("ta\x00\x09x")},
		{says: "rows without a record", key: stray, value: appendAttemptRow(nil, stray, &store.Attempt{})},
		{says: "is a stray", key: []byte("zebra")},
		{says: "is a stray", key: []byte("mother")},
	}
}

func (u *subject) wrongIndexes() []wrong {
	m, older := &u.rec.Meta, u.rec.Meta
	older.State = "elsewhere"
	return []wrong{
		{says: "index row by state is missing", key: appendState(nil, m, "a"), drop: true},
		{says: "index row by owner is missing", key: appendOwner(nil, m, "a"), drop: true},
		{says: "index row by waited-for is missing", key: appendWaits(nil, m, "a"), drop: true},
		{says: "wake-up is missing", key: appendDue(nil, m, "a"), drop: true},
		{says: "points to a task that is not so", key: appendState(nil, &older, "a")},
		{says: "points to a task that is not so", key: appendState(nil, &older, "zzz")},
		{says: "points to a task that is not so", key: appendDue(nil, &store.Meta{Wake: 5}, "a")},
	}
}

func (u *subject) wrongSides() []wrong {
	settled, moved := u.pay, u.pay
	settled.ID, moved.Ready = "mail", 77
	payKey, settledKey := appendEffect(nil, "a", "pay"), appendEffect(nil, "a", "mail")
	x, capKey := appendOnce(nil, "a", "x"), appendResource(nil, "cap")
	return []wrong{
		{says: "turn of effect pay is missing", key: appendTurn(nil, &u.pay), drop: true},
		{says: "effect pay is neither settled nor there", key: payKey, drop: true},
		{says: "checksum of a row does not match", key: payKey, value: []byte("nonsense")},
		{says: "effect mail is not one that the records leave", key: settledKey, value: appendEffectRow(nil, settledKey, &settled)},
		{says: "effect pay has another turn", key: appendTurn(nil, &moved)},
		{says: "turn of effect mail, which is not there", key: appendTurn(nil, &settled)},
		{says: `used-up name "reply" is missing`, key: appendOnce(nil, "a", "reply"), drop: true},
		{says: "a name is used up that the record does not tell of", key: x, value: appendNumbered(nil, x, 2, nil)},
		{says: "a name is used up by a version that is not there", key: x, value: appendNumbered(nil, x, 9, nil)},
		{says: "resource cap is missing", key: capKey, drop: true},
		{says: "resource cap has another value", key: capKey, value: appendNumbered(nil, capKey, 1, []byte("2"))},
		{says: "resource cap has revision 0", key: capKey, value: appendNumbered(nil, capKey, 0, nil)},
		{says: "newer", key: capKey, value: sealRow([]byte{9, 0, 0, 0, 0, 0, 0, 0, 0}, 0, capKey)},
	}
}

// TestVerifyFindsWhatIsWrong makes one thing wrong at a time.
func TestVerifyFindsWhatIsWrong(t *testing.T) {
	u := newSubject(t)
	for _, w := range slices.Concat(u.wrongRecords(), u.wrongIndexes(), u.wrongSides()) {
		s, told := u.damaged(t, w)
		require.Contains(t, told, w.says)
		require.NoError(t, s.Close())
	}
}

// TestChangedTip checks that who changes the newest record and its checksum is not found by Verify without a key, but by
// a tip that was noted elsewhere before.
func TestChangedTip(t *testing.T) {
	u := newSubject(t)
	key, value := u.forged(u.tip.Version)
	s, told := u.damaged(t, wrong{key: key, value: value})
	require.Empty(t, told)
	got, err := s.Tip(ctx, "a")
	require.NoError(t, err)
	require.NotEqual(t, u.tip, got)
	require.NoError(t, s.Close())
}

// TestHistoryChecksTheChain swaps a version for a forgery whose own checksum is right.
func TestHistoryChecksTheChain(t *testing.T) {
	u := newSubject(t)
	key, value := u.forged(3)
	s, _ := u.damaged(t, wrong{key: key, value: value})
	var err error
	versions := []uint64{}
	for r, e := range s.History(ctx, "a", 0, 0) {
		if err = e; err == nil {
			versions = append(versions, r.Tip.Version)
		}
	}
	var corrupt *store.CorruptError
	require.ErrorAs(t, err, &corrupt)
	require.Equal(t, "a", corrupt.Task)
	require.EqualValues(t, 3, corrupt.Version)
	require.Equal(t, []uint64{5, 4}, versions)
	require.NoError(t, s.Close())
}

// TestKeyedRecords checks that without the key nothing can be changed unnoticed.
func TestKeyedRecords(t *testing.T) {
	fs := vfs.NewCrashableMem()
	c := &clock{}
	c.at.Store(epoch)
	o := small(fs, c.now)
	o.Key = []byte("kept elsewhere")
	s, err := Open("db", o)
	require.NoError(t, err)
	tip, err := s.Commit(ctx, step("a", 0, store.Tip{}))
	require.NoError(t, err)
	rec, _, err := s.Load(ctx, "a")
	require.NoError(t, err)
	require.Equal(t, tip, rec.Tip)
	sound(t, s)
	require.NoError(t, s.Close())

	for _, key := range [][]byte{nil, []byte("another")} {
		wrong := o
		wrong.Key = key
		_, err = Open("db", wrong)
		require.ErrorIs(t, err, store.ErrInvalid)
	}
	for _, insider := range []*store.Sealer{store.NewSealer(nil), store.NewSealer([]byte("guess"))} {
		forged := rec
		forged.Snapshot = []byte("forged")
		out, n := insider.Seal(nil, &forged, store.KindRecord)
		left := copied(fs)
		damage(t, left, func(db *pebble.DB) { require.NoError(t, db.Set(out[:n], out[n:], pebble.Sync)) })
		o.FS = left
		s, err = Open("db", o)
		require.NoError(t, err)
		_, _, err = s.Load(ctx, "a")
		var corrupt *store.CorruptError
		require.True(t, errors.As(err, &corrupt))
		require.Contains(t, corrupt.What, "MAC")
		require.NoError(t, s.Close())
	}
}

// TestNewerStoreIsRefused checks that neither a newer store nor something else is opened, or changed. (Field case B067.)
func TestNewerStoreIsRefused(t *testing.T) {
	left, _ := filled(t, func(*Store) {})
	damage(t, left, func(db *pebble.DB) {
		v, closer, err := db.Get(identityKey)
		require.NoError(t, err)
		_, rest, err := parseNumbered(identityKey, v)
		require.NoError(t, err)
		row := appendNumbered(nil, identityKey, Format+1, rest)
		closer.Close()
		require.NoError(t, db.Set(identityKey, row, pebble.Sync))
	})
	_, err := Open("db", small(left, nil))
	var newer *store.NewerError
	require.ErrorAs(t, err, &newer)
	require.Equal(t, Format+1, newer.Format)

	damage(t, left, func(db *pebble.DB) { require.NoError(t, db.Delete(identityKey, pebble.Sync)) })
	_, err = Open("db", small(left, nil))
	require.ErrorIs(t, err, store.ErrCorrupt)

	_, err = Open("", Options{})
	require.ErrorIs(t, err, store.ErrInvalid)
}
