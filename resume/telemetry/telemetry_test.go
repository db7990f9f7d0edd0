package telemetry_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/metric"
	metricnoop "go.opentelemetry.io/otel/metric/noop"
	"go.opentelemetry.io/otel/trace"
	tracenoop "go.opentelemetry.io/otel/trace/noop"

	"github.com/pawlgo/pawl/guard"
	"github.com/pawlgo/pawl/machine"
	"github.com/pawlgo/pawl/resume"
	"github.com/pawlgo/pawl/resume/telemetry"
	"github.com/pawlgo/pawl/store"
)

// meter keeps what is counted and observed, by name and attributes.
type meter struct {
	metricnoop.Meter
	seen     map[string]int64
	callback metric.Callback
	broken   error
}

type instrument struct {
	metricnoop.Int64Counter
	name string
	m    *meter
}

type histogram struct {
	metricnoop.Int64Histogram
	name string
	m    *meter
}

type gauge struct {
	metricnoop.Int64ObservableGauge
	name string
}

func series(name string, set attribute.Set) string {
	return name + "{" + set.Encoded(attribute.DefaultEncoder()) + "}"
}

func (i instrument) Add(_ context.Context, n int64, opts ...metric.AddOption) {
	i.m.seen[series(i.name, metric.NewAddConfig(opts).Attributes())] += n
}

func (h histogram) Record(_ context.Context, _ int64, opts ...metric.RecordOption) {
	h.m.seen[series(h.name, metric.NewRecordConfig(opts).Attributes())]++
}

func (m *meter) Int64Counter(name string, _ ...metric.Int64CounterOption) (metric.Int64Counter, error) {
	return instrument{name: name, m: m}, m.broken
}

func (m *meter) Int64Histogram(name string, _ ...metric.Int64HistogramOption) (metric.Int64Histogram, error) {
	return histogram{name: name, m: m}, nil
}

func (m *meter) Int64ObservableGauge(name string, _ ...metric.Int64ObservableGaugeOption) (metric.Int64ObservableGauge, error) {
	return gauge{name: name}, m.broken
}

func (m *meter) RegisterCallback(f metric.Callback, _ ...metric.Observable) (metric.Registration, error) {
	m.callback = f
	return metricnoop.Registration{}, nil
}

// observer keeps what a callback observes.
type observer struct {
	metricnoop.Observer
	m *meter
}

func (o observer) ObserveInt64(g metric.Int64Observable, n int64, opts ...metric.ObserveOption) {
	o.m.seen[series(g.(gauge).name, metric.NewObserveConfig(opts).Attributes())] = n
}

// tracer keeps its spans.
type tracer struct {
	tracenoop.Tracer
	spans []*span
}

type span struct {
	tracenoop.Span
	name   string
	attrs  []attribute.KeyValue
	events []string
	failed bool
	ended  bool
}

func (t *tracer) Start(ctx context.Context, name string, opts ...trace.SpanStartOption) (context.Context, trace.Span) {
	cfg := trace.NewSpanStartConfig(opts...)
	s := &span{name: name, attrs: cfg.Attributes()}
	t.spans = append(t.spans, s)
	return trace.ContextWithSpan(ctx, s), s
}

func (s *span) IsRecording() bool                            { return true }
func (s *span) End(...trace.SpanEndOption)                   { s.ended = true }
func (s *span) AddEvent(name string, _ ...trace.EventOption) { s.events = append(s.events, name) }
func (s *span) SetStatus(c codes.Code, text string)          { s.failed = c == codes.Error && text == "" }

var (
	alice  = guard.Principal{ID: "alice"}
	finish = machine.NewEvent[machine.None]("finish")
)

func errand() *machine.Machine[struct{}] {
	b := machine.New[struct{}]("errand", "open")
	b.Final("done")
	machine.On(b, finish).From("open").To("done").By(guard.User)
	return b.MustBuild()
}

func TestSpansAndCounters(t *testing.T) {
	tr, m := &tracer{}, &meter{seen: map[string]int64{}}
	monitor, err := telemetry.New(tr, m)
	require.NoError(t, err)
	ctl, err := resume.Open(t.Context(), store.NewMemory(store.MemoryOptions{}), resume.Config{Machines: []machine.Definition{errand()}, Monitor: monitor})
	require.NoError(t, err)
	s, err := ctl.Start(t.Context(), errand().Task("errand_1", alice, struct{}{}), alice)
	require.NoError(t, err)
	_, err = s.Propose(t.Context(), finish.With(machine.None{}).As(guard.Operator))
	require.NoError(t, err)
	_, err = s.Propose(t.Context(), finish.With(machine.None{}).As(guard.User))
	require.NoError(t, err)

	require.Equal(t, map[string]int64{
		"pawl.commits{pawl.event=start,pawl.machine=errand}":                     1,
		"pawl.commits{pawl.event=finish,pawl.machine=errand}":                    1,
		"pawl.refusals{pawl.code=actor,pawl.machine=errand,pawl.result=refused}": 1,
		"pawl.security{pawl.code=actor,pawl.machine=errand}":                     1,
		"pawl.operation.duration{pawl.ok=false,pawl.operation=propose}":          1,
		"pawl.operation.duration{pawl.ok=true,pawl.operation=propose}":           1,
	}, m.seen)
	require.Len(t, tr.spans, 2)
	refused, done := tr.spans[0], tr.spans[1]
	require.True(t, refused.ended && refused.failed && done.ended && !done.failed)
	require.Equal(t, []attribute.KeyValue{attribute.String("pawl.task", "errand_1")}, done.attrs)
	require.Equal(t, "pawl.propose", done.name)
	require.Equal(t, []string{"pawl.refusal", "pawl.security"}, refused.events)
	require.Equal(t, []string{"pawl.commit"}, done.events)
}

