package resume_test

import (
	"crypto/hmac"
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pawlgo/pawl/guard"
	"github.com/pawlgo/pawl/machine"
	"github.com/pawlgo/pawl/resume"
	"github.com/pawlgo/pawl/store"
	"github.com/stretchr/testify/require"
)

type consignment struct {
	Parcel string `json:"parcel" validate:"required" about:"parcel"`
}

var (
	place   = guard.NewFact[string]("place", guard.From("carrier"), guard.About("parcel"), guard.MaxAge(24*time.Hour))
	scans   = guard.NewFact[int64]("scans", guard.From("carrier"), guard.About("parcel"), guard.Lasting(), guard.Ordered(guard.BySequence))
	handled = guard.NewFact[string]("handled", guard.From("carrier"), guard.Lasting(), guard.Dated())
	toll    = guard.NewFact[int64]("toll", guard.From("payments"), guard.About("parcel"), guard.Lasting())
	closeIt = machine.NewEvent[machine.None]("close_it")
)

// consignments watch a parcel: facts in order of time and of number, and one about the task itself.
func consignments() *machine.Machine[consignment] {
	b := machine.New[consignment]("consignment", "under_way")
	b.Final("closed")
	b.Facts(place, scans, handled, toll)
	machine.On(b, closeIt).From("under_way").To("closed").By(guard.User).Require(guard.Is(place, "home"))
	return b.MustBuild()
}

// depot is an endpoint for the carrier's webhooks. The task "c1" is about parcel p1 and knows where it was a minute ago: in the
// depot, after five scans.
type depot struct {
	*desk
	carrier *guard.Authority
	sig     guard.Signature
	fact    guard.AnyFact // that the endpoint is for
	task    string
}

// minute is the clock's time for one row; it stands still.
var minute = time.Date(2026, 1, 5, 9, 0, 0, 0, time.UTC)

// overlap is when the carrier's old key ends.
var overlap = minute.Add(time.Hour)

func newDepot(t *testing.T) *depot {
	d := &depot{desk: newDesk(t), carrier: guard.NewAuthority("carrier"), fact: place, task: "c1"}
	d.now = minute
	d.sig = guard.HMACSHA256([]byte("new")).Or(guard.HMACSHA256([]byte("old")).Until(overlap))
	d.st = store.NewMemory(store.MemoryOptions{Now: func() time.Time { return d.now }})
	m := consignments()
	ctl, err := resume.Open(d.ctx, d.st, resume.Config{Machines: []machine.Definition{m}, Trust: []*guard.Authority{d.carrier, d.bank}})
	require.NoError(t, err)
	d.ctl = ctl
	for task, parcel := range map[string]string{"c1": "p1", "c2": "p2"} {
		_, err := ctl.Start(d.ctx, m.Task(task, alice, consignment{parcel}), alice)
		require.NoError(t, err)
	}
	d.lands(pushed("e1", "place", "p1", -time.Minute, 0, `"depot"`))
	d.fact = scans
	d.lands(pushed("e2", "scans", "p1", -time.Minute, 5, `5`))
	d.fact = place
	return d
}

// pushed is a webhook's body.
func pushed(id, fact, subject string, ago time.Duration, seq int, value string) string {
	return fmt.Sprintf(`{"id":%q,"fact":%q,"subject":%q,"at":%q,"seq":%d,"value":%s}`, id, fact, subject, minute.Add(ago).Format(time.RFC3339Nano), seq, value)
}

// header signs a body now.
func (d *depot) header(secret, body string) string {
	mac := hmac.New(sha256.New, []byte(secret))
	fmt.Fprintf(mac, "%d.%s", d.now.Unix(), body)
	return fmt.Sprintf("t=%d,v1=%x", d.now.Unix(), mac.Sum(nil))
}

// receive is what an endpoint does: nothing is observed unless the signature holds.
func (d *depot) receive(body, header string, by *guard.Authority) (machine.Outcome, error) {
	o, err := d.sig.Open([]byte(body), header, by, d.fact, d.now)
	if err != nil {
		return machine.Outcome{}, err
	}
	return d.ctl.Observe(d.ctx, d.task, o)
}

func (d *depot) push(body string) (machine.Outcome, error) {
	return d.receive(body, d.header("new", body), d.carrier)
}

func (d *depot) lands(body string) {
	out, err := d.push(body)
	require.NoError(d.t, err)
	require.NoError(d.t, out.Err())
}

