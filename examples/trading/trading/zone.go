package trading

import "time"

// Taipei is the zone of the exchange. It has had no summer time since 1979, so that no database of zones is needed.
var Taipei = time.FixedZone("Asia/Taipei", 8*60*60)
