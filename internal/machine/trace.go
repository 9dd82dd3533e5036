package machine

import "slices"

// As says what became of a piece of the input.
type As uint8

// What can become of input. Every byte becomes exactly one of these.
const (
	AsMarkup As = iota
	AsContent
	AsReasoning
	// AsArguments: the arguments of a call were made from it.
	AsArguments
	// AsJunk: text inside a call that means nothing there; skipped and flagged.
	AsJunk
	// AsDropped: text that a channel drops.
	AsDropped
	// AsLayout: white space that belongs to no tray.
	AsLayout
	// asPending: white space of which it is not known yet whether it belongs to a tray.
	asPending
)

func (a As) String() string {
	return [...]string{"markup", "content", "reasoning", "arguments", "junk", "dropped", "layout", "pending"}[a]
}

// Span is a piece of the input and what became of it. Start and End count bytes from the beginning of the output.
type Span struct {
	Start, End int
	As         As
	// Call is the number of the call for arguments, else -1.
	Call int
	// Malformed marks what belongs to a call that could not be read (rulings 33, 34).
	Malformed bool
}

// trace keeps what became of every byte. A nil trace keeps nothing.
type trace struct {
	spans []Span
	// pending are the spans of white space that is not settled, by where it is kept.
	pending [3][]int
}

func (t *trace) add(start, end int, as As, call int) {
	if n := len(t.spans); n > 0 {
		if last := &t.spans[n-1]; last.As == as && last.Call == call && last.End == start && as != asPending {
			last.End = end
			return
		}
	}
	t.spans = append(t.spans, Span{Start: start, End: end, As: as, Call: call})
}

// settle says what became of the white space kept at a place.
func (t *trace) settle(place int, as As) {
	for _, i := range t.pending[place] {
		t.spans[i].As = as
	}
	t.pending[place] = t.pending[place][:0]
}

// move hands the white space of one place over to another.
func (t *trace) move(from, to int) {
	t.pending[to] = append(t.pending[to], t.pending[from]...)
	t.pending[from] = t.pending[from][:0]
}

// cut forgets everything from a position on.
func (t *trace) cut(position int) {
	n := len(t.spans)
	for n > 0 && t.spans[n-1].Start >= position {
		n--
	}
	t.spans = t.spans[:n]
	if n > 0 && t.spans[n-1].End > position {
		t.spans[n-1].End = position
	}
	for place := range t.pending {
		t.pending[place] = slices.DeleteFunc(t.pending[place], func(i int) bool { return i >= n })
	}
}

// merged are the spans with neighbours that became the same put together.
func (t *trace) merged() []Span {
	var out []Span
	for _, s := range t.spans {
		if s.As == asPending {
			s.As = AsLayout
		}
		if n := len(out); n > 0 && out[n-1].As == s.As && out[n-1].Call == s.Call && out[n-1].End == s.Start && out[n-1].Malformed == s.Malformed {
			out[n-1].End = s.End
			continue
		}
		out = append(out, s)
	}
	return out
}

// take accounts for input: what is next in it became something.
func (m *Machine) take(text []byte, as As, call int) {
	if m.echo.recording { // what the prompt holds of the block is repeated too
		m.echo.record(text)
	}
	if m.promptHeld > 0 {
		text = m.ofOutput(text)
	}
	if len(text) == 0 {
		return
	}
	if m.keep && m.call.open {
		m.call.text = append(m.call.text, text...)
	}
	if m.count != nil {
		m.count.add(m.position+len(text), as, call)
	}
	if m.trace != nil {
		if as == asPending {
			m.trace.pending[call] = append(m.trace.pending[call], len(m.trace.spans))
			call = -1
		}
		m.trace.add(m.position, m.position+len(text), as, call)
	}
	m.position += len(text)
}

// ofOutput leaves out what came with the prompt.
func (m *Machine) ofOutput(text []byte) []byte {
	k := min(m.promptHeld, len(text))
	m.promptHeld -= k
	return text[k:]
}

// Trace gives what became of every byte so far, if a trace is kept.
func (m *Machine) Trace() []Span {
	if m.trace == nil {
		return nil
	}
	return m.trace.merged()
}
