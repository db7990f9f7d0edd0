package crash

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/pawlgo/pawl/examples/refund/refund"
	"github.com/pawlgo/pawl/machine"
	"github.com/pawlgo/pawl/store/pebblestore"
	"github.com/stretchr/testify/require"
)

var (
	soak  = flag.Bool("soak", false, "also kill at random pairs of points")
	pairs = flag.Int("pairs", 200, "how many pairs of points a soak kills at")
	seed  = flag.Uint64("seed", 1, "of the pairs")
)

// A child is this test binary with a directory, a shop and a point to die at.
const (
	dirVariable   = "CRASH_DIR"
	shopVariable  = "CRASH_SHOP"
	pointVariable = "CRASH_POINT"
)

func TestMain(m *testing.M) {
	if dir := os.Getenv(dirVariable); dir != "" {
		os.Exit(child(dir, os.Getenv(shopVariable), os.Getenv(pointVariable)))
	}
	os.Exit(m.Run())
}

// child works on the task, says each version that was acknowledged and each point, and dies at one by SIGKILL.
func child(dir, shop, deadly string) int {
	reach := func(point string) {
		fmt.Println("point", point)
		if point == deadly {
			_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
			select {} // the signal needs a moment
		}
	}
	err := run(context.Background(), dir, shop, reach, func(v uint64) { fmt.Println("ack", v) })
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

// world is one refund's directory and shop.
type world struct {
	t     *testing.T
	dir   string
	shop  *shop
	url   string
	acked uint64
}

func newWorld(t *testing.T, lose int) *world {
	w := &world{t: t, dir: filepath.Join(t.TempDir(), "store"), shop: &shop{ledger: map[string]refund.Record{}, lose: lose}}
	srv := httptest.NewServer(w.shop)
	srv.Config.ErrorLog = nil
	t.Cleanup(srv.Close)
	w.url = srv.URL
	return w
}

// play runs a child; it gives the points that were reached, and whether it was killed.
func (w *world) play(deadly string) (points []string, killed bool) {
	ctx, cancel := context.WithTimeout(w.t.Context(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, os.Args[0])
	cmd.Env = append(os.Environ(), dirVariable+"="+w.dir, shopVariable+"="+w.url, pointVariable+"="+deadly)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	for line := range strings.Lines(stdout.String()) {
		what, value, _ := strings.Cut(strings.TrimSpace(line), " ")
		switch what {
		case "point":
			points = append(points, value)
		case "ack":
			v, err := strconv.ParseUint(value, 10, 64)
			require.NoError(w.t, err)
			w.acked = max(w.acked, v)
		}
	}
	var exit *exec.ExitError
	if errors.As(err, &exit) && exit.Sys().(syscall.WaitStatus).Signal() == syscall.SIGKILL {
		return points, true
	}
	require.NoError(w.t, err, stderr.String())
	return points, false
}

// check sees that the task has ended, that the money was paid once, and that nothing that was acknowledged is missing.
func (w *world) check() {
	t := w.t
	require.Len(t, w.shop.ledger, 1, "refunds in the ledger")
	for _, key := range w.shop.requests {
		require.Equal(t, taskID+"/issue_refund/1", key, "every attempt has the one key")
	}
	st, err := pebblestore.Open(w.dir, pebblestore.Options{Now: func() time.Time { return time.Now().Add(time.Hour) }})
	require.NoError(t, err)
	defer func() { require.NoError(t, st.Close()) }()
	r, effects, err := st.Load(t.Context(), taskID)
	require.NoError(t, err)
	require.Empty(t, effects)
	require.GreaterOrEqual(t, r.Tip.Version, w.acked, "an acknowledged version is missing")
	s, err := refund.Machine.Decode(r.Snapshot)
	require.NoError(t, err)
	require.Equal(t, refund.Refunded, s.State)
	intended := 0
	for r, err := range st.History(t.Context(), taskID, 0, 0) {
		require.NoError(t, err)
		e, err := machine.DecodeEntry(r.Entry)
		require.NoError(t, err)
		if e.To == refund.DispatchingRefund && e.From == refund.AwaitingUserConfirmation {
			intended++
		}
	}
	require.Equal(t, 1, intended, "refunds intended")
	for p, err := range st.Verify(t.Context()) {
		require.NoError(t, err)
		require.Fail(t, "the store found a problem", "%+v", p)
	}
}

// survive kills one child at each point in turn, and lets a last one finish.
func survive(t *testing.T, lose int, deadly ...string) {
	w := newWorld(t, lose)
	for _, point := range deadly {
		w.play(point)
	}
	_, killed := w.play("")
	require.False(t, killed)
	w.check()
}

// allPoints are those of a run that nobody kills, in order, without those that cannot matter twice.
func allPoints(t *testing.T, lose int) []string {
	w := newWorld(t, lose)
	points, killed := w.play("")
	require.False(t, killed)
	w.check()
	return slices.Compact(points)
}

// The crash matrix: the process dies at every point of the pipeline; the task always reaches its end with one refund.
func TestCrashMatrix(t *testing.T) {
	for _, lose := range []int{0, 1} {
		points := allPoints(t, lose)
		require.GreaterOrEqual(t, len(points), 40, "%q", points)
		for _, point := range points {
			t.Run(fmt.Sprintf("lose=%d/%s", lose, point), func(t *testing.T) {
				w := newWorld(t, lose)
				_, killed := w.play(point)
				require.True(t, killed, "the point was not reached")
				_, killed = w.play("")
				require.False(t, killed)
				w.check()
			})
		}
	}
}

// Two deaths, at random points of the first run and of the one that follows it.
func TestCrashPairs(t *testing.T) {
	if !*soak {
		t.Skip("runs with -soak") // reason: hundreds of processes; .ci/run sets the flag
	}
	t.Logf("seed %d; rerun with -soak -seed %d", *seed, *seed)
	random := rand.New(rand.NewPCG(*seed, 0))
	points := allPoints(t, 1)
	for n := range *pairs {
		a, b := points[random.IntN(len(points))], points[random.IntN(len(points))]
		t.Run(fmt.Sprintf("%d/%s+%s", n, a, b), func(t *testing.T) { survive(t, random.IntN(3), a, b) })
	}
}
