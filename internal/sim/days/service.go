package days

import (
	"errors"
	"fmt"
	"time"

	"github.com/pawlgo/pawl/machine"
)

// service is the payment service. It keeps its ledger for ever, and a key for as long as it says.
type service struct {
	chance  chance
	clock   *clock
	honest  bool // from the last days on: it answers every call, and truly
	ledger  []entry
	keys    map[string]int // key -> index into ledger
	calls   map[string]int // calls by key
	late    []lateCall     // calls that are still on their way
	letters []letter       // webhooks that are on their way
}

// entry is one payment. There is no taking it back.
type entry struct {
	Key string
	At  time.Time
	payment
}

// lateCall is a call that the caller has given up and that arrives all the same.
type lateCall struct {
	at  time.Time
	job machine.Job[payment]
}

// letter is a webhook on its way to a task.
type letter struct {
	at   time.Time
	task string
	key  string
	slip slip
	said time.Time // the time that it claims
}

func newService(c chance, k *clock) *service {
	return &service{chance: c, clock: k, keys: map[string]int{}, calls: map[string]int{}}
}

var (
	errTimeout = errors.New("no answer in time")
	errBusy    = errors.New("busy")
	errRules   = errors.New("against the rules of the service")
)

// arrive is what the service does with a call that reaches it: it pays once for a key that it still knows.
func (s *service) arrive(j machine.Job[payment], now time.Time) slip {
	if i, known := s.keys[j.Key]; known && now.Sub(s.ledger[i].At) < keysKept {
		return s.slip(i)
	}
	s.ledger = append(s.ledger, entry{j.Key, now, j.Args})
	i := len(s.ledger) - 1
	s.keys[j.Key] = i
	s.write(j, i)
	return s.slip(i)
}

func (s *service) slip(i int) slip {
	e := s.ledger[i]
	return slip{fmt.Sprintf("re_%d", i+1), e.Order, e.Amount}
}

// write sends up to three webhooks about a payment, some of them late, some with a time that lies ahead.
func (s *service) write(j machine.Job[payment], i int) {
	for n := range s.chance.roll("letters %s", j.Key) % 4 {
		after := time.Duration(s.chance.number("letter %s %d", j.Key, n)%(72*60)) * time.Minute
		l := letter{at: s.clock.now().Add(after), task: j.Task, key: j.Key, slip: s.slip(i), said: s.clock.now()}
		switch s.chance.roll("lie %s %d", j.Key, n) % 10 {
		case 0:
			l.said = l.at.Add(24 * time.Hour)
		case 1:
			l.slip.Amount++
		}
		s.letters = append(s.letters, l)
	}
}

// out tells whether the service cannot be reached for the day and a half.
func (s *service) out() bool {
	return s.chance.roll("out %d", s.clock.now().Unix()/(36*60*60)) < 15
}

// send is the handler's call.
func (s *service) send(j machine.Job[payment]) (slip, error) {
	s.calls[j.Key]++
	roll := s.chance.roll("send %s %d", j.Key, s.calls[j.Key])
	switch {
	case s.honest || roll < 45:
		return s.arrive(j, s.clock.now()), nil
	case roll < 57: // paid, and the answer is lost
		s.arrive(j, s.clock.now())
		return slip{}, errTimeout
	case roll < 67, s.out(): // lost on the way
		return slip{}, errTimeout
	case roll < 75: // on its way for longer than anybody waits
		s.late = append(s.late, lateCall{s.clock.now().Add(time.Duration(roll) * 10 * time.Second), j})
		return slip{}, errTimeout
	case roll < 85:
		return slip{}, machine.NotSent(errBusy)
	case roll < 90:
		return slip{}, machine.Declined(errRules)
	case roll < 95: // paid, and the answer is of another amount
		wrong := s.arrive(j, s.clock.now())
		wrong.Amount++
		return wrong, nil
	}
	panic("the client of the service broke")
}

// find is the handler's lookup, in the ledger. It may say that there is nothing although there is, or although a call is still on its
// way: as long as keys are honoured that does no harm.
func (s *service) find(j machine.Job[payment]) (slip, bool, error) {
	s.calls[j.Key]++
	switch roll := s.chance.roll("find %s %d", j.Key, s.calls[j.Key]); {
	case s.honest:
	case roll < 30, s.out():
		return slip{}, false, errTimeout
	case roll < 45:
		return slip{}, false, nil // its index lags
	}
	for i, e := range s.ledger {
		if e.Key == j.Key {
			return s.slip(i), true, nil
		}
	}
	return slip{}, false, nil
}

// tick lets calls arrive that were on their way.
func (s *service) tick() {
	still := s.late[:0]
	for _, l := range s.late {
		if l.at.After(s.clock.now()) {
			still = append(still, l)
			continue
		}
		s.arrive(l.job, l.at)
	}
	s.late = still
}
