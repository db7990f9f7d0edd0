package projection

// fit renders the page within the budget. First the declared lines go, in declared order; then the quotes are shortened,
// the longest first, to no less than [MinQuote]. Nothing else is ever left out.
func (p *page) fit(b *scratch) error {
	for next := 0; ; next++ {
		b.markdown, b.object = p.appendMarkdown(b.markdown[:0]), p.appendObject(b.object[:0])
		over := p.over(b.markdown, b.object)
		if over == nil {
			return nil
		}
		if next < len(p.decision.drop) {
			p.leaveOut(p.decision.drop[next])
		} else if !p.shorten() {
			return over
		}
	}
}

// over is the budget that the renderings exceed, nil when they fit. A refusal has a budget of its own.
func (p *page) over(markdown, object []byte) error {
	d := p.decision
	more := 0
	if p.refusal != nil {
		more = MaxRefusal
	}
	if need := max(len(markdown), len(object)) - more; need > d.budget {
		return &BudgetError{Decision: d.name, Task: p.task, Unit: "bytes", Need: need, Budget: d.budget}
	}
	if d.count == nil {
		return nil
	}
	if need := max(d.count(string(markdown)), d.count(string(object))); need > d.tokens+more/4 {
		return &BudgetError{Decision: d.name, Task: p.task, Unit: "tokens", Need: need, Budget: d.tokens}
	}
	return nil
}

func (p *page) leaveOut(label string) {
	for _, lines := range [][]line{p.fields, p.facts, p.undone} {
		for i := range lines {
			if lines[i].label.text == label && !lines[i].dropped {
				lines[i].dropped = true
				p.omitted++
			}
		}
	}
}

// shorten halves the longest quote; false when none can be.
func (p *page) shorten() bool {
	longest := -1
	for i := range p.quotes {
		if len(p.quotes[i].text) > MinQuote && (longest < 0 || len(p.quotes[i].text) > len(p.quotes[longest].text)) {
			longest = i
		}
	}
	if longest < 0 {
		return false
	}
	q := &p.quotes[longest]
	q.text = cutText(q.text, max(MinQuote, len(q.text)/2))
	return true
}