// believed is what the newest snapshot of a task holds, "disputed" where the source contradicts itself.
func (d *depot) believed(task string) string {
	s, err := d.ctl.Resume(d.ctx, task, operator)
	require.NoError(d.t, err)
	var out []string
	for _, e := range s.Snapshot().Facts.All() {
		if e.Disputed {
			e.Value = "disputed"
		}
		out = append(out, fmt.Sprintf("%s=%v", e.Key, e.Value))
	}
	return strings.Join(out, " ")
}

// tips are the versions of both tasks, by hash.
func (d *depot) tips() (all [2]store.Tip) {
	for i, task := range []string{"c1", "c2"} {
		var err error
		all[i], err = d.st.Tip(d.ctx, task)
		require.NoError(d.t, err)
	}
	return all
}

const believedBefore = "place(p1)=depot scans(p1)=5"

// van is where the parcel is now.
var van = pushed("e3", "place", "p1", 0, 0, `"van"`)

// received is what an endpoint gives its caller.
type received struct {
	out machine.Outcome
	err error
}

type pushedRow struct {
	name  string
	do    func(*depot) received // the last delivery of the row
	kind  machine.Kind          // of its outcome, "" where there is none
	code  string                // of a refusal, or why
	err   error                 // of the endpoint
	after string                // what is believed then; "" for what was
}

// push delivers a body that the carrier has signed.
func push(body string) func(*depot) received {
	return func(d *depot) received { out, err := d.push(body); return received{out, err} }
}

// about delivers a body to the endpoint of another fact.
func about(f guard.AnyFact, body string) func(*depot) received {
	return func(d *depot) received { d.fact = f; return push(body)(d) }
}

// signedBy delivers what a key signed, with more in its header.
func signedBy(secret, more string) func(*depot) received {
	return func(d *depot) received {
		out, err := d.receive(van, more+d.header(secret, van), d.carrier)
		return received{out, err}
	}
}

// newsRows are what counts.
var newsRows = []pushedRow{
	{name: "news", do: push(van), kind: machine.Committed, after: "place(p1)=van scans(p1)=5"},
	{name: "news by number", do: about(scans, pushed("e3", "scans", "p1", -time.Hour, 6, `6`)), kind: machine.Committed, after: "place(p1)=depot scans(p1)=6"},
}

// duplicateRows are what came before.
var duplicateRows = []pushedRow{
	{name: "duplicate", do: push(pushed("e1", "place", "p1", -time.Minute, 0, `"depot"`)), kind: machine.Unchanged},
	{name: "duplicate under another id", do: push(pushed("e9", "place", "p1", -time.Minute, 0, `"depot"`)), kind: machine.Unchanged},
	{name: "duplicate by number", do: about(scans, pushed("e9", "scans", "p1", -time.Minute, 5, `5`)), kind: machine.Unchanged},
	{name: "the id of another delivery", do: push(pushed("e1", "place", "p1", 0, 0, `"van"`)), kind: machine.Unchanged},
	{name: "another value of the same time", do: push(pushed("e9", "place", "p1", -time.Minute, 0, `"van"`)), kind: machine.Committed, after: "place(p1)=disputed scans(p1)=5"},
}

// orderRows are what comes late, or out of order.
var orderRows = []pushedRow{
	{name: "out of order", do: func(d *depot) received {
		d.lands(van)
		return push(pushed("e4", "place", "p1", -30*time.Second, 0, `"ramp"`))(d)
	}, kind: machine.Unchanged, after: "place(p1)=van scans(p1)=5"},
	{name: "out of order by number", do: func(d *depot) received {
		d.fact = scans
		d.lands(pushed("e4", "scans", "p1", -time.Hour, 9, `9`))
		return push(pushed("e3", "scans", "p1", 0, 8, `8`))(d)
	}, kind: machine.Unchanged, after: "place(p1)=depot scans(p1)=9"},
	{name: "late", do: push(pushed("e9", "place", "p1", -24*time.Hour, 0, `"home"`)), kind: machine.Unchanged},
	{name: "late by number", do: about(scans, pushed("e9", "scans", "p1", 0, 4, `4`)), kind: machine.Unchanged},
}

// futureRows are from a clock that runs ahead.
var futureRows = []pushedRow{
	{name: "future-dated within the tolerance", do: push(pushed("e9", "place", "p1", guard.FutureTolerance, 0, `"van"`)), kind: machine.Committed, after: "place(p1)=van scans(p1)=5"},
	{name: "future-dated", do: push(pushed("e9", "place", "p1", guard.FutureTolerance+time.Microsecond, 0, `"van"`)), kind: machine.Refused, code: "from_the_future"},
}

