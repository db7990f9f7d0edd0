package store

import "strings"

// CheckTask says whether id can name a task: 1 to MaxTask bytes of A-Z, a-z, 0-9, dot, underscore, colon and
// hyphen. There is one spelling of an id and no folding (field case B066). The error wraps ErrInvalid or ErrTooBig.
func CheckTask(id string) error {
	if id == "" {
		return invalid("task id is empty")
	}
	if len(id) > MaxTask {
		return &TooBigError{Task: id[:MaxTask] + "...", What: "task id", Size: len(id), Most: MaxTask}
	}
	for i := 0; i < len(id); i++ {
		switch c := id[i]; {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', c == '.', c == '_', c == ':', c == '-':
		default:
			return invalid("task id %q: byte %d is not one of A-Za-z0-9._:-", id, i)
		}
	}
	return nil
}

// CheckName says whether name can be a name other than a task's: 1 to MaxName bytes, none of them zero. What is
// for the error.
func CheckName(task, what, name string) error {
	if name == "" {
		return invalid("task %s: %s is empty", task, what)
	}
	return checkOptional(task, what, name)
}

func checkOptional(task, what, name string) error {
	if len(name) > MaxName {
		return &TooBigError{Task: task, What: what, Size: len(name), Most: MaxName}
	}
	if strings.IndexByte(name, 0) >= 0 {
		return invalid("task %s: %s %q has a zero byte", task, what, name)
	}
	return nil
}

// Check says whether the commit is well formed. Every store calls it first; it looks at nothing but c.
func (c *Commit) Check() error {
	if err := CheckTask(c.Task); err != nil {
		return err
	}
	if err := c.checkSize(); err != nil {
		return err
	}
	if (c.Base.Version == 0) != (c.Base == Tip{}) {
		return invalid("task %s: base has a hash and no version", c.Task)
	}
	if c.At < 0 || c.From < 0 || c.Until < 0 {
		return invalid("task %s: negative instant", c.Task)
	}
	if err := c.Meta.check(c.Task); err != nil {
		return err
	}
	if err := c.checkOnce(); err != nil {
		return err
	}
	if err := c.checkEffects(); err != nil {
		return err
	}
	if err := c.checkSwap(); err != nil {
		return err
	}
	return c.checkExpect()
}

func (c *Commit) checkSize() error {
	if n := c.rows(); n > MaxRows {
		return &TooBigError{Task: c.Task, What: "rows of a commit", Size: n, Most: MaxRows}
	}
	if n := c.size(); n > MaxCommit {
		return &TooBigError{Task: c.Task, What: "bytes of a commit", Size: n, Most: MaxCommit}
	}
	if c.Base.Version >= MaxVersion {
		return &TooBigError{Task: c.Task, What: "version", Size: MaxVersion + 1, Most: MaxVersion}
	}
	return nil
}

func (m *Meta) check(task string) error {
	if err := CheckName(task, "machine", m.Machine); err != nil {
		return err
	}
	if err := CheckName(task, "state", m.State); err != nil {
		return err
	}
	if err := checkOptional(task, "owner", m.Owner); err != nil {
		return err
	}
	if err := checkOptional(task, "waits-for", m.WaitsFor); err != nil {
		return err
	}
	if m.Since < 0 || m.Wake < 0 {
		return invalid("task %s: negative instant", task)
	}
	return nil
}

func (c *Commit) checkOnce() error {
	for i, name := range c.Once {
		if err := CheckName(c.Task, "once-name", name); err != nil {
			return err
		}
		for _, other := range c.Once[:i] {
			if other == name {
				return invalid("task %s: once-name %q is given twice", c.Task, name)
			}
		}
	}
	return nil
}

func (c *Commit) checkEffects() error {
	for i := range c.Emit {
		e := &c.Emit[i]
		if err := CheckName(c.Task, "effect id", e.ID); err != nil {
			return err
		}
		if e.Task != "" && e.Task != c.Task {
			return invalid("task %s: effect %s belongs to task %s", c.Task, e.ID, e.Task)
		}
		if e.Status > Intent {
			return invalid("task %s: effect %s is emitted as %v", c.Task, e.ID, e.Status)
		}
		if e.Ready < 0 {
			return invalid("task %s: effect %s: negative instant", c.Task, e.ID)
		}
		if len(e.Body) > MaxBody {
			return &TooBigError{Task: c.Task, What: "body of effect " + e.ID, Size: len(e.Body), Most: MaxBody}
		}
	}
	for i := range c.Settle {
		if err := CheckName(c.Task, "effect id", c.Settle[i].Effect); err != nil {
			return err
		}
	}
	return c.checkDistinct()
}

