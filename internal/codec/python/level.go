package python

import "github.com/parlance-llm/parlance/internal/codec"

// kind is what a level is; two bits of levels each. An undecided group is a paren or a set until it is decided.
type kind uint8

const (
	square kind = iota // a list
	paren              // a tuple
	set
	object // a dict
)

// pending is an undecided group, or a key of a dict whose colon has not come.
type pending struct {
	raw   int // where it begins in Codec.raw
	held  int // where it begins in Codec.held
	depth int // the level that the group opened, or that the key belongs to
}

// Until an undecided group is decided, one of these bytes stands in held where its bracket would. They never stand in
// JSON text, where control characters are escaped.
const (
	toCome  = 0 // to be overwritten
	nothing = 1 // a parenthesis that was no tuple's: to be left out
)

// begin makes ready for a value or an element. Its separator goes out with it, never before (ruling 38). An element that
// may have to be changed is held.
func (c *Codec) begin(hold bool) {
	of := c.kind()
	key := c.atKey() && of == object // the first key of a dict is held by its group
	if (hold || key) && !c.holding {
		c.holding = true
		c.raw, c.held = c.raw[:0], c.held[:0]
	}
	if key {
		c.pending = append(c.pending, pending{len(c.raw), len(c.held), c.depth})
	}
	if c.depth > 0 && of != object {
		if !c.first {
			c.put(", ")
		}
		c.first = false
	}
	c.elementRaw, c.elementHeld = len(c.raw), len(c.held)
}

// open begins a container or a group.
//
// A list, a set or a dict cannot be a key in Python, nor stand in one. So a group that begins with one is no dict; in a
// key it is unreadable, which also keeps keys from being made of keys: each turn into a string would double the
// backslashes of the last one.
func (c *Codec) open(b byte) bool {
	if b != '(' && c.atKey() && c.undecided() {
		c.fault = true // nor can it be in a set
		c.keyLevel = 0
		c.decide('[')
	}
	if c.depth == maximumDepth || b != '(' && c.keyLevel != 0 {
		c.begin(true)
		c.unreadable()
		return false
	}
	c.begin(b != '[')
	if b == '[' {
		c.put("[")
		c.solid = len(c.pending)
		c.push(square)
	} else {
		c.pending = append(c.pending, pending{c.elementRaw, c.elementHeld, c.depth + 1})
		c.held = append(c.held, toCome)
		if b == '(' {
			c.push(paren)
		} else {
			c.push(set)
			c.keyLevel = c.depth
		}
	}
	c.first = true
	c.state = beforeValue
	return true
}

// undecided reports whether the innermost level is an undecided group.
func (c *Codec) undecided() bool {
	top := len(c.pending) - 1
	return top >= 0 && c.pending[top].depth == c.depth && c.kind() != object
}

// decide gives the innermost group, undecided so far, its bracket.
func (c *Codec) decide(bracket byte) {
	c.held[c.popPending().held] = bracket
	c.contain()
}

// contain notes that a container's bracket is written into all groups around it, and gives out what is held if there are
// none.
//
// Such a group has no fallback: the text of a group could otherwise be escaped again for each group around it, and time
// would not be linear.
func (c *Codec) contain() {
	c.solid = len(c.pending)
	c.settle()
}

// comma ends an element or an argument.
func (c *Codec) comma() {
	switch {
	case c.depth == 0:
		c.state = beforeArgument
		if c.literal {
			c.fault = true
			c.state = finished
		}
		return
	case c.undecided() && c.kind() == paren:
		c.decide('[')
	case c.undecided() && !c.first:
		c.keyLevel = 0
		c.decide('[')
	case c.kind() == object:
		c.dropKey()
		c.keyLevel = c.depth
	}
	c.state = beforeValue
}

// colon ends the key of a dict: it becomes a string if it is none, and goes out with its colon.
func (c *Codec) colon() {
	top := len(c.pending) - 1
	if top < 0 || c.pending[top].depth != c.depth {
		c.skipElement()
		return
	}
	from := c.pending[top].held
	if c.kind() == set {
		from++
	}
	c.compact(from)
	key := c.held[from:]
	if len(key) == 0 {
		c.skipElement()
		return
	}
	c.work += len(key)
	c.scratch = c.scratch[:0]
	if c.kind() == object {
		c.scratch = append(c.scratch, ", "...)
	} else {
		c.held[from-1] = '{'
		c.setKind(object)
	}
	if key[0] == '"' {
		c.scratch = append(c.scratch, key...)
	} else {
		c.scratch = codec.AppendQuoted(c.scratch, key)
	}
	c.held = append(append(c.held[:from], c.scratch...), ": "...)
	c.popPending()
	c.keyLevel = 0
	c.contain()
	c.state = beforeValue
}

// skipElement skips a dict's element that has no key, its colon included.
func (c *Codec) skipElement() {
	c.skip()
	c.colonEnds = false
}

// dropKey forgets a key that no colon followed.
func (c *Codec) dropKey() {
	top := len(c.pending) - 1
	if c.atKey() && top >= 0 && c.pending[top].depth == c.depth {
		c.fault = true
		c.held = c.held[:c.popPending().held]
		c.settle()
	}
}