// subjectRows are about something else, or about the task itself.
var subjectRows = []pushedRow{
	{name: "for another parcel", do: push(pushed("e9", "place", "p2", 0, 0, `"van"`)), kind: machine.Refused, code: machine.CodeOtherSubject},
	{name: "about another task", do: about(handled, pushed("e9", "handled", "c2", 0, 0, `"with care"`)), kind: machine.Refused, code: machine.CodeOtherSubject},
	{name: "about this task", do: about(handled, pushed("e9", "handled", "c1", 0, 0, `"with care"`)), kind: machine.Committed, after: "handled(c1)=with care " + believedBefore},
	{name: "to a task that does not exist", do: func(d *depot) received { d.task = "c3"; return push(van)(d) }, err: resume.ErrNoTask},
}

// replayRows use a signature again.
var replayRows = []pushedRow{
	{name: "replayed", do: func(d *depot) received {
		header := d.header("new", van)
		_, err := d.receive(van, header, d.carrier)
		require.NoError(d.t, err)
		d.now = d.now.Add(guard.SignatureTolerance)
		out, err := d.receive(van, header, d.carrier)
		return received{out, err}
	}, kind: machine.Unchanged, after: "place(p1)=van scans(p1)=5"},
	{name: "replayed after what came later", do: func(d *depot) received {
		header := d.header("new", van)
		_, err := d.receive(van, header, d.carrier)
		require.NoError(d.t, err)
		d.lands(pushed("e4", "place", "p1", time.Second, 0, `"home"`))
		out, err := d.receive(van, header, d.carrier)
		return received{out, err}
	}, kind: machine.Unchanged, after: "place(p1)=home scans(p1)=5"},
	{name: "replayed too late", do: func(d *depot) received {
		header := d.header("new", van)
		d.now = d.now.Add(guard.SignatureTolerance + time.Second)
		out, err := d.receive(van, header, d.carrier)
		return received{out, err}
	}, err: guard.ErrTimestamp},
	{name: "replayed to another task", do: func(d *depot) received {
		d.task = "c2"
		return push(van)(d)
	}, kind: machine.Refused, code: machine.CodeOtherSubject},
	{name: "the signature of other bytes", do: func(d *depot) received {
		out, err := d.receive(pushed("e3", "place", "p1", 0, 0, `"home"`), d.header("new", van), d.carrier)
		return received{out, err}
	}, err: guard.ErrSignature},
	{name: "the signature of the same bytes and a space", do: func(d *depot) received {
		out, err := d.receive(van+" ", d.header("new", van), d.carrier)
		return received{out, err}
	}, err: guard.ErrSignature},
	{name: "no signature", do: func(d *depot) received { out, err := d.receive(van, "", d.carrier); return received{out, err} }, err: guard.ErrSignature},
}

// keyRows are signed by a key that is being rotated, or by none.
var keyRows = []pushedRow{
	{name: "the old key in its overlap", do: signedBy("old", ""), kind: machine.Committed, after: "place(p1)=van scans(p1)=5"},
	{name: "the old key after its overlap", do: func(d *depot) received { d.now = overlap; return signedBy("old", "")(d) }, err: guard.ErrSignature},
	{name: "the new key after the overlap", do: func(d *depot) received { d.now = overlap; return signedBy("new", "")(d) }, kind: machine.Committed, after: "place(p1)=van scans(p1)=5"},
	{name: "an unknown key", do: signedBy("else", ""), err: guard.ErrSignature},
	{name: "an unknown key id", do: signedBy("else", "kid=k9,"), err: guard.ErrSignature},
	{name: "a key's id is not its signature", do: signedBy("else", "kid=new,"), err: guard.ErrSignature},
}

// typeRows are not of the fact's type.
var typeRows = []pushedRow{
	{name: "wrong type", do: push(pushed("e9", "place", "p1", 0, 0, `7`)), err: guard.ErrForm},
	{name: "no value", do: push(pushed("e9", "place", "p1", 0, 0, `null`)), err: guard.ErrForm},
	{name: "a fraction", do: about(scans, pushed("e9", "scans", "p1", 0, 6, `5.5`)), err: guard.ErrForm},
	{name: "a number that does not fit", do: about(scans, pushed("e9", "scans", "p1", 0, 6, `9223372036854775808`)), err: guard.ErrForm},
	{name: "another fact than the endpoint's", do: push(pushed("e9", "scans", "p1", 0, 6, `6`)), err: guard.ErrEvidence},
}

