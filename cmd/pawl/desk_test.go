package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/pawlgo/pawl/cmd/pawl/holder"
	"github.com/pawlgo/pawl/guard"
	"github.com/pawlgo/pawl/machine"
	"github.com/pawlgo/pawl/resume"
	"github.com/pawlgo/pawl/store"
	"github.com/pawlgo/pawl/store/pebblestore"
)

// Door is the data of a machine that pawl does not know.
type Door struct {
	Rings int `json:"rings"`
}

var (
	ring  = machine.NewEvent[machine.None]("ring")
	open  = machine.NewEvent[machine.None]("open")
	leave = machine.NewEvent[machine.None]("leave")

	doors = func() *machine.Machine[Door] {
		b := machine.New[Door]("door", "waiting")
		b.Final("open", "left")
		b.Wait("waiting", machine.TaskOwner, 72*time.Hour, leave)
		machine.On(b, ring).From("waiting").Stay().By(guard.User).Apply(func(d *Door, _ guard.Case[Door, machine.None]) { d.Rings++ })
		machine.On(b, open).From("waiting").To("open").By(guard.User)
		machine.On(b, leave).From("waiting").To("left")
		return b.MustBuild()
	}()
)

// desk is a service of the scripts: it opens a store, does one thing, and ends, or serves until it is told to end.
//
//	desk start DIR TASK OWNER    begins a door
//	desk ring|open DIR TASK OWNER
//	desk raw DIR TASK            begins a task whose bytes are no JSON, with an effect that is not settled
//	desk lost|paid DIR TASK      pays 60, and the answer is lost, or comes
//	desk prune DIR TASK          forgets the versions below 3
//	desk serve DIR               holds the store until it is interrupted; does what files in DIR.do are named after
//	desk hold DIR                holds the store without a note
//	desk key DIR KEY             makes a store whose records carry a MAC
func desk(ctx context.Context, args []string) error {
	what, dir := args[0], args[1]
	o := pebblestore.Options{Now: scripted}
	if what == "key" {
		o.Key = []byte(args[2])
	}
	st, err := pebblestore.Open(dir, o)
	if err != nil {
		return err
	}
	ctl, err := resume.Open(ctx, st, resume.Config{Machines: []machine.Definition{doors}})
	if err != nil {
		return err
	}
	switch what {
	case "serve":
		err = serve(ctx, st, ctl, dir)
	case "hold":
		if err = os.WriteFile(dir+".ready", nil, 0o600); err == nil {
			<-ctx.Done()
		}
	case "raw":
		_, err = st.Commit(ctx, &store.Commit{Record: store.Record{Task: args[2], Snapshot: []byte{0, 1, 0xff}, Entry: []byte("not an entry"),
			Meta: store.Meta{Machine: "other", State: "somewhere"}}, Emit: []store.Effect{{ID: "pay/1", Body: []byte(`{"minor":4300}`)}}})
	case "lost", "paid":
		err = pays(ctx, st, args[2], what == "paid")
	case "prune":
		err = st.Prune(ctx, args[2], 3)
	case "key":
	default:
		err = do(ctx, ctl, what, args[2], args[3])
	}
	return errors.Join(err, st.Close())
}

// do moves one door.
func do(ctx context.Context, ctl *resume.Controller, what, task, owner string) error {
	who := guard.Principal{ID: owner}
	if what == "start" {
		_, err := ctl.Start(ctx, doors.Task(task, who, Door{}), who)
		return err
	}
	s, err := ctl.Resume(ctx, task, who)
	if err != nil {
		return err
	}
	out, err := s.Propose(ctx, map[string]machine.Event[machine.None]{"ring": ring, "open": open}[what].With(machine.None{}).As(guard.User))
	return errors.Join(err, out.Err())
}

// serve holds a store, tells so in DIR.ready, and does what the files in DIR.do say: the file ring+TASK+OWNER rings.
func serve(ctx context.Context, st *pebblestore.Store, ctl *resume.Controller, dir string) error {
	s, err := holder.Listen(ctx, dir, st, holder.Options{Program: "desk", Now: scripted})
	if err != nil {
		return err
	}
	if err := errors.Join(os.MkdirAll(dir+".do", 0o700), os.WriteFile(dir+".ready", nil, 0o600)); err != nil {
		return err
	}
	for ctx.Err() == nil {
		names, err := filepath.Glob(filepath.Join(dir+".do", "*"))
		if err != nil {
			return err
		}
		for _, name := range names {
			order := strings.Split(filepath.Base(name), "+")
			if err := errors.Join(do(ctx, ctl, order[0], order[1], order[2]), os.Remove(name)); err != nil {
				return err
			}
		}
		time.Sleep(5 * time.Millisecond) // reason: scripts speak by files, and nothing tells of a new one
	}
	return s.Close()
}
