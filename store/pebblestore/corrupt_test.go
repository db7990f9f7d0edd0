package pebblestore

import (
	"errors"
	"io"
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
		for i := range whole {
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
	require.Greater(t, refused, 10_000)
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
	db, err := pebble.Open("db", (&Options{memTable: 256 << 10}).pebble(fs, &gate{}))
	require.NoError(t, err)
	change(db)
	require.NoError(t, db.Close())
}

// TestVerifyFindsWhatIsWrong makes one thing wrong at a time.
func TestVerifyFindsWhatIsWrong(t *testing.T) {
	fs := vfs.NewCrashableMem()
	c := &clock{}
	c.at.Store(epoch)
	s, err := Open("db", small(fs, c.now))
	require.NoError(t, err)
	tip := store.Tip{}
	for i := range 5 {
		k := step("a", i, tip)
		if i == 1 {
			k.Emit = []store.Effect{{ID: "pay", Body: []byte("b")}, {ID: "mail"}}
			k.Once = []string{"reply"}
			k.Swap = []store.Resource{{Name: "cap", Value: []byte("1")}}
		}
		if i == 3 {
			k.Settle = []store.Settle{{Effect: "mail", Rev: store.FirstRev(2)}}
		}
		tip, err = s.Commit(ctx, k)
		require.NoError(t, err)
	}
	_, err = s.Commit(ctx, step("b", 0, store.Tip{}))
	require.NoError(t, err)
	rec, es, err := s.Load(ctx, "a")
	require.NoError(t, err)
	sound(t, s)
	require.NoError(t, s.Close())

	set := func(key, value []byte) func(*pebble.DB) {
		return func(db *pebble.DB) { require.NoError(t, db.Set(key, value, pebble.Sync)) }
	}
	drop := func(key []byte) func(*pebble.DB) {
		return func(db *pebble.DB) { require.NoError(t, db.Delete(key, pebble.Sync)) }
	}
	forged := rec
	forged.Snapshot = []byte("forged")
	forgery, n := s.sealer.Seal(nil, &forged, store.KindRecord)
	middle := rec
	middle.Tip.Version, middle.Snapshot = 3, []byte("forged")
	inner, m := s.sealer.Seal(nil, &middle, store.KindRecord)
	settled := es[0]
	settled.ID = "mail"
	settledKey := appendEffect(nil, "a", "mail")
	older := rec.Meta
	older.State = "elsewhere"
	otherEffect := es[0]
	otherEffect.Ready = 77

	for what, change := range map[string]func(*pebble.DB){
		"version 3: record is missing":                  drop(store.AppendKey(nil, "a", 3)),
		"version 1: record is missing":                  drop(store.AppendKey(nil, "a", 1)),
		"hash is not the one the next version names":    set(inner[:m], inner[m:]),
		"checksum does not match":                       set(store.AppendKey(nil, "a", 2), []byte("nonsense")),
		"index row by state is missing":                 drop(appendState(nil, &rec.Meta, "a")),
		"index row by owner is missing":                 drop(appendOwner(nil, &rec.Meta, "a")),
		"index row by waited-for is missing":            drop(appendWaits(nil, &rec.Meta, "a")),
		"wake-up is missing":                            drop(appendDue(nil, &rec.Meta, "a")),
		"points to a task that is not so":               set(appendState(nil, &older, "a"), nil),
		"points to a task that is not so: absent":       set(appendState(nil, &older, "zzz"), nil),
		"points to a task that is not so: wake":         set(appendDue(nil, &store.Meta{Wake: 5}, "a"), nil),
		"turn of effect pay is missing":                 drop(appendTurn(nil, &es[0])),
		"effect pay is neither settled nor there":       drop(appendEffect(nil, "a", "pay")),
		"effect mail is not one that the records leave": set(settledKey, appendEffectRow(nil, settledKey, &settled)),
		"effect pay has another turn":                   set(appendTurn(nil, &otherEffect), nil),
		"turn of effect mail, which is not there":       set(appendTurn(nil, &settled), nil),
		`used-up name "reply" is missing`:               drop(appendOnce(nil, "a", "reply")),
		"a name is used up that the record does not":    set(appendOnce(nil, "a", "x"), appendNumbered(nil, appendOnce(nil, "a", "x"), 2, nil)),
		"a name is used up by a version that is not":    set(appendOnce(nil, "a", "x"), appendNumbered(nil, appendOnce(nil, "a", "x"), 9, nil)),
		"resource cap is missing":                       drop([]byte("rcap")),
		"resource cap has another value":                set([]byte("rcap"), appendNumbered(nil, []byte("rcap"), 1, []byte("2"))),
		"resource cap has revision 0":                   set([]byte("rcap"), appendNumbered(nil, []byte("rcap"), 0, nil)),
		"is a stray":                                    set([]byte("zebra"), nil),
		"is a stray: meta":                              set([]byte("mother"), nil),
		"is no row of a task":                           set([]byte("ta\x00\x09x"), nil),
		"rows without a record":                         set(appendAttempt(nil, "c", 1), appendAttemptRow(nil, appendAttempt(nil, "c", 1), &store.Attempt{})),
		"checksum of a row does not match":              set(appendEffect(nil, "a", "pay"), []byte("nonsense")),
		"newer":                                         set([]byte("rcap"), sealRow([]byte{9, 0, 0, 0, 0, 0, 0, 0, 0}, 0, []byte("rcap"))),
	} {
		left := copied(fs)
		damage(t, left, change)
		s, err := Open("db", small(left, c.now))
		require.NoError(t, err, what)
		told := []string{}
		for p, err := range s.Verify(ctx) {
			require.NoError(t, err, what)
			told = append(told, strings.ReplaceAll(p.Task+" version "+string(rune('0'+p.Version))+": "+p.What, "\x00", "."))
		}
		text, _, _ := strings.Cut(what, ": absent")
		text, _, _ = strings.Cut(text, ": wake")
		text, _, _ = strings.Cut(text, ": meta")
		require.Contains(t, strings.Join(told, "\n"), text)
		require.NoError(t, s.Close())
	}

	// Who changes the newest record and its checksum is not found without a key; with anchors or a key he is.
	left := copied(fs)
	damage(t, left, set(forgery[:n], forgery[n:]))
	s, err = Open("db", small(left, c.now))
	require.NoError(t, err)
	sound(t, s)
	got, err := s.Tip(ctx, "a")
	require.NoError(t, err)
	require.NotEqual(t, tip, got, "an anchor taken before tells")
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