// authorityRows come through another handle.
var authorityRows = []pushedRow{
	{name: "wrong authority", do: func(d *depot) received {
		out, err := d.receive(van, d.header("new", van), d.bank)
		return received{out, err}
	}, kind: machine.Refused, code: "wrong_authority"},
	{name: "a handle of the same name", do: func(d *depot) received {
		out, err := d.receive(van, d.header("new", van), guard.NewAuthority("carrier"))
		return received{out, err}
	}, kind: machine.Refused, code: "untrusted_authority"},
	{name: "no handle", do: func(d *depot) received {
		out, err := d.receive(van, d.header("new", van), nil)
		return received{out, err}
	}, err: guard.ErrEvidence},
}

// formRows are no body.
var formRows = []pushedRow{
	{name: "malformed: cut", do: push(van[:len(van)-1]), err: guard.ErrForm},
	{name: "malformed: a key twice", do: push(strings.Replace(van, `"seq":0`, `"seq":0,"subject":"p2"`, 1)), err: guard.ErrForm},
	{name: "malformed: an unknown key", do: push(strings.Replace(van, `"seq":0`, `"seq":0,"version":9`, 1)), err: guard.ErrForm},
	{name: "malformed: trailing", do: push(van + "{}"), err: guard.ErrForm},
	{name: "malformed: a list", do: push("[" + van + "]"), err: guard.ErrForm},
	{name: "malformed: empty", do: push(""), err: guard.ErrForm},
	{name: "malformed: no id", do: push(pushed("", "place", "p1", 0, 0, `"van"`)), err: guard.ErrForm},
	{name: "malformed: no subject", do: push(pushed("e9", "place", "", 0, 0, `"van"`)), err: guard.ErrForm},
	{name: "malformed: no time", do: push(strings.Replace(van, `"at":"2026-01-05T09:00:00Z",`, "", 1)), err: guard.ErrForm},
	{name: "malformed: a time without a zone", do: push(strings.Replace(van, "09:00:00Z", "09:00:00", 1)), err: guard.ErrForm},
}

// sizeRows are at a limit, or past it.
var sizeRows = []pushedRow{
	{name: "oversized", do: push(van + strings.Repeat(" ", guard.MaxSignedBytes-len(van)+1)), err: guard.ErrSignature},
	{name: "not oversized", do: push(van + strings.Repeat(" ", guard.MaxSignedBytes-len(van))), kind: machine.Committed, after: "place(p1)=van scans(p1)=5"},
	{name: "oversized id", do: push(pushed(strings.Repeat("e", 129), "place", "p1", 0, 0, `"van"`)), err: guard.ErrForm},
	{name: "oversized subject", do: push(pushed("e9", "place", strings.Repeat("p", guard.MaxSubject+1), 0, 0, `"van"`)), err: guard.ErrForm},
	{name: "oversized header", do: func(d *depot) received {
		out, err := d.receive(van, d.header("new", van)+strings.Repeat(",", guard.MaxSignatureHeader), d.carrier)
		return received{out, err}
	}, err: guard.ErrSignature},
}

// batchRows are several at once.
var batchRows = []pushedRow{
	{name: "a good one and a bad one at once", do: func(d *depot) received {
		good, err := d.sig.Open([]byte(van), d.header("new", van), d.carrier, place, d.now)
		require.NoError(d.t, err)
		bad := place.Observe(guard.NewAuthority("carrier"), guard.Observed[string]{Value: "home", Subject: "p1"})
		out, err := d.ctl.Observe(d.ctx, d.task, good, bad)
		return received{out, err}
	}, kind: machine.Refused, code: "untrusted_authority"},
}

// TestPushed has one row for each thing that can be wrong with a signed webhook, or merely odd. What does not commit leaves no byte.
func TestPushed(t *testing.T) {
	for _, row := range slices.Concat(newsRows, duplicateRows, orderRows, futureRows, subjectRows, replayRows, keyRows, typeRows, authorityRows, formRows, sizeRows, batchRows) {
		t.Run(row.name, func(t *testing.T) {
			d := newDepot(t)
			require.Equal(t, believedBefore, d.believed("c1"))
			tips := d.tips()
			got := row.do(d)
			if row.err != nil {
				require.ErrorIs(t, got.err, row.err)
			} else {
				require.NoError(t, got.err)
			}
			require.Equal(t, row.kind, got.out.Kind, got.out.String())
			if row.code != "" {
				require.Contains(t, []any{got.out.Code(), got.out.Findings[0].Details["reason"]}, row.code)
			}
			require.Empty(t, d.believed("c2"), "no row is about it")
			if row.after == "" {
				row.after = believedBefore
				require.Equal(t, tips, d.tips(), "not a byte")
			}
			require.Equal(t, row.after, d.believed("c1"))
		})
	}
}