// checkDistinct refuses one effect named twice, emitted or settled: which came first would be a guess.
func (c *Commit) checkDistinct() error {
	id := func(i int) string {
		if i < len(c.Emit) {
			return c.Emit[i].ID
		}
		return c.Settle[i-len(c.Emit)].Effect
	}
	for i := range len(c.Emit) + len(c.Settle) {
		for j := range i {
			if id(i) == id(j) {
				return invalid("task %s: effect %s is named twice", c.Task, id(i))
			}
		}
	}
	return nil
}

func (c *Commit) checkSwap() error {
	for i := range c.Swap {
		r := &c.Swap[i]
		if err := CheckName(c.Task, "resource", r.Name); err != nil {
			return err
		}
		if len(r.Value) > MaxResource {
			return &TooBigError{Task: c.Task, What: "resource " + r.Name, Size: len(r.Value), Most: MaxResource}
		}
		for j := range i {
			if c.Swap[j].Name == r.Name {
				return invalid("task %s: resource %q is swapped twice", c.Task, r.Name)
			}
		}
	}
	return nil
}

func (c *Commit) checkExpect() error {
	if n := len(c.Expect); n > MaxExpect {
		return &TooBigError{Task: c.Task, What: "expected resources", Size: n, Most: MaxExpect}
	}
	for i := range c.Expect {
		name := c.Expect[i].Name
		if err := CheckName(c.Task, "resource", name); err != nil {
			return err
		}
		for j := range i {
			if c.Expect[j].Name == name {
				return invalid("task %s: resource %q is expected twice", c.Task, name)
			}
		}
		for j := range c.Swap {
			if c.Swap[j].Name == name {
				return invalid("task %s: resource %q is expected and swapped", c.Task, name)
			}
		}
	}
	return nil
}

// Check says whether an update is well formed at the store's now.
func (e *Effect) Check(now Micros) error {
	if err := CheckTask(e.Task); err != nil {
		return err
	}
	if err := CheckName(e.Task, "effect id", e.ID); err != nil {
		return err
	}
	if len(e.Body) > MaxBody {
		return &TooBigError{Task: e.Task, What: "body of effect " + e.ID, Size: len(e.Body), Most: MaxBody}
	}
	switch e.Status {
	case Intent, Unknown:
	case Sent:
		if err := CheckName(e.Task, "holder", e.Holder); err != nil {
			return err
		}
		if e.Hold <= now || e.Hold > now+MaxHold {
			return invalid("task %s: effect %s: hold ends %d, not within %d µs after now %d", e.Task, e.ID, e.Hold, int64(MaxHold), now)
		}
	default:
		return invalid("task %s: effect %s: no such status %v", e.Task, e.ID, e.Status)
	}
	if e.Ready < 0 {
		return invalid("task %s: effect %s: negative instant", e.Task, e.ID)
	}
	return nil
}

// CheckClaim says whether the arguments of a claim are well formed, and returns the limit it means.
func CheckClaim(s Slots, limit int, holder string, hold Micros) (int, error) {
	if err := CheckName("", "holder", holder); err != nil {
		return 0, err
	}
	if hold <= 0 || hold > MaxHold {
		return 0, invalid("hold of %d µs is not within 1 and %d", hold, int64(MaxHold))
	}
	if err := s.Check(); err != nil {
		return 0, err
	}
	return CheckLimit(limit)
}

// CheckLimit returns how many rows a limit means: zero means MaxPage; negative or more is ErrInvalid or ErrTooBig.
func CheckLimit(limit int) (int, error) {
	switch {
	case limit < 0:
		return 0, invalid("limit %d is negative", limit)
	case limit > MaxPage:
		return 0, &TooBigError{What: "limit", Size: limit, Most: MaxPage}
	case limit == 0:
		return MaxPage, nil
	}
	return limit, nil
}

// Check says whether an attempt for a task is well formed.
func (a *Attempt) Check(task string) error {
	if err := CheckTask(task); err != nil {
		return err
	}
	if len(a.Body) > MaxBody {
		return &TooBigError{Task: task, What: "body of an attempt", Size: len(a.Body), Most: MaxBody}
	}
	if a.Count < 0 || a.At < 0 {
		return invalid("task %s: attempt with a negative count or instant", task)
	}
	return nil
}
