package workingstate_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"strconv"
	"strings"
	"time"

	"github.com/pawlgo/pawl/guard"
	"github.com/pawlgo/pawl/machine"
	"github.com/pawlgo/pawl/machine/workingstate"
	"github.com/pawlgo/pawl/resume"
	"github.com/pawlgo/pawl/store"
)

// nineOClock is the clock of the examples.
func nineOClock() time.Time { return time.Date(2026, 8, 13, 9, 4, 0, 0, time.UTC) }

// One wake-up of an agent: what it is shown, and what it changes.
func Example() {
	ctx := context.Background()
	st := store.NewMemory(store.MemoryOptions{Now: nineOClock}) // in a service: pebblestore.Open
	ctl, err := resume.Open(ctx, st, resume.Config{Machines: []machine.Definition{workingstate.Machine}})
	if err != nil {
		log.Fatal(err)
	}
	agent, err := workingstate.NewAgent(ctl, "trader") // who is connected, never an argument of a tool
	if err != nil {
		log.Fatal(err)
	}
	if _, err := agent.Start(ctx, workingstate.Machine); err != nil { // empty, unless it exists
		log.Fatal(err)
	}
	agent, err = agent.During("cron-0904", "model-4") // which wake-up writes, for the history
	if err != nil {
		log.Fatal(err)
	}

	// the model calls a tool; what comes back is its result, or why not
	out, err := agent.Call(ctx, "working_state_set", []byte(`{"key":"stop_loss.2317","value":"262","reason":"exit on break","ttl_hours":4.5}`))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(string(out.Returned))
	out, err = agent.Call(ctx, "working_state_set", []byte(`{"key":"stop_loss.2317","value":"254","reason":"lower","expected_value":"260"}`))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(out.Code(), out.Findings[0].Details["current"])

	// the next wake-up: the static prompt keeps its bytes, the blocks come behind it
	state, actions, err := agent.Blocks(ctx, workingstate.Layout{})
	if err != nil {
		log.Fatal(err) // tell the agent that its working state is unknown, never that it is empty
	}
	prompt := workingstate.Tail("You are a careful trader.", state, actions)
	for line := range strings.Lines(prompt) {
		if strings.HasPrefix(line, "- ") {
			fmt.Print(line)
		}
	}
	// Output:
	// {"ok":true,"version":1,"key":"stop_loss.2317","value":"262","superseded":null,"truncated":false,"expires_at":"2026-08-13T13:34:00Z","swept":[]}
	// cas_conflict 262
	// - stop_loss.2317 = "262" (v1, set 08-13 09:04: "exit on break"; until 08-13 13:34)
	// - 08-13 09:04 done: working_state_set stop_loss.2317 = "262", version 1
	// - 08-13 09:04 refused (cas_conflict): working_state_set stop_loss.2317 = "254"
}

// Complete is accepted only with a proof that a verifier accepts.
func ExampleNewProof() {
	ctx := context.Background()
	proof := workingstate.NewProof(guard.From("test_runner"))
	m, err := workingstate.New(workingstate.Options{Proof: proof})
	if err != nil {
		log.Fatal(err)
	}
	ctl, err := resume.Open(ctx, store.NewMemory(store.MemoryOptions{}), resume.Config{
		Machines: []machine.Definition{m},
		Observers: []resume.Observer{resume.Pull(proof, func(_ context.Context, q guard.Query) (guard.Observed[workingstate.Proof], error) {
			passed := q.Subject == "run-88" // ask the test runner about this run
			return guard.Observed[workingstate.Proof]{Subject: q.Subject, Ref: "ci/" + q.Subject,
				Value: workingstate.Proof{Accepted: passed, Says: "86 of 86"}}, nil
		})},
	})
	if err != nil {
		log.Fatal(err)
	}
	agent, err := workingstate.NewAgent(ctl, "builder")
	if err != nil {
		log.Fatal(err)
	}
	if _, err := agent.Start(ctx, m); err != nil {
		log.Fatal(err)
	}
	for _, run := range []string{"run-87", "run-88"} {
		complete, evidence := "complete", "all tests pass"
		out, err := agent.Handoff(ctx, workingstate.Handoff{Note: "the parser is done", Status: &complete, Evidence: &evidence, Proof: &run})
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(run, out.Kind, out.Code())
	}
	// Output:
	// run-87 refused proof_refused
	// run-88 committed
}

// Another machine reads one key as a fact, whose authority is the working state: it may trigger what that machine says.
func ExampleReadNow() {
	ctx := context.Background()
	ctl, err := resume.Open(ctx, store.NewMemory(store.MemoryOptions{Now: nineOClock}), resume.Config{Machines: []machine.Definition{workingstate.Machine}})
	if err != nil {
		log.Fatal(err)
	}
	agent, err := workingstate.NewAgent(ctl, "trader")
	if err != nil {
		log.Fatal(err)
	}
	if _, err := agent.Start(ctx, workingstate.Machine); err != nil {
		log.Fatal(err)
	}
	if _, err := agent.Set(ctx, workingstate.Set{Key: "stop_loss.2317", Value: "262", Reason: "exit on break"}); err != nil {
		log.Fatal(err)
	}

	whole := func(s string) (int64, error) { return strconv.ParseInt(s, 10, 64) }
	rule := guard.NewFact[workingstate.Commitment[int64]]("rule", guard.From("working_state"), guard.About("rule"), guard.Volatile())
	observer := resume.Pull(rule, func(ctx context.Context, q guard.Query) (guard.Observed[workingstate.Commitment[int64]], error) {
		c, err := workingstate.ReadNow(ctx, agent, q.Subject, whole)
		return guard.Observed[workingstate.Commitment[int64]]{Value: c, Subject: c.Key, Ref: fmt.Sprintf("working_state/%d", c.Version)}, err
	})
	_ = observer // goes into the resume.Config of the machine that reads the fact

	c, err := workingstate.ReadNow(ctx, agent, "stop_loss.2317", whole)
	fmt.Println(c.Holds, c.Value, c.Version, err)
	c, err = workingstate.ReadNow(ctx, agent, "stop_loss.2330", whole)
	fmt.Println(c.Holds, err)
	if _, err := agent.Set(ctx, workingstate.Set{Key: "stop_loss.2317", Value: "about 262", Reason: "unsure"}); err != nil {
		log.Fatal(err)
	}
	_, err = workingstate.ReadNow(ctx, agent, "stop_loss.2317", whole)
	fmt.Println(errors.Is(err, workingstate.ErrCommitment))
	// Output:
	// true 262 1 <nil>
	// false <nil>
	// true
}
