package projection

// fit renders the page, leaving out declared lines, in declared order, until both renderings are within the budget.
func (p *page) fit() (markdown, object []byte, err error) {
	d := p.decision
	for next := 0; ; next++ {
		markdown, object = p.appendMarkdown(make([]byte, 0, d.budget+512)), p.appendObject(make([]byte, 0, d.budget+512))
		need := max(len(markdown), len(object))
		if need <= d.budget {
			return markdown, object, nil
		}
		if next == len(d.drop) {
			return nil, nil, &BudgetError{Decision: d.name, Task: p.task, Unit: "bytes", Need: need, Budget: d.budget}
		}
		p.leaveOut(d.drop[next])
	}
}

func (p *page) leaveOut(label string) {
	for _, lines := range [][]line{p.fields, p.facts, p.undone} {
		for i := range lines {
			if lines[i].label == label && !lines[i].dropped {
				lines[i].dropped = true
				p.omitted++
			}
		}
	}
}
