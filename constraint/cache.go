package constraint

import (
	"container/list"
	"crypto/sha256"
	"fmt"
	"sync"

	"github.com/parlance-llm/parlance"
)

// mostKept is how many constraints are kept.
const mostKept = 256

// kept are the constraints made last, by what they were made from.
var kept = &cache{entries: map[[sha256.Size]byte]*list.Element{}, order: list.New()}

type cache struct {
	mutex   sync.Mutex
	entries map[[sha256.Size]byte]*list.Element
	order   *list.List // of entry, the one used last in front
}

type entry struct {
	key [sha256.Size]byte
	c   *Constraint
}

func (c *cache) get(key [sha256.Size]byte) (*Constraint, bool) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	element, ok := c.entries[key]
	if !ok {
		return nil, false
	}
	c.order.MoveToFront(element)
	return element.Value.(entry).c, true
}

func (c *cache) put(key [sha256.Size]byte, made *Constraint) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if _, ok := c.entries[key]; ok {
		return
	}
	c.entries[key] = c.order.PushFront(entry{key, made})
	if c.order.Len() > mostKept {
		last := c.order.Back()
		delete(c.entries, last.Value.(entry).key)
		c.order.Remove(last)
	}
}

// keyOf is a digest of everything that a constraint is made from. The definitions themselves are told by their address:
// they are read once and not changed.
func keyOf(p *parlance.Parser, r *Request) [sha256.Size]byte {
	h := sha256.New()
	tool, reasoning, name := p.Definitions()
	fmt.Fprintf(h, "%p %p %p %+v %q %v %v %v %q\n", tool, reasoning, name, r.ToolChoice, r.StrictLevel, r.Unenforced, r.OneCall, r.Thinking, r.Suffix)
	for _, t := range r.Tools {
		fmt.Fprintf(h, "%q %v %d ", t.Name, t.Strict, len(t.Parameters))
		h.Write(t.Parameters)
	}
	if f := r.ResponseFormat; f != nil {
		fmt.Fprintf(h, "\n%q %q %q", f.Schema, f.Regex, f.Choices)
	}
	return [sha256.Size]byte(h.Sum(nil))
}
