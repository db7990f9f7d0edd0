package canon

// Limits of JSON from outside (DESIGN section 17) and of what Append writes.
const (
	DefaultSize  = 64 << 10 // bytes of one document
	DefaultDepth = 32       // objects and arrays inside one another; a scalar has depth 0
)

// Limits bound a document. A field that is not positive means its default.
type Limits struct {
	Size  int // bytes; DefaultSize
	Depth int // nesting of objects and arrays; DefaultDepth
}

func (l Limits) size() int {
	if l.Size <= 0 {
		return DefaultSize
	}
	return l.Size
}

func (l Limits) depth() int {
	if l.Depth <= 0 {
		return DefaultDepth
	}
	return l.Depth
}
