package telemetry

import (
	"context"
	"errors"
	"fmt"

	"go.opentelemetry.io/otel/metric"

	"github.com/pawlgo/pawl/resume"
)

// Watch shows a controller's health as gauges, each time that the meter collects; it costs what [resume.Controller.Health] costs. What
// it gives is to be unregistered before the store is closed. Errors are the meter's.
func Watch(meter metric.Meter, ctl *resume.Controller) (metric.Registration, error) {
	var errs []error
	gauge := func(name, help string) metric.Int64ObservableGauge {
		g, err := meter.Int64ObservableGauge(name, metric.WithDescription(help))
		errs = append(errs, err)
		return g
	}
	well := gauge("pawl.well", "1 when nothing is left for an operator to do at once, else 0")
	quarantined := gauge("pawl.quarantined", "1 while the store is a new incarnation that nobody has released")
	frozen := gauge("pawl.frozen", "1 for each machine whose effects are stopped")
	due := gauge("pawl.timers.due", "tasks with a timer that has come due and not fired")
	late := gauge("pawl.timers.late", "seconds since the earliest of these came due")
	unsettled := gauge("pawl.effects.unsettled", "effects without an outcome that are older than pawl.age")
	calls := gauge("pawl.calls", "calls that are under way")
	if err := errors.Join(errs...); err != nil {
		return nil, fmt.Errorf("make the gauges: %w", err)
	}
	return meter.RegisterCallback(func(ctx context.Context, o metric.Observer) error {
		h := ctl.Health(ctx)
		o.ObserveInt64(well, number(h.Well()))
		o.ObserveInt64(quarantined, number(h.Quarantined))
		for _, name := range h.Frozen {
			o.ObserveInt64(frozen, 1, metric.WithAttributes(named("machine", name)))
		}
		o.ObserveInt64(due, int64(h.Due))
		if h.Due > 0 {
			o.ObserveInt64(late, int64(h.At.Sub(h.OldestDue).Seconds()))
		}
		for _, b := range h.Unsettled {
			by := []string{b.Effect, b.Status}
			o.ObserveInt64(unsettled, int64(b.Count), aged(by, "0s"))
			for i, age := range resume.Ages() {
				o.ObserveInt64(unsettled, int64(b.Older[i]), aged(by, age.String()))
			}
		}
		o.ObserveInt64(calls, int64(h.InFlight))
		return h.Err
	}, well, quarantined, frozen, due, late, unsettled, calls)
}

func aged(by []string, age string) metric.ObserveOption {
	return metric.WithAttributes(named("effect", by[0]), named("status", by[1]), named("age", age))
}

func number(b bool) int64 {
	if b {
		return 1
	}
	return 0
}
