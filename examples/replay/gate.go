package replay

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"time"

	"github.com/pawlgo/pawl/guard"
	"github.com/pawlgo/pawl/machine"
	"github.com/pawlgo/pawl/resume"
	"github.com/pawlgo/pawl/store/pebblestore"
)

// gate is a controller on a store of its own, with all that a replay needs around it.
type gate struct {
	domain  *Domain
	site    Site
	st      *pebblestore.Store
	ctl     *resume.Controller
	channel *guard.Authority
	spoken  map[string]bool // facts that the customer's channel speaks for
	explain string          // the id of the one conversation that is told in full
	out     io.Writer       // where to
}

// open reads the databases and opens a controller on a Pebble store in dir.
func open(ctx context.Context, d *Domain, data fs.FS, dir string, problem func(error)) (*gate, error) {
	site, err := d.Load(data)
	if err != nil {
		return nil, err
	}
	g := &gate{domain: d, site: site, channel: guard.NewAuthority(d.Reply.Info().Source), spoken: map[string]bool{}}
	for _, f := range d.Machine.Describe().Facts {
		g.spoken[f.Name] = f.Authority == g.channel.Name()
	}
	if g.st, err = pebblestore.Open(dir, pebblestore.Options{Now: from(site.Now())}); err != nil {
		return nil, err
	}
	g.ctl, err = resume.Open(ctx, g.st, resume.Config{
		Machines:  []machine.Definition{d.Machine},
		Observers: site.Observers(),
		Effects:   site.Handlers(),
		Trust:     append(site.Trust(), g.channel),
		Problem:   problem,
	})
	if err != nil {
		return nil, errors.Join(err, g.st.Close())
	}
	return g, nil
}

// from is a clock that starts at an instant.
func from(start time.Time) func() time.Time {
	begun := time.Now()
	return func() time.Time { return start.Add(time.Since(begun)) }
}

func (g *gate) close() error { return g.st.Close() }

// skips tells whether a conversation is passed over, because another one is to be explained.
func (g *gate) skips(id string) bool { return g.explain != "" && g.explain != id }
