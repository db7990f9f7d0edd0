package resume_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/pawlgo/pawl/guard"
	"github.com/pawlgo/pawl/machine"
	"github.com/pawlgo/pawl/resume"
	"github.com/pawlgo/pawl/store/pebblestore"
	"github.com/stretchr/testify/require"
)

// The letter of these tests is written, agreed to and posted. Its definitions are as they were when tasks were stored under them
// (testdata/stored): none of them may be changed any more. A change needs a version of its own.
type (
	letterV1 struct {
		ID     string `json:"id" about:"letter"`
		Text   string `json:"text"`
		Copies int64  `json:"copies"`
	}
	letterV2 struct {
		ID     string   `json:"id" about:"letter"`
		Lines  []string `json:"lines"`
		Copies int64    `json:"copies" validate:"min=1"`
	}
	posting struct {
		ID     string `json:"id"`
		Copies int64  `json:"copies"`
	}
	posted struct {
		Number string `json:"number"`
	}
	sendOff struct {
		ID     string `json:"id" about:"letter"`
		Copies int64  `json:"copies"`
	}
)

const (
	drafting machine.State = "drafting"
	asked1   machine.State = "asked"    // version 1
	awaiting machine.State = "awaiting" // later ones
	sending  machine.State = "sending"
	sent     machine.State = "sent"
	kept     machine.State = "kept"
)

// The facts of a letter. The second version has another name for the author, and wants it observed more often; it believes the post
// for longer; and what the scale says about the weight is another fact than what the office said.
var (
	author  = guard.NewFact[string]("author", guard.From("office"), guard.About("letter"), guard.MaxAge(time.Hour))
	writer  = guard.NewFact[string]("writer", guard.From("office"), guard.About("letter"), guard.MaxAge(30*time.Minute))
	franked = guard.NewFact[bool]("franked", guard.From("post"), guard.About("letter"), guard.MaxAge(2*time.Hour))
	stamped = guard.NewFact[bool]("franked", guard.From("post"), guard.About("letter"), guard.MaxAge(4*time.Hour))
	weight1 = guard.NewFact[int64]("weight", guard.From("office"), guard.About("letter"), guard.Lasting())
	weight2 = guard.NewFact[int64]("weighed", guard.From("scale"), guard.About("letter"), guard.Lasting())
	route   = guard.NewFact[string]("route", guard.From("post"), guard.About("letter"), guard.Lasting(), guard.Ordered(guard.BySequence))
	word    = guard.NewReply("word", guard.From("desk"))
	postage = guard.NewFact[posted]("postage", guard.From("post"), guard.About(machine.EffectKind), guard.Lasting())

	postIt     = machine.NewEffect[posting]("post_it", postage)
	askAuthor  = machine.NewEvent[machine.None]("ask_author")
	sendLetter = machine.NewEvent[sendOff]("send_letter")
	dropLetter = machine.NewEvent[machine.None]("drop_letter")
	lateV1     = machine.NewEvent[machine.None]("late")
	lateV2     = machine.NewEvent[machine.None]("overdue_answer")
	nagged     = machine.NewEvent[machine.None]("nagged")
)

func letterEdges[D any](b *machine.Builder[D], asked machine.State, by guard.Fact[string], ready guard.Fact[bool], late machine.Event[machine.None],
	offer func(D) sendOff) {
	b.Final(sent, kept)
	b.Facts(route)
	b.Wait(asked, machine.TaskOwner, 48*time.Hour, late)
	b.After(asked, 24*time.Hour, nagged)
	machine.On(b, askAuthor).From(drafting).To(asked).By(guard.User).Require(guard.Owner(by), guard.True(ready)).
		Then(machine.Offer(sendLetter, machine.TaskOwner, 48*time.Hour, func(c guard.Case[D, machine.None]) []sendOff { return []sendOff{offer(c.Data)} }))
	machine.On(b, sendLetter).From(asked).To(sending).By(guard.User).Require(guard.Owner(by), guard.True(ready)).Confirm(word).Then(
		machine.Emit(postIt, func(c guard.Case[D, sendOff]) posting { return posting{c.Payload.ID, c.Payload.Copies} }),
		machine.Reserve(func(c guard.Case[D, sendOff]) []machine.Hold {
			return []machine.Hold{{Resource: "stamps", Amount: c.Payload.Copies, Limit: 100, Spent: true}}
		}))
	machine.On(b, nagged).From(asked).Stay().Require(guard.True(ready))
	b.Accept(machine.LintLapse, "state "+string(asked), "the wait ends by itself")
	machine.On(b, late).From(asked).To(kept)
	machine.On(b, dropLetter).From(drafting, asked).To(kept).By(guard.User)
	machine.On(b, postIt.Confirmed()).From(sending).To(sent)
	machine.On(b, postIt.Failed()).From(sending).To(kept)
}

