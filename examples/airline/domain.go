package main

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"regexp"
	"strconv"
	"sync"
	"time"

	"github.com/pawlgo/pawl/examples/airline/airline"
	"github.com/pawlgo/pawl/examples/airline/office"
	"github.com/pawlgo/pawl/examples/replay"
	"github.com/pawlgo/pawl/guard"
	"github.com/pawlgo/pawl/machine"
	"github.com/pawlgo/pawl/resume"
)

// domain is what the replay must know of the airline's desk.
var domain = &replay.Domain{
	Name:         "airline",
	Machine:      airline.Machine,
	Decision:     airline.NextTool,
	Unidentified: airline.Unidentified,
	Reply:        airline.Reply,
	Listing:      airline.ListWrites.Info().Name,
	Writes: []string{
		airline.BookReservation.Info().Name, airline.UpdateFlights.Info().Name, airline.UpdateBaggages.Info().Name,
		airline.UpdatePassengers.Info().Name, airline.CancelTrip.Info().Name, airline.SendCertificate.Info().Name,
	},
	Transfer: airline.Transfer.Info().Name,
	Said:     said,
	Vouch:    vouch,
	Subjects: subjects,
	Policy:   policy,
	Load:     load,
	Bars:     replay.Bars{WrongRefused: 340, RightRefused: 15},
}

// userID is how the airline writes user ids.
var userID = regexp.MustCompile(`\b[a-z]+_[a-z]+_[0-9]{4}\b`)

// said is who the customer says they are. What they say later does not change that.
func said(channel *guard.Authority, task string, e replay.Event) []guard.Observation {
	for _, text := range append(e.IDs, e.Text) {
		if id := userID.FindString(text); id != "" {
			return named(channel, task, id)
		}
	}
	return nil
}

func named(channel *guard.Authority, task, id string) []guard.Observation {
	return []guard.Observation{airline.Named.Observe(channel, guard.Observed[string]{Value: id, Subject: task, Ref: "chat"})}
}

// vouch is that the reason for a cancellation is one that the insurance covers: only the customer can say so, in their own words, and
// no recording marks it.
func vouch(channel *guard.Authority, c replay.Call) []guard.Observation {
	var args airline.Cancel
	if err := json.Unmarshal(c.Args, &args); err != nil || c.Tool != airline.CancelTrip.Info().Name {
		return nil
	}
	return []guard.Observation{airline.Reason.Observe(channel, guard.Observed[bool]{Value: true, Subject: args.ReservationID, Ref: "chat"})}
}

// subjects are what a message names when it lists a write: the reservation, each flight of a booking, or the amount of a certificate.
func subjects(c replay.Call) []string {
	var args struct {
		ReservationID string             `json:"reservation_id"`
		Flights       []airline.FlightOn `json:"flights"`
		Amount        int                `json:"amount"`
	}
	if err := json.Unmarshal(c.Args, &args); err != nil {
		return nil
	}
	switch {
	case args.ReservationID != "":
		return []string{args.ReservationID}
	case args.Amount > 0:
		return []string{strconv.Itoa(args.Amount)}
	}
	var numbers []string
	for _, f := range args.Flights {
		numbers = append(numbers, f.FlightNumber)
	}
	return numbers
}

// policies are the rules that no tool of the recordings knows, by the code of the refusal.
var policies = map[string]string{
	"not_own_reservation":    "only the customer's own reservations and profile",
	machine.CodeOtherSubject: "only the customer's own reservations and profile",
	machine.CodeForm:         "arguments of the declared form, and no empty lists",
	"not_reservation_active": "a cancelled reservation stays cancelled",
	"flown":                  "a reservation that was used is a person's business",
	"basic_economy_fixed":    "flights of basic economy stay",
	"route_broken":           "flights connect",
	"route_differs":          "flights lead where they should",
	"route_changed":          "origin, destination and kind of trip stay",
	"party_too_large":        "five passengers at most",
	"negative_payment":       "payments are above zero",
	"payment_mix":            "one certificate, one credit card, three gift cards",
	"bags_mispriced":         "bags above the free ones are paid for, and no others",
	"bags_removed":           "bags are only added",
	"not_cancellable":        "who may cancel",
	"reason_not_covered":     "who may cancel",
	"no_trouble":             "a certificate for cancelled and delayed flights only",
	"not_entitled":           "a certificate for members and the insured only",
	"amount_differs":         "the amount of a certificate",
}

func policy(f machine.Finding) string { return policies[f.Code] }

// site is the airline with the worlds of all conversations that are under way.
type site struct {
	office  *office.Office
	records *guard.Authority
	worlds  sync.Map // task id to *office.World
}

func load(data fs.FS) (replay.Site, error) {
	o, err := office.Load(data)
	return &site{office: o, records: guard.NewAuthority(airline.Receipt.Info().Source)}, err
}

func (s *site) find(task string) *office.World {
	w, _ := s.worlds.Load(task)
	world, _ := w.(*office.World)
	return world
}

func (s *site) Begin(task, _ string, who guard.Principal) (machine.Task, replay.World) {
	w := s.office.Begin()
	s.worlds.Store(task, w)
	return airline.Machine.Task(task, who, airline.Desk{Cabins: map[string]string{}, Touched: []string{}}), world{w, s.records}
}

func (s *site) Now() time.Time { return office.Today }

func (s *site) End(task string) { s.worlds.Delete(task) }

func (s *site) SignIn(channel *guard.Authority, task, user string) (replay.Call, []guard.Observation, error) {
	return replay.Call{}, named(channel, task, user), nil
}

func (s *site) Observers() []resume.Observer { return office.Observers(s.find) }

func (s *site) Handlers() []resume.Handler { return []resume.Handler{office.Handler(s.find)} }

func (s *site) Trust() []*guard.Authority { return []*guard.Authority{s.records} }

// world is the airline of one conversation, as the replay changes it.
type world struct {
	*office.World
	records *guard.Authority
}

func (w world) Perform(i machine.Intent) (guard.Observation, error) {
	args, ok := i.Args.(airline.Write)
	if !ok {
		return guard.Observation{}, fmt.Errorf("intent %s is of %T", i.Key, i.Args)
	}
	done, err := w.Apply(i.Key, args)
	return airline.Receipt.Observe(w.records, guard.Observed[airline.Done]{Value: done, Subject: i.Key, Ref: i.Key}), err
}

func (w world) Changes() any { return w.World.Changes() }

func (w world) Force(c replay.Call) error { return w.World.Force(c.Tool, c.Args) }

func (w world) Set(path []string, _ json.RawMessage) error {
	return fmt.Errorf("nothing that can change is called %v", path)
}
