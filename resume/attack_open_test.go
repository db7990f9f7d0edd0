package resume_test

// Attacks that succeed. Each is a test that fails until the gate is mended.

/*
// One message, used as the yes to two offers of two tasks: an observation's id is used up in one task only.

	func TestAttackOneMessageTwice(t *testing.T) {
		d := newLab(t)
		a, b := d.decide("lab1", "pen"), d.decide("lab2", "pen")
		d.commits(a, yes.With(buy{"s1", []string{"pen"}}), d.reply(a.Offers()[0].ID, "yes").Identified("msg1"))
		d.refuses(b, yes.With(buy{"s1", []string{"pen"}}), d.reply(b.Offers()[0].ID, "yes").Identified("msg1"))
	}

*/
