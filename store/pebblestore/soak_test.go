package pebblestore

import (
	"bufio"
	"encoding/hex"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlgo/pawl/store"
)

var (
	soak     = flag.Bool("soak", false, "kill a process hundreds of times")
	kills    = flag.Int("kills", 0, "how many times TestKilledProcess kills its process; 0 means 5, and 300 with -soak")
	killTime = flag.Duration("killtime", 4*time.Minute, "after this long TestKilledProcess kills no more")
)

// planned is how many kills were asked for.
func planned() int {
	switch {
	case *kills > 0:
		return *kills
	case *soak:
		return 300
	}
	return 5
}

// soakDir is the environment variable that makes this test binary the process that is killed.
const soakDir = "PAWL_SOAK_DIR"

func TestMain(m *testing.M) {
	if dir := os.Getenv(soakDir); dir != "" {
		fmt.Fprintln(os.Stderr, writeUntilKilled(dir, os.Stdout))
		os.Exit(1)
	}
	flag.Parse()
	os.Exit(m.Run())
}

const soakTasks = 8

// writeUntilKilled commits to some tasks at once and tells of every acknowledged commit.
func writeUntilKilled(dir string, told io.Writer) error {
	s, err := Open(dir, Options{MemTableBytes: 1 << 20})
	if err != nil {
		return err
	}
	errs := make(chan error)
	var mu sync.Mutex
	for i := range soakTasks {
		go func() { errs <- writeTask(s, fmt.Sprint("task-", i), &mu, told) }()
	}
	return <-errs
}

func writeTask(s *Store, task string, mu *sync.Mutex, told io.Writer) error {
	for {
		var tip store.Tip
		rec, es, err := s.Load(ctx, task)
		if err == nil {
			tip = rec.Tip
		} else if tip, _ = s.Tip(ctx, task); tip.Version != 0 {
			return err
		}
		c := step(task, int(tip.Version), tip)
		c.Nonce = rand.Uint64()
		c.Meta.Wake = aroundNow()
		c.Once = []string{fmt.Sprint("name-", tip.Version)}
		c.Emit = []store.Effect{{ID: fmt.Sprint("effect-", tip.Version), Ready: aroundNow(), Body: []byte("pay")}}
		for _, e := range es {
			c.Settle = append(c.Settle, store.Settle{Effect: e.ID, Rev: e.Rev})
		}
		if tip, err = s.Commit(ctx, c); err != nil {
			return err
		}
		if _, err = s.Due(ctx, store.Slots{}, 0); err != nil {
			return err
		}
		mu.Lock()
		_, err = fmt.Fprintf(told, "%s %d %x\n", task, tip.Version, tip.Hash)
		mu.Unlock()
		if err != nil {
			return err
		}
	}
}

// aroundNow is an instant up to a tenth of a second before or after the present.
func aroundNow() store.Micros { return time.Now().UnixMicro() + rand.Int64N(200_000) - 100_000 }

// TestKilledProcess kills a writing process with SIGKILL again and again, on the real disk, and verifies the store
// after each: every commit it told of is there, and nothing is half there. -kills says how often, -killtime for how long at
// most. (Field case B063.)
func TestKilledProcess(t *testing.T) {
	dir := t.TempDir()
	seed := uint64(time.Now().UnixNano())
	t.Log("seed", seed) // the times of the kills; where they hit is up to the machine
	rng := rand.New(rand.NewPCG(seed, 0))
	acknowledged := map[string]store.Tip{}
	commits, done, began := 0, 0, time.Now()
	for i := range planned() {
		if i > 0 && time.Since(began) > *killTime {
			break
		}
		if i%25 == 24 { // a new store, or verifying the growing one would take all the time
			dir, acknowledged = t.TempDir(), map[string]store.Tip{}
		}
		commits += killOne(t, dir, rng, acknowledged)
		s, err := Open(dir, Options{})
		require.NoError(t, err)
		sound(t, s)
		foundDue(t, s)
		for task, want := range acknowledged {
			at := store.Tip{}
			for r, err := range s.History(ctx, task, want.Version, want.Version) {
				require.NoError(t, err)
				at = r.Tip
			}
			require.Equal(t, want, at, task)
			tip, err := s.Tip(ctx, task)
			require.NoError(t, err)
			require.LessOrEqual(t, tip.Version, want.Version+1, "at most one commit of a task was in flight")
			acknowledged[task] = tip
		}
		require.NoError(t, s.Close())
		done++
	}
	t.Logf("soak: %d of %d kills, %d acknowledged commits, none lost, %v", done, planned(), commits, time.Since(began).Round(time.Second))
	require.Positive(t, commits)
}

// killOne runs the process for a while and kills it; it notes what it was told and returns how much that was.
func killOne(t *testing.T, dir string, rng *rand.Rand, acknowledged map[string]store.Tip) (told int) {
	child := exec.Command(os.Args[0])
	child.Env = append(os.Environ(), soakDir+"="+dir)
	child.Stderr = os.Stderr
	out, err := child.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, child.Start())
	lines := bufio.NewScanner(out)
	last := 1 + rng.IntN(400) // kill after so many commits, and a moment more
	for lines.Scan() {
		var task, hash string
		var tip store.Tip
		if n, _ := fmt.Sscanf(lines.Text(), "%s %d %s", &task, &tip.Version, &hash); n != 3 || len(hash) != 64 {
			continue // the last line may be torn
		}
		_, err := hex.Decode(tip.Hash[:], []byte(hash))
		require.NoError(t, err)
		acknowledged[task] = tip
		if told++; told == last {
			require.NoError(t, child.Process.Kill())
		}
	}
	_ = child.Wait()
	require.GreaterOrEqual(t, told, last, "the process ended by itself")
	return told
}
