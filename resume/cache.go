package resume

import (
	"sync"

	"github.com/pawlgo/pawl/store"
)

// cache keeps the newest snapshots, so that a task that is worked on is not decoded at each step. What it holds is used only
// after the store has said that it is still the newest.
type cache struct {
	most int
	mu   sync.Mutex
	m    map[string]loaded
}

func newCache(most int) *cache { return &cache{most: most, m: map[string]loaded{}} }

func (c *cache) get(task string, tip store.Tip) (loaded, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	l, ok := c.m[task]
	return l, ok && l.tip == tip
}

// put keeps a snapshot; when there is no room, any other makes it.
func (c *cache) put(l loaded) {
	if c.most < 1 {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, had := c.m[l.snap.Task]; !had && len(c.m) >= c.most {
		for task := range c.m {
			delete(c.m, task)
			break
		}
	}
	c.m[l.snap.Task] = l
}
