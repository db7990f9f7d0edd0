package resume

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/pawlgo/pawl/guard"
	"github.com/pawlgo/pawl/machine"
	"github.com/pawlgo/pawl/store"
)

// codeReplyUsed is the reason of a message that is no evidence any more.
const codeReplyUsed = "reply_used"

// usedElsewhere says that a message has answered another question, of this task or of any other on the store (law 9).
func usedElsewhere(k guard.Key) error {
	return &guard.EvidenceError{Key: k, Code: codeReplyUsed, Text: "the message has answered another question already"}
}

// useReplies uses up the messages that a version counts as a yes: each is a resource that holds the offer that it answered. Where two
// tasks want one message, on whatever controllers, the store lets one of them have it.
func (c *Controller) useReplies(ctx context.Context, b *basket, entry *machine.Entry) error {
	for _, r := range entry.Replies() {
		err := b.change(ctx, c.st, r.Name, func(offer []byte) ([]byte, error) {
			if len(offer) > 0 && string(offer) != r.Key.Subject {
				return nil, usedElsewhere(r.Key)
			}
			return []byte(r.Key.Subject), nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// unused refuses a message that has answered another question.
func (c *Controller) unused(ctx context.Context, task string, e guard.Evidence) error {
	name := e.Message()
	if name == "" {
		return nil
	}
	st, can := c.st.(store.Resources)
	if !can {
		return nil // no machine here confirms: Open has seen to that
	}
	r, err := st.Resource(ctx, name)
	switch k := e.Entry().Key; {
	case err != nil:
		return fmt.Errorf("task %s, a reply: %w", task, err)
	case r.Rev > 0 && string(r.Value) != k.Subject:
		return usedElsewhere(k)
	}
	return nil
}

// withoutUsed is the evidence but for what an error of a write calls used; false when it calls nothing so.
func withoutUsed(evidence []guard.Evidence, err error) ([]guard.Evidence, bool) {
	used, ok := errors.AsType[*guard.EvidenceError](err)
	if !ok || used.Code != codeReplyUsed {
		return evidence, false
	}
	return slices.DeleteFunc(slices.Clone(evidence), func(e guard.Evidence) bool { return e.Entry().Key == used.Key }), true
}
