package refund_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/pawlgo/pawl/examples/refund/refund"
)

// BenchmarkView makes the view of order 123 on the second day; its floor is encoding the same snapshot.
func BenchmarkView(b *testing.B) {
	s, now := awaiting(b), yesterday.Add(23*time.Hour)
	b.Run("ours", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := refund.InterpretReply.View(s, customer, now, yes); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("floor", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := json.Marshal(s); err != nil {
				b.Fatal(err)
			}
		}
	})
}