func letter1() *machine.Machine[letterV1] {
	b := machine.New[letterV1]("letter", drafting)
	b.Facts(weight1)
	letterEdges(b, asked1, author, franked, lateV1, func(d letterV1) sendOff { return sendOff{d.ID, d.Copies} })
	return b.MustBuild()
}

func letter2() *machine.Machine[letterV2] {
	b := machine.New[letterV2]("letter", drafting)
	b.Version(2)
	b.Facts(weight2)
	letterEdges(b, awaiting, writer, stamped, lateV2, func(d letterV2) sendOff { return sendOff{d.ID, d.Copies} })
	return b.MustBuild()
}

// letter3 holds what version 2 only hoped for.
func letter3() *machine.Machine[letterV2] {
	b := machine.New[letterV2]("letter", drafting)
	b.Version(3)
	b.Facts(weight2)
	letterEdges(b, awaiting, writer, stamped, lateV2, func(d letterV2) sendOff { return sendOff{d.ID, d.Copies} })
	b.Invariant("nothing is empty", func(s machine.Snapshot[letterV2]) error {
		if len(s.Data.Lines) == 0 {
			return errors.New("no line")
		}
		return nil
	})
	return b.MustBuild()
}

// letterSteps lead from the first to the last.
func letterSteps() []machine.Migration {
	return []machine.Migration{
		machine.MustMigrate(letter1(), letter2(), func(d letterV1) (letterV2, error) {
			return letterV2{d.ID, strings.Split(d.Text, "\n"), max(d.Copies, 1)}, nil
		}, machine.RenameState(asked1, awaiting), machine.RenameFact(author, writer), machine.RenameEvent(lateV1, lateV2)),
		machine.MustMigrate(letter2(), letter3(), machine.SameData[letterV2]),
	}
}

// post is a desk of letters on Pebble, and what the post did.
type post struct {
	t     *testing.T
	ctx   context.Context
	fs    *vfs.MemFS
	st    *pebblestore.Store
	now   time.Time
	hands map[string]*guard.Authority
	sends []string
	holds bool // answers are lost
	heard []error
}

func newPost(t *testing.T) *post {
	p := &post{t: t, ctx: t.Context(), fs: vfs.NewCrashableMem(), now: time.Date(2026, 1, 5, 9, 0, 0, 0, time.UTC), hands: map[string]*guard.Authority{}}
	for _, name := range []string{"office", "post", "scale", "desk"} {
		p.hands[name] = guard.NewAuthority(name)
	}
	p.power()
	return p
}

func (p *post) power() {
	var err error
	p.st, err = pebblestore.Open("post", pebblestore.Options{FS: p.fs, Now: func() time.Time { return p.now }, CacheBytes: 1 << 20})
	require.NoError(p.t, err)
	st := p.st
	p.t.Cleanup(func() { _ = st.Close() }) // a store that was cut off reports what it likes
}

// cut takes the power away.
func (p *post) cut() {
	old := p.st
	p.fs = p.fs.CrashClone(vfs.CrashCloneCfg{})
	_ = old.Close() // as above
	p.power()
}

