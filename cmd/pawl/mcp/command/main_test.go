package command

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"testing"

	"github.com/spf13/cobra"

	"github.com/pawlgo/pawl/cmd/pawl/cli"
	"github.com/pawlgo/pawl/cmd/pawl/mcp"
	projection "github.com/pawlgo/pawl/context"
	"github.com/pawlgo/pawl/examples/refund/money"
	"github.com/pawlgo/pawl/examples/refund/refund"
	"github.com/pawlgo/pawl/guard"
	"github.com/pawlgo/pawl/machine"
	"github.com/pawlgo/pawl/machine/workingstate"
	"github.com/pawlgo/pawl/resume"
	"github.com/pawlgo/pawl/store"
)

// clients is the directory in which the clients of testdata/clients are installed, with the packages that they need.
var clients = flag.String("clients", "", "drive the server with the real clients that are installed in this `directory`; .ci/run does")

// toolVariable makes the test's own binary the command line of a service with the refund desk.
const toolVariable = "PAWL_TEST_TOOL"

// task is the refund that the service holds for its agent.
const task = "refund_order_123"

func TestMain(m *testing.M) {
	if os.Getenv(toolVariable) != "" {
		cli.Main(service())
	}
	flag.Parse()
	os.Exit(m.Run())
}

// service is a service's own command line, as the package comment shows it.
func service() cli.Tool {
	return cli.Tool{Machines: []machine.Definition{workingstate.Machine, refund.Machine}, Commands: func(a *cli.App) []*cobra.Command {
		return []*cobra.Command{New(a, desk)}
	}}
}

// desk serves working state and refunds, with one refund that waits for its owner.
func desk(ctx context.Context, st store.Store) (mcp.Options, func() error, error) {
	fmt.Println("a stray line on standard output") // it must not reach the protocol
	ctl, err := resume.Open(ctx, st, resume.Config{
		Machines: []machine.Definition{workingstate.Machine, refund.Machine},
		Observers: []resume.Observer{
			resume.Pull(refund.OrderOwner, says("trader")),
			resume.Pull(refund.OrderStatus, says(refund.OrderOpen)),
			resume.Pull(refund.Eligible, says(refund.Eligibility{Eligible: true, Policy: "v7"})),
		},
		Trust: []*guard.Authority{guard.NewAuthority("customer_channel")},
		Effects: []resume.Handler{resume.Perform(refund.IssueRefund,
			func(context.Context, machine.Job[refund.Payment]) (refund.Record, error) {
				return refund.Record{}, machine.NotSent(errors.New("there is no bank"))
			},
			func(context.Context, machine.Job[refund.Payment]) (refund.Record, bool, error) {
				return refund.Record{}, false, nil
			})},
	})
	if err != nil {
		return mcp.Options{}, nil, err
	}
	o := mcp.Options{Tasks: ctl, WorkingState: workingstate.Machine, Decisions: []*projection.Decision{refund.InterpretReply}}
	return o, nil, begin(ctx, ctl)
}

func begin(ctx context.Context, ctl *resume.Controller) error {
	who := guard.Principal{ID: "trader"}
	order := refund.Refund{OrderID: "123", Amount: money.Money{Minor: 4300, Currency: "EUR"}, Notes: []string{}}
	s, err := ctl.Start(ctx, refund.Machine.Task(task, who, order), who)
	if errors.Is(err, resume.ErrExists) {
		return nil
	}
	if err != nil {
		return err
	}
	out, err := s.Propose(ctx, refund.RequestRefund.With(machine.None{}).As(guard.User))
	return errors.Join(err, out.Err())
}

func says[T any](v T) func(context.Context, guard.Query) (guard.Observed[T], error) {
	return func(_ context.Context, q guard.Query) (guard.Observed[T], error) {
		return guard.Observed[T]{Value: v, Subject: q.Subject}, nil
	}
}