func TestGauges(t *testing.T) {
	m := &meter{seen: map[string]int64{}}
	st := store.NewMemory(store.MemoryOptions{})
	ctl, err := resume.Open(t.Context(), st, resume.Config{Machines: []machine.Definition{errand()}})
	require.NoError(t, err)
	_, err = telemetry.Watch(m, ctl)
	require.NoError(t, err)
	operator := guard.Principal{ID: "olga", Roles: []string{guard.OperatorRole}}
	require.NoError(t, ctl.Freeze(t.Context(), "errand", operator, "x"))
	require.NoError(t, m.callback(t.Context(), observer{m: m}))
	require.Equal(t, map[string]int64{"pawl.well{}": 0, "pawl.quarantined{}": 0, "pawl.frozen{pawl.machine=errand}": 1,
		"pawl.timers.due{}": 0, "pawl.calls{}": 0}, m.seen)
	require.NoError(t, st.Close())
	require.ErrorIs(t, m.callback(t.Context(), observer{m: m}), store.ErrClosed)
}

// What an operator is woken for: effects by age and status, and how late the earliest timer is.
func TestGaugesOfWhatIsLate(t *testing.T) {
	type parcel struct {
		ID string `json:"id" about:"parcel"`
	}
	slip := guard.NewFact[bool]("slip", guard.From("post"), guard.About(machine.EffectKind), guard.Lasting())
	send := machine.NewEffect[parcel, bool]("send", slip)
	b := machine.New[parcel]("parcel", "packed")
	b.Final("there", "back")
	forgotten := machine.NewEvent[machine.None]("forgotten")
	b.After("packed", time.Hour, forgotten)
	machine.On(b, finish).From("packed").To("sending").By(guard.User).
		Then(machine.Emit(send, func(c guard.Case[parcel, machine.None]) parcel { return c.Data }))
	machine.On(b, forgotten).From("packed").To("back")
	machine.On(b, send.Confirmed()).From("sending").To("there")
	machine.On(b, send.Failed()).From("sending").To("back")
	parcels := b.MustBuild()
	now := time.Date(2026, 1, 5, 9, 0, 0, 0, time.UTC)
	ctl, err := resume.Open(t.Context(), store.NewMemory(store.MemoryOptions{Now: func() time.Time { return now }}), resume.Config{
		Machines: []machine.Definition{parcels}, Effects: []resume.Handler{resume.Perform(send,
			func(context.Context, machine.Job[parcel]) (bool, error) { return false, errors.New("no answer") },
			func(context.Context, machine.Job[parcel]) (bool, bool, error) {
				return false, false, errors.New("down")
			})}})
	require.NoError(t, err)
	_, err = ctl.Start(t.Context(), parcels.Task("idle", alice, parcel{"1"}), alice)
	require.NoError(t, err)
	s, err := ctl.Start(t.Context(), parcels.Task("sent", alice, parcel{"2"}), alice)
	require.NoError(t, err)
	_, err = s.Propose(t.Context(), finish.With(machine.None{}).As(guard.User))
	require.NoError(t, err)
	require.NoError(t, ctl.Work(t.Context()))
	now = now.Add(time.Hour + 5*time.Second)

	m := &meter{seen: map[string]int64{}}
	_, err = telemetry.Watch(m, ctl)
	require.NoError(t, err)
	require.NoError(t, m.callback(t.Context(), observer{m: m}))
	want := map[string]int64{"pawl.well{}": 0, "pawl.quarantined{}": 0, "pawl.timers.due{}": 1, "pawl.timers.late{}": 5, "pawl.calls{}": 0}
	for age, n := range map[string]int64{"0s": 1, "1m0s": 1, "10m0s": 1, "1h0m0s": 1, "24h0m0s": 0} {
		want["pawl.effects.unsettled{pawl.age="+age+",pawl.effect=send,pawl.status=unknown}"] = n
	}
	require.Equal(t, want, m.seen)
}

func TestOff(t *testing.T) {
	monitor, err := telemetry.New(nil, nil)
	require.NoError(t, err)
	monitor.Signal(t.Context(), resume.Signal{Kind: resume.SignalCommit})
	_, end := monitor.Begin(t.Context(), resume.OperationPropose, "task")
	end(nil)
}

func TestBrokenMeter(t *testing.T) {
	m := &meter{broken: errors.New("no room")}
	_, err := telemetry.New(nil, m)
	require.ErrorIs(t, err, m.broken)
	_, err = telemetry.Watch(m, nil)
	require.ErrorIs(t, err, m.broken)
}

// Every kind of signal is counted once, by what is few; no counter has the task, and no version or attempt makes a series of its own.
func TestEveryKindIsCounted(t *testing.T) {
	m := &meter{seen: map[string]int64{}}
	monitor, err := telemetry.New(nil, m)
	require.NoError(t, err)
	kinds := []resume.SignalKind{resume.SignalCommit, resume.SignalRefusal, resume.SignalSecurity, resume.SignalVoid, resume.SignalEvidence,
		resume.SignalEffect, resume.SignalBusy, resume.SignalOperator}
	for i, kind := range kinds {
		for n := range uint64(3) {
			monitor.Signal(t.Context(), resume.Signal{Kind: kind, Task: "CANARY", Machine: "m", Version: 4711 + n, Event: "e", Result: "r", Code: "c",
				Actor: guard.Model, Source: "s", Fact: "f", Effect: "x", Attempt: 4711 + int(n)})
		}
		require.Len(t, m.seen, i+1, "%s", kind)
	}
	for series, n := range m.seen {
		require.EqualValues(t, 3, n, series)
		require.NotContains(t, series, "CANARY")
		require.NotContains(t, series, "4711")
	}
}
