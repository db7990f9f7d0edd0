package office

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/pawlgo/pawl/examples/airline/airline"
	"github.com/pawlgo/pawl/examples/usd"
	"github.com/pawlgo/pawl/guard"
	"github.com/pawlgo/pawl/machine"
	"github.com/pawlgo/pawl/resume"
)

// Finder gives the world of a task's conversation, nil when there is none.
type Finder func(task string) *World

// errNoWorld says that the airline knows no such conversation.
var errNoWorld = errors.New("no such conversation")

// Observers are the airline's systems, as far as the desk asks them.
func Observers(find Finder) []resume.Observer {
	return []resume.Observer{
		resume.Pull(airline.Reservation, ask(find, (*World).record)),
		resume.Pull(airline.Troubles, ask(find, (*World).troubles)),
		resume.Pull(airline.Flight, ask(find, func(w *World, subject string) (airline.FlightRecord, error) { return w.office.flight(subject), nil })),
		resume.Pull(airline.Member, ask(find, (*World).member)),
		resume.Pull(airline.Method, ask(find, (*World).method)),
		resume.Pull(airline.Covered, ask(find, (*World).covered)),
	}
}

// Handler performs writes whose outcome is still open, under their own keys.
func Handler(find Finder) resume.Handler {
	return resume.Perform(airline.Record,
		func(_ context.Context, j machine.Job[airline.Write]) (airline.Done, error) {
			w := find(j.Task)
			if w == nil {
				return airline.Done{}, machine.Declined(errNoWorld)
			}
			done, err := w.Apply(j.Key, j.Args)
			if err != nil {
				err = machine.Declined(err)
			}
			return done, err
		},
		func(_ context.Context, j machine.Job[airline.Write]) (airline.Done, bool, error) {
			w := find(j.Task)
			if w == nil {
				return airline.Done{}, false, nil
			}
			done, found := w.Applied(j.Key)
			return done, found, nil
		})
}

// ask turns a look at the world into an observer's answer.
func ask[T any](find Finder, look func(w *World, subject string) (T, error)) func(context.Context, guard.Query) (guard.Observed[T], error) {
	return func(_ context.Context, q guard.Query) (guard.Observed[T], error) {
		w := find(q.Task)
		if w == nil {
			return guard.Observed[T]{}, errNoWorld
		}
		w.mu.Lock()
		defer w.mu.Unlock()
		v, err := look(w, q.Subject)
		return guard.Observed[T]{Value: v, Subject: q.Subject, Ref: q.Fact + "/" + q.Subject}, err
	}
}

func (w *World) member(user string) (string, error) {
	u, known := w.user(user)
	if !known {
		return "", fmt.Errorf("user %s: %w", user, ErrNoRecord)
	}
	return u.Membership, nil
}

func (w *World) method(subject string) (string, error) {
	user, id, _ := strings.Cut(subject, "/")
	u, _ := w.user(user)
	return u.PaymentMethods[id].Source, nil
}

// troubles are the customer's reservations with a cancelled or delayed flight.
func (w *World) troubles(user string) ([]airline.Trouble, error) {
	u, _ := w.user(user)
	out := []airline.Trouble{}
	for _, id := range u.Reservations {
		r, _ := w.reservation(id)
		t := airline.Trouble{Reservation: id, Passengers: len(r.Passengers), Entitled: r.Insurance == "yes" || r.Cabin == airline.Business}
		for _, l := range r.Flights {
			switch w.office.flight(airline.FlightSubject(l.FlightNumber, l.Date)).Status {
			case airline.FlightCancelled:
				t.Cancelled = true
			case airline.FlightDelayed:
				t.Delayed = true
			case airline.FlightFlying, airline.FlightLanded:
				t.UnderWay = true
			}
		}
		if t.Cancelled || t.Delayed {
			out = append(out, t)
		}
	}
	return out, nil
}

func (w *World) covered(subject string) (bool, error) {
	parts := strings.Split(subject, "/")
	if len(parts) != 3 {
		return false, fmt.Errorf("charge %s: %w", subject, ErrNoRecord)
	}
	amount, err := usd.Parse(parts[2])
	return err == nil && w.covers(parts[0], parts[1], amount), err
}