// serve opens a controller with definitions, and steps between them.
func (p *post) serve(steps []machine.Migration, machines ...machine.Definition) *resume.Controller {
	sources := map[string]bool{}
	for _, m := range machines {
		for _, f := range m.Describe().Facts {
			sources[f.Authority] = true
		}
	}
	cfg := resume.Config{Machines: machines, Migrations: steps, Problem: func(err error) { p.heard = append(p.heard, err) },
		Effects: []resume.Handler{resume.Perform(postIt,
			func(_ context.Context, j machine.Job[posting]) (posted, error) {
				p.sends = append(p.sends, j.Key)
				if p.holds {
					return posted{}, errReset
				}
				return posted{"R1"}, nil
			},
			func(_ context.Context, j machine.Job[posting]) (posted, bool, error) {
				return posted{"R1"}, !p.holds, nil
			})}}
	for name, h := range p.hands {
		if sources[name] {
			cfg.Trust = append(cfg.Trust, h)
		}
	}
	ctl, err := resume.Open(p.ctx, p.st, cfg)
	require.NoError(p.t, err)
	return ctl
}

func (p *post) resume(ctl *resume.Controller, id string) *resume.Session {
	p.t.Helper()
	s, err := ctl.Resume(p.ctx, id, alice)
	require.NoError(p.t, err)
	return s
}

func (p *post) tick(by time.Duration) { p.now = p.now.Add(by) }

// tell pushes what sources say about letter l1.
func (p *post) tell(ctl *resume.Controller, task string, all ...guard.Observation) {
	p.t.Helper()
	for _, o := range all {
		p.tick(time.Second)
		out, err := ctl.Observe(p.ctx, task, o)
		require.NoError(p.t, err)
		require.NoError(p.t, out.Err())
	}
}

func (p *post) commits(s *resume.Session, pr machine.Proposal, carried ...guard.Observation) {
	p.t.Helper()
	p.tick(time.Second)
	out, err := s.Propose(p.ctx, pr.As(guard.User), carried...)
	require.NoError(p.t, err)
	require.NoError(p.t, out.Err())
}

// says is a value of a source, as of now.
func says[T any](p *post, f guard.Fact[T], v T, more ...func(*guard.Observed[T])) guard.Observation {
	o := guard.Observed[T]{Value: v, Subject: "l1", At: p.now, Ref: "said/" + f.Info().Name}
	for _, m := range more {
		m(&o)
	}
	return f.Observe(p.hands[f.Info().Source], o)
}

// written starts a letter of the first version about which all is known.
func (p *post) written(ctl *resume.Controller, id string) *resume.Session {
	p.t.Helper()
	_, err := ctl.Start(p.ctx, letter1().Task(id, alice, letterV1{"l1", "Dear Bob\nyours, Alice", 2}), alice)
	require.NoError(p.t, err)
	p.tell(ctl, id, says(p, author, "alice"), says(p, franked, true), says(p, weight1, 40), says(p, route, "north", func(o *guard.Observed[string]) { o.Seq = 7 }))
	return p.resume(ctl, id)
}

// asked is a letter whose author has been asked.
func (p *post) asked(ctl *resume.Controller, id string) *resume.Session {
	p.t.Helper()
	s := p.written(ctl, id)
	p.commits(s, askAuthor.With(machine.None{}))
	return s
}

// agrees has the author press the button under the one open offer.
func (p *post) agrees(s *resume.Session) guard.Observation {
	p.t.Helper()
	require.Len(p.t, s.Offers(), 1)
	p.tick(time.Second)
	return word.Observe(p.hands["desk"], guard.Observed[guard.Reply]{Value: guard.Reply{By: "alice", Choice: guard.ChoiceYes}, Subject: s.Offers()[0].ID, At: p.now})
}

// agreed is a letter that is to be sent.
func (p *post) agreed(ctl *resume.Controller, id string) *resume.Session {
	p.t.Helper()
	s := p.asked(ctl, id)
	p.commits(s, sendLetter.With(sendOff{"l1", 2}), p.agrees(s))
	return s
}
