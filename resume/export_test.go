package resume

// Limits that are nobody's business but the tests'.
const (
	MaxRaces          = maxRaces
	MaxAttemptPayload = maxAttemptPayload
	MaxWatched        = maxWatched
	MaxHinted         = maxHinted
)
