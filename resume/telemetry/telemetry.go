// Package telemetry hands what a controller does to OpenTelemetry: spans of its operations, and counters that an operator would alert
// on. It uses the API only; without an SDK in the program nothing is recorded. docs/operations.md lists the names.
package telemetry

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/trace"

	"github.com/pawlgo/pawl/resume"
)

// monitor is the resume.Monitor of New.
type monitor struct {
	tracer   trace.Tracer
	counters map[resume.SignalKind]counter
	took     metric.Int64Histogram
}

// counter counts one kind of signals, by what is few: never by task.
type counter struct {
	metric.Int64Counter
	by func(resume.Signal) []attribute.KeyValue
}

func named(key, value string) attribute.KeyValue { return attribute.String("pawl."+key, value) }

// counted are the counters by kind of signal.
var counted = []struct {
	kind       resume.SignalKind
	name, help string
	by         func(resume.Signal) []attribute.KeyValue
}{
	{resume.SignalCommit, "pawl.commits", "versions that landed", func(s resume.Signal) []attribute.KeyValue {
		return []attribute.KeyValue{named("machine", s.Machine), named("event", s.Event)}
	}},
	{resume.SignalRefusal, "pawl.refusals", "proposals and observations that were not committed", func(s resume.Signal) []attribute.KeyValue {
		return []attribute.KeyValue{named("machine", s.Machine), named("result", s.Result), named("code", s.Code)}
	}},
	{resume.SignalSecurity, "pawl.security", "refusals of what nobody honest tries", func(s resume.Signal) []attribute.KeyValue {
		return []attribute.KeyValue{named("machine", s.Machine), named("code", s.Code)}
	}},
	{resume.SignalVoid, "pawl.offers.voided", "offers that are no longer open", func(s resume.Signal) []attribute.KeyValue {
		return []attribute.KeyValue{named("machine", s.Machine), named("reason", s.Result)}
	}},
	{resume.SignalEvidence, "pawl.evidence.failures", "sources that gave nothing that could be used", func(s resume.Signal) []attribute.KeyValue {
		return []attribute.KeyValue{named("source", s.Source), named("fact", s.Fact), named("code", s.Code)}
	}},
	{resume.SignalEffect, "pawl.effects", "steps of effects", func(s resume.Signal) []attribute.KeyValue {
		return []attribute.KeyValue{named("effect", s.Effect), named("result", s.Result)}
	}},
	{resume.SignalBusy, "pawl.busy", "calls that were turned away because too much was under way", func(s resume.Signal) []attribute.KeyValue {
		return []attribute.KeyValue{named("limit", s.Result)}
	}},
	{resume.SignalOperator, "pawl.operator", "what operators stopped, let go on or released", func(s resume.Signal) []attribute.KeyValue {
		return []attribute.KeyValue{named("machine", s.Machine), named("result", s.Result)}
	}},
}

// New is a monitor for resume.Config. A nil tracer records no spans, a nil meter no metrics. Errors are the meter's.
func New(tracer trace.Tracer, meter metric.Meter) (resume.Monitor, error) {
	m := &monitor{tracer: tracer, counters: map[resume.SignalKind]counter{}}
	if meter == nil {
		return m, nil
	}
	var errs []error
	for _, c := range counted {
		made, err := meter.Int64Counter(c.name, metric.WithDescription(c.help))
		m.counters[c.kind], errs = counter{made, c.by}, append(errs, err)
	}
	var err error
	m.took, err = meter.Int64Histogram("pawl.operation.duration", metric.WithUnit("us"), metric.WithDescription("how long an operation took"))
	if err = errors.Join(append(errs, err)...); err != nil {
		return nil, fmt.Errorf("make the instruments: %w", err)
	}
	return m, nil
}

// Signal counts, and notes on the span that is open what became of it.
func (m *monitor) Signal(ctx context.Context, s resume.Signal) {
	if c, ok := m.counters[s.Kind]; ok {
		c.Add(ctx, 1, metric.WithAttributes(c.by(s)...))
	}
	if m.tracer == nil {
		return
	}
	if span := trace.SpanFromContext(ctx); span.IsRecording() {
		span.AddEvent("pawl."+string(s.Kind), trace.WithAttributes(attributes(s)...))
	}
}

func attributes(s resume.Signal) []attribute.KeyValue {
	all := []attribute.KeyValue{named("machine", s.Machine), named("event", s.Event), named("result", s.Result), named("code", s.Code),
		named("actor", string(s.Actor)), named("source", s.Source), named("fact", s.Fact), named("effect", s.Effect)}
	all = slices.DeleteFunc(all, func(a attribute.KeyValue) bool { return a.Value.AsString() == "" })
	if s.Version != 0 {
		all = append(all, attribute.Int64("pawl.version", int64(s.Version)))
	}
	if s.Attempt != 0 {
		all = append(all, attribute.Int("pawl.attempt", s.Attempt))
	}
	return all
}

// Begin opens a span and takes the time. The text of an error stays out: it may quote a stranger.
func (m *monitor) Begin(ctx context.Context, what resume.Operation, task string) (context.Context, func(error)) {
	began := time.Now()
	var span trace.Span
	if m.tracer != nil {
		ctx, span = m.tracer.Start(ctx, "pawl."+string(what), trace.WithAttributes(named("task", task)))
	}
	return ctx, func(err error) {
		if m.took != nil {
			m.took.Record(ctx, time.Since(began).Microseconds(), metric.WithAttributes(named("operation", string(what)), attribute.Bool("pawl.ok", err == nil)))
		}
		if span == nil {
			return
		}
		if err != nil {
			span.SetStatus(codes.Error, "")
		}
		span.End()
	}
}
