package machine_test

import (
	"encoding/json"
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlgo/pawl/guard"
	"github.com/pawlgo/pawl/machine"
)

type unexported struct {
	ID string `json:"id"`
	//lint:ignore U1000 the test needs a field that cannot be saved
	inner int
}

type marshals struct{ ID string }

func (m marshals) MarshalJSON() ([]byte, error) { return json.Marshal(m.ID) }

// initials writes and reads itself.
type initials struct{ first, last byte }

func (n initials) MarshalJSON() ([]byte, error) { return json.Marshal(string([]byte{n.first, n.last})) }

func (n *initials) UnmarshalJSON(raw []byte) error {
	var text string
	if err := json.Unmarshal(raw, &text); err != nil || len(text) != 2 {
		return fmt.Errorf("%q are no initials: %w", raw, err)
	}
	n.first, n.last = text[0], text[1]
	return nil
}

type Embedded struct {
	Inside string `json:"inside"`
}

type whole struct {
	Embedded
	Own   initials             `json:"own"`
	Ints  map[int]string       `json:"ints"`
	Times map[string]time.Time `json:"times,omitempty"`
	Empty []string             `json:"empty"`
	Nil   []string             `json:"nil"`
	Most  int64                `json:"most"`
	Maybe *int                 `json:"maybe"`
}

func buildOf[D any]() error {
	b := machine.New[D]("saved", "open")
	b.Final("shut")
	machine.On(b, machine.NewEvent[machine.None]("close")).From("open").To("shut").By(guard.User)
	_, err := b.Build()
	return err
}

// Case B058: data that would not come back as it was saved is a fault of Build; what Build takes comes back equal, empty and nil
// apart, with the same bytes.
func TestB058WhatIsSavedComesBack(t *testing.T) {
	require.ErrorContains(t, buildOf[unexported](), "inner, which is not stored")
	require.Error(t, buildOf[marshals](), "a MarshalJSON of its own, and nothing that reads it")
	require.Error(t, buildOf[struct {
		Ch chan int `json:"ch"`
	}]())
	require.Error(t, buildOf[struct {
		Fn func() `json:"fn"`
	}]())
	require.Error(t, buildOf[struct {
		Keys map[struct{ A int }]string `json:"keys"`
	}]())

	b := machine.New[whole]("saved", "open")
	b.Final("shut")
	machine.On(b, machine.NewEvent[machine.None]("close")).From("open").To("shut").By(guard.User)
	b.Accept(machine.LintOptional, "data machine_test.whole", "this test saves an optional field")
	m, err := b.Build()
	require.NoError(t, err)
	one := 1
	data := whole{Embedded: Embedded{"in"}, Own: initials{'A', 'B'}, Ints: map[int]string{-1: "minus", 2: "two"}, Times: map[string]time.Time{"t": time.Date(2026, 1, 5, 9, 0, 0, 1000, time.UTC)}, Empty: []string{}, Most: math.MaxInt64, Maybe: &one}
	first, _, err := m.Task("t1", guard.Principal{ID: "ann"}, data).First(time.Date(2026, 1, 5, 9, 0, 0, 0, time.UTC))
	require.NoError(t, err)
	raw, err := machine.Erase(m).Encode(nil, first)
	require.NoError(t, err)
	back, err := machine.Erase(m).Decode(raw)
	require.NoError(t, err)
	require.Equal(t, first.Data, back.Data)
	again, err := machine.Erase(m).Encode(nil, back)
	require.NoError(t, err)
	require.Equal(t, string(raw), string(again))
}
