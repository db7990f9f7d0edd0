package machine

// NoSend names states in which nothing is sent: there the task waits for the truth about what may have been sent before it got there, such
// as after a cancel that came too late for [Edge.Withdraw]. An intent of which surely nothing was sent ends as failed when a worker takes
// it up. One that may have been sent is looked up as ever, and is not sent again, even when the provider has nothing under its key: it may
// still arrive, so that is for a person to decide.
func (b *Builder[D]) NoSend(states ...State) {
	for _, s := range states {
		b.c.noSend[s] = place(1)
	}
}

// Sends tells whether a task may send effects in a state; see [Builder.NoSend].
func (m *Machine[D]) Sends(s State) bool {
	_, not := m.c.noSend[s]
	return !not
}
