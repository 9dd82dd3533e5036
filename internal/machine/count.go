package machine

// count counts the tokens that become reasoning. A nil count counts nothing. A token counts if any of its characters
// becomes reasoning; markers do not.
type count struct {
	ends      []int // where tokens end that are not accounted for, in bytes from the beginning of the output
	next      int   // the first of them
	reasoning int
	// hit: a part of the next token has become reasoning; waits: where its white space waits, or -1.
	hit   bool
	waits int
	// pending are tokens of white space that is not settled, by where it is kept.
	pending [3]int
}

// token says where the next token of the output ends.
func (c *count) token(end int) {
	if c.next > 64 && 2*c.next > len(c.ends) {
		c.ends = append(c.ends[:0], c.ends[c.next:]...)
		c.next = 0
	}
	c.ends = append(c.ends, end)
}

// add accounts for input up to end.
func (c *count) add(end int, as As, place int) {
	for c.next < len(c.ends) {
		switch as {
		case AsReasoning:
			c.hit = true
		case asPending:
			c.waits = place
		}
		if c.ends[c.next] > end {
			return
		}
		switch {
		case c.hit:
			c.reasoning++
		case c.waits >= 0:
			c.pending[c.waits]++
		}
		c.next++
		c.hit, c.waits = false, -1
		if c.next == len(c.ends) || c.ends[c.next-1] == end {
			return
		}
	}
}

func (c *count) settle(place int, as As) {
	if as == AsReasoning {
		c.reasoning += c.pending[place]
		if c.waits == place {
			c.hit = true
		}
	}
	c.pending[place] = 0
	if c.waits == place {
		c.waits = -1
	}
}

func (c *count) move(from, to int) {
	c.pending[to] += c.pending[from]
	c.pending[from] = 0
	if c.waits == from {
		c.waits = to
	}
}

// settled says what became of the white space kept at a place.
func (m *Machine) settled(place int, as As) {
	if m.trace != nil {
		m.trace.settle(place, as)
	}
	if m.count != nil {
		m.count.settle(place, as)
	}
}

// moved hands the white space of one place over to another.
func (m *Machine) moved(from, to int) {
	if m.trace != nil {
		m.trace.move(from, to)
	}
	if m.count != nil {
		m.count.move(from, to)
	}
}

// ReasoningTokens is the number of tokens that have become reasoning so far, if they are counted.
func (m *Machine) ReasoningTokens() int {
	if m.count == nil {
		return 0
	}
	return m.count.reasoning
}
