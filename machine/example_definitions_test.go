package machine_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/pawlgo/pawl/guard"
	"github.com/pawlgo/pawl/machine"
	"github.com/pawlgo/pawl/machine/machinetest"
	"github.com/pawlgo/pawl/resume"
	"github.com/pawlgo/pawl/store"
)

// The code of docs/definitions.md. TestDefinitionsPage sees that the page shows nothing else.

type Loan struct {
	Book string `json:"book" validate:"required" about:"book"`
	Days int64  `json:"days" validate:"min=1"`
}

var (
	OnShelf  = guard.NewFact[bool]("on_shelf", guard.From("library"), guard.About("book"), guard.MaxAge(time.Hour))
	CameBack = guard.NewFact[bool]("came_back", guard.From("library"), guard.About("book"), guard.Lasting())

	Lend     = machine.NewEvent[machine.None]("lend")
	GiveUp   = machine.NewEvent[machine.None]("give_up")
	TooLate  = machine.NewEvent[machine.None]("too_late")
	WriteOff = machine.NewEvent[machine.Overridden]("write_off")
)

// loan is the definition; each version of it stays as it is while tasks of it are about.
func loan(version int) *machine.Machine[Loan] {
	b := machine.New[Loan]("loan", "asked")
	b.Version(version)
	b.Events(Lend, GiveUp, TooLate, WriteOff)
	b.Final("returned", "given_up", "lost")
	b.Wait("lent", "reader", 30*24*time.Hour, TooLate)

	machine.On(b, Lend).From("asked").To("lent").By(guard.Model, guard.User).Require(guard.True(OnShelf))
	machine.On(b, GiveUp).From("asked").To("given_up").By(guard.User)
	machine.On(b, TooLate).From("lent").To("overdue")
	machine.When(b, CameBack).From("lent", "overdue").To("returned").Require(guard.True(CameBack))
	machine.Override(b, WriteOff).From("overdue").To("lost")
	if version > 1 {
		machine.On(b, Lend).From("overdue").To("lent").By(guard.User).Require(guard.True(OnShelf))
		b.Invariant("a month at most", func(s machine.Snapshot[Loan]) error {
			if s.Data.Days > 30 {
				return fmt.Errorf("%d days", s.Data.Days)
			}
			return nil
		})
	}
	return b.MustBuild()
}

func ExampleBuilder_Build() {
	b := machine.New[Loan]("loan", "asked")
	b.Final("returned")
	b.Events(Lend, GiveUp)
	b.Wait("lent", "", time.Hour, TooLate)
	machine.On(b, Lend).From("asked").To("lent").By(guard.Model)
	machine.When(b, CameBack).From("lent").To("returned").Require(guard.True(CameBack))
	_, err := b.Build()
	for _, f := range machine.Faults(err) {
		fmt.Println(f.Code, "|", f.Text, "|", f.Mend)
	}
	// Output:
	// waits_for_nobody | waiting state lent names no party | name one
	// no_lapse | waiting state lent has no edge for too_late | add it
	// unused_event | event give_up is declared, and no edge is for it | add one, or remove it, or Accept("unused_event", ...) with a reason
}

func ExampleDiff() {
	for _, d := range machine.Diff(loan(1).Describe(), loan(2).Describe()) {
		fmt.Println(d)
	}
	// Output:
	// loosened edge lend: overdue -> lent: it is new, guarded by on_shelf (review)
	// tightened invariant a month at most: it is new
}

// newer is what leads tasks of version 1 to version 2.
var newer = machine.MustMigrate(loan(1), loan(2), func(d Loan) (Loan, error) {
	d.Days = min(d.Days, 30)
	return d, nil
})

func ExampleMigrate() {
	ctx, clerk := context.Background(), guard.Principal{ID: "olga", Roles: []string{guard.OperatorRole}}
	st := store.NewMemory(store.MemoryOptions{})
	library := guard.NewAuthority("library")
	old, _ := resume.Open(ctx, st, resume.Config{Machines: []machine.Definition{loan(1)}, Trust: []*guard.Authority{library}})
	_, _ = old.Start(ctx, loan(1).Task("loan-1", guard.Principal{ID: "ann"}, Loan{Book: "b7", Days: 90}), clerk)

	ctl, err := resume.Open(ctx, st, resume.Config{
		Machines:   []machine.Definition{loan(1), loan(2)},
		Migrations: []machine.Migration{newer},
		Trust:      []*guard.Authority{library},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	dry, _ := ctl.DryRunMigration(ctx, "loan")
	fmt.Println(dry.Tasks, "looked at,", dry.Ready, "ready,", len(dry.Troubles), "in trouble")
	for after := ""; ; {
		r, next, err := ctl.MigrateAll(ctx, "loan", clerk, after, 100)
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(r.Ready, "went over")
		if after = next; next == "" {
			break
		}
	}
	// Output:
	// 1 looked at, 1 ready, 0 in trouble
	// 1 went over
}

func TestLoanTables(t *testing.T) {
	machinetest.RunTables(t, loan(2), "testdata/loan*.txtar")
}

func TestLoanExplored(t *testing.T) {
	x, err := machinetest.Explore(loan(2), "testdata/loan.txtar", machinetest.Limits{})
	require.NoError(t, err)
	require.Empty(t, x.Flaws, x.String())
	require.Empty(t, x.Cut)
}

func TestLoanWalks(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		actions, err := machinetest.Actions(loan(2), "testdata/loan.txtar")
		require.NoError(t, err)
		t.Repeat(actions)
	})
}