// closer reads a closing bracket. One that nothing open can have is junk; one that does not fit the innermost level
// closes all levels up to the one it fits, so that a forgotten bracket does not swallow the rest.
func (c *Codec) closer(b byte) {
	count, depth := c.closable(b), c.depth
	switch {
	case *count > 0:
		for was := *count; *count == was; {
			c.closeLevel()
		}
		c.fault = c.fault || c.depth < depth-1
		c.state = afterValue
	case b == ')':
		for c.depth > 0 {
			c.closeLevel()
		}
		c.settle()
		c.fault = c.fault || depth > 0
		c.state = finished
	default:
		c.fault = true
	}
}

// closeLevel ends the innermost level as its own closing bracket would.
func (c *Codec) closeLevel() {
	c.settle()
	of, empty := c.kind(), c.first
	if c.undecided() {
		c.leaveKey()
		solid := len(c.pending) <= c.solid
		entry := c.popPending()
		c.pop()
		switch {
		case empty && of == set:
			c.held[entry.held] = '{'
			c.put("}")
		case !empty && of == paren:
			c.held[entry.held] = nothing
			if c.crossed == 0 || c.crossed > entry.held {
				c.crossed = entry.held + 1
			}
			c.elementRaw, c.elementHeld = entry.raw, entry.held
			if solid {
				c.settle()
			} else {
				c.fallback, c.blanks = true, 0
			}
			return
		default:
			c.held[entry.held] = '['
			c.put("]")
		}
		c.contain()
		return
	}
	if of == object {
		c.dropKey()
		c.leaveKey()
		c.put("}")
	} else {
		c.put("]")
	}
	c.pop()
}

// leaveKey is called when the innermost level is closed: none of its keys is awaited any more.
func (c *Codec) leaveKey() {
	if c.atKey() {
		c.keyLevel = 0
	}
}

// settle says that nothing can make the newest element unreadable any more, and gives out what is held if no group or key
// around it is pending.
func (c *Codec) settle() {
	c.fallback = false
	if c.holding && len(c.pending) == 0 {
		c.release()
	}
}

// release gives out what is held.
func (c *Codec) release() {
	c.compact(0)
	c.work += len(c.held)
	c.out = append(c.out, c.held...)
	c.holding = false
	c.raw, c.held = c.raw[:0], c.held[:0]
}

// compact leaves out the bytes of held that mean nothing. Undecided groups stand before from, so none of them moves.
func (c *Codec) compact(from int) {
	if c.crossed == 0 {
		return
	}
	c.work += len(c.held) - from
	to := from
	for _, b := range c.held[from:] {
		if b != nothing {
			c.held[to] = b
			to++
		}
	}
	c.held = c.held[:to]
	if c.crossed > from {
		c.crossed = 0
	}
}

// overflow is called when as much is held as may be. The outermost group becomes unreadable text, which need not be held;
// so does a number. A key of a dict becomes junk.
func (c *Codec) overflow() {
	if len(c.pending) == 0 {
		c.unreadable()
		return
	}
	entry := c.pending[0]
	key := c.kindAt(entry.depth) == object
	bottom := entry.depth - 1
	if key {
		bottom = entry.depth
	}
	// Where in the text the automaton is has to be said anew, in the terms of unreadable text.
	depth := c.depth - bottom
	if c.state == inRaw {
		depth += c.rawDepth
	} else {
		was := c.state
		c.enterRaw()
		c.word = wordAtEnd(c.raw)
		c.rawFromText(was)
	}
	c.fault = true
	c.fallback = false
	c.rawDepth = depth
	c.colonEnds = false
	for c.depth > bottom {
		c.pop()
	}
	c.pending = c.pending[:0]
	c.solid = 0
	c.keyLevel = 0
	c.held = c.held[:entry.held]
	if key {
		c.rawUse = junk
		c.release()
		return
	}
	c.elementRaw, c.elementHeld = entry.raw, entry.held
	c.stream()
}

func (c *Codec) popPending() pending {
	top := len(c.pending) - 1
	entry := c.pending[top]
	c.pending = c.pending[:top]
	c.solid = min(c.solid, top)
	return entry
}

// push adds a level.
func (c *Codec) push(k kind) {
	if c.depth%4 == 0 {
		c.levels = append(c.levels[:c.depth/4], 0)
	}
	c.depth++
	c.setKind(k)
	*c.count(k)++
}

// pop removes the innermost level. The level around it has an element then: what was closed.
func (c *Codec) pop() {
	*c.count(c.kind())--
	c.depth--
	c.first = false
}

// closable is how many of the open levels a closing bracket fits.
func (c *Codec) closable(b byte) *int {
	switch b {
	case ')':
		return &c.parens
	case ']':
		return &c.squares
	}
	return &c.braces
}

// count is how many levels of a kind, or closed by the same bracket, are open.
func (c *Codec) count(k kind) *int {
	switch k {
	case square:
		return &c.squares
	case paren:
		return &c.parens
	}
	return &c.braces
}

// kind is the innermost level's; meaningless where there is none.
func (c *Codec) kind() kind { return c.kindAt(c.depth) }

func (c *Codec) kindAt(depth int) kind {
	if depth == 0 {
		return square
	}
	depth--
	return kind(c.levels[depth/4]>>(depth%4*2)) & 3
}

// setKind says what the innermost level is.
func (c *Codec) setKind(k kind) {
	at, shift := (c.depth-1)/4, (c.depth-1)%4*2
	c.levels[at] = c.levels[at]&^(3<<shift) | byte(k)<<shift
}
