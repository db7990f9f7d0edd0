// Hello ships a deployment when, and only when, its tests are known to be green.
package main

import (
	"context"
	"fmt"
	"time"

	"github.com/pawlgo/pawl/guard"
	"github.com/pawlgo/pawl/machine"
	"github.com/pawlgo/pawl/resume"
	"github.com/pawlgo/pawl/store"
)

type Deploy struct{ Commit string }

func main() {
	green := guard.NewFact[bool]("tests_green", guard.From("ci"), guard.MaxAge(time.Hour))
	ship := machine.NewEvent[machine.None]("ship")
	b := machine.New[Deploy]("deploy", "waiting")
	b.Final("shipped")
	machine.On(b, ship).From("waiting").To("shipped").By(guard.Model).Require(guard.True(green))

	ctx, ann, ci, m := context.Background(), guard.Principal{ID: "ann"}, guard.NewAuthority("ci"), b.MustBuild()
	ctl := must(resume.Open(ctx, store.NewMemory(store.MemoryOptions{}), resume.Config{
		Machines: []machine.Definition{m}, Trust: []*guard.Authority{ci}}))
	task := must(ctl.Start(ctx, m.Task("deploy_7", ann, Deploy{"abc123"}), ann))
	fmt.Println(must(task.Propose(ctx, ship.With(machine.None{})))) // the model proposes
	fmt.Println(must(task.Observe(ctx, green.Observe(ci, guard.Observed[bool]{Value: true, Subject: "deploy_7"}))))
	fmt.Println(must(task.Propose(ctx, ship.With(machine.None{})))) // evidence decides
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}
