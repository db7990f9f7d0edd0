package store

// Query selects tasks; empty fields do not restrict, and the zero Query lists every task. State needs Machine. Rows
// come in the order of one index, chosen by the first of these that is set: WaitsFor (since, task), Owner (unfinished
// first, task), else machine, state, since, task.
type Query struct {
	Machine, State, Owner, WaitsFor string
	Limit                           int    // 1 to MaxPage; zero means MaxPage
	After                           string // next of the page before; opaque, and only for the same query
}

// Check says whether the query is well formed, and returns the limit it means.
func (q *Query) Check() (int, error) {
	if q.State != "" && q.Machine == "" {
		return 0, invalid("query by state %q needs a machine", q.State)
	}
	for _, f := range [...]struct{ what, name string }{
		{"machine", q.Machine}, {"state", q.State}, {"owner", q.Owner}, {"waits-for", q.WaitsFor},
	} {
		if err := checkOptional("", f.what, f.name); err != nil {
			return 0, err
		}
	}
	return CheckLimit(q.Limit)
}

// Matches says whether a task with this meta is selected.
func (q *Query) Matches(m *Meta) bool {
	return (q.Machine == "" || q.Machine == m.Machine) && (q.State == "" || q.State == m.State) &&
		(q.Owner == "" || q.Owner == m.Owner) && (q.WaitsFor == "" || q.WaitsFor == m.WaitsFor)
}
