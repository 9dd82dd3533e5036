package machine

import (
	"bytes"
	"strings"

	"github.com/parlance-llm/parlance/internal/codec"
	"github.com/parlance-llm/parlance/internal/codec/jsonscan"
	"github.com/parlance-llm/parlance/internal/match"
	"github.com/parlance-llm/parlance/internal/program"
)

type envelopeState uint8

const (
	envelopeOpen       envelopeState = iota // before the brace
	envelopeKeyOrEnd                        // a key, or the end
	envelopeKey                             // in a key
	envelopeColon                           // behind a key
	envelopeValue                           // before a value
	envelopeText                            // in the string of the name or the id
	envelopeArguments                       // in the argument object
	envelopeString                          // in arguments that are a string
	envelopeOther                           // in arguments that are neither
	envelopeSkipString                      // in a string nobody asked for
	envelopeSkip                            // in another value nobody asked for
	envelopeSkipScalar                      // the same, without brackets
	envelopeComma                           // behind a member
	envelopeProbe                           // behind the name, where a marker may end the object
	envelopeRest                            // name and arguments are complete, or it has gone wrong: up to its end
)

// envelope is the state of a JSON object that carries a call (ruling 25).
type envelope struct {
	state   envelopeState
	decoder jsonscan.Decoder
	key     []byte
	member  program.Member
	keys    int  // members that have begun
	foreign bool // the member's key is none the format knows
	named   bool
	name    []byte
	id      []byte
	// arguments kept because the name has not come, or the shape is not certain.
	kept     []byte
	argued   bool // the arguments have begun
	complete bool // they are complete
	blank    bool // only blanks of a string have come
	keyName  []byte
	inString bool
	escape   bool
	// back is text that has been read and may still be the beginning of a marker, or blanks at the end of an argument.
	back []byte
}

func (e *envelope) reset() {
	*e = envelope{key: e.key[:0], name: e.name[:0], id: e.id[:0], kept: e.kept[:0], keyName: e.keyName[:0], back: e.back[:0]}
}

// searching tells whether markers end the envelope where it stands.
func (e *envelope) searching() bool {
	return e.state == envelopeOther || e.state == envelopeProbe || e.state == envelopeRest && !e.inString
}

// inEnvelope reads the object. Until the call begins all of it is held.
func (m *Machine) inEnvelope(n *program.Node, piece []byte, i int) int {
	for i < len(piece) && m.node == n {
		if m.open && m.envelopeTooLong(i) {
			m.failEnvelope(n, i)
			return i
		}
		i = m.envelopeStep(n, piece, i)
	}
	return i
}

func (m *Machine) envelopeTooLong(i int) bool {
	limit := m.options.HeldLimit
	if e := &m.envelope; e.argued || m.node.Marked && e.keys > 0 && len(e.name) < limit {
		limit = m.options.ArgumentLimit
	}
	return m.heldLength(i) > limit
}

// failEnvelope ends an envelope that carries no call: text, or the plain arguments of a forced tool (ruling 16).
func (m *Machine) failEnvelope(n *program.Node, i int) {
	if n.Plain == nil {
		m.fail(n, i, nil)
		return
	}
	var text []byte
	m.both(i, 0, func(part []byte, _ memory) { text = append(text, part...) })
	m.held, m.from = m.held[:0], i
	m.node = n.Plain
	m.json.Reset()
	m.forget()
	m.reread(text)
	m.from = i
}

// wrong is called where the object breaks the rules of JSON.
func (m *Machine) wrong(n *program.Node, i int) int {
	e := &m.envelope
	if m.open {
		m.failEnvelope(n, i)
		return i
	}
	if !e.complete {
		m.call.malformed = true
	}
	e.state = envelopeRest
	m.place = 0
	return i
}

func (m *Machine) envelopeStep(n *program.Node, piece []byte, i int) int {
	e := &m.envelope
	c := piece[i]
	switch e.state {
	case envelopeKey:
		return m.envelopeKeyText(n, piece, i)
	case envelopeText:
		return m.envelopeStringText(n, piece, i)
	case envelopeArguments:
		return m.envelopeObject(n, piece, i)
	case envelopeString:
		return m.envelopeEncoded(n, piece, i)
	case envelopeOther:
		return m.envelopeRaw(n, piece, i)
	case envelopeSkip, envelopeSkipString, envelopeSkipScalar:
		return m.envelopeSkipped(n, piece, i)
	case envelopeProbe:
		return m.envelopeProbing(n, piece, i)
	case envelopeRest:
		return m.envelopeEnd(n, piece, i)
	}
	if codec.IsBlank(c) {
		m.envelopeTake(piece, i, i+1)
		return i + 1
	}
	switch e.state {
	case envelopeOpen:
		if c == '{' {
			e.state = envelopeKeyOrEnd
			return i + 1
		}
	case envelopeKeyOrEnd:
		switch {
		case c == '"':
			e.state, e.key, e.decoder = envelopeKey, e.key[:0], jsonscan.Decoder{}
			e.keys++
			m.envelopeTake(piece, i, i+1)
			return i + 1
		case c == '}' && e.keys == 0:
			return m.envelopeClosed(n, piece, i)
		}
	case envelopeColon:
		if c == ':' {
			e.state = envelopeValue
			m.envelopeTake(piece, i, i+1)
			return i + 1
		}
	case envelopeValue:
		return m.envelopeBeginValue(n, piece, i)
	case envelopeComma:
		if m.open && e.named && (n.Marked || e.argued) {
			switch {
			case c == ',' || c == '}':
				if !m.envelopeBegin(n, i) {
					return i
				}
			case n.Table.First[c]:
				e.state, e.back, m.place = envelopeProbe, e.back[:0], 0
				return i
			}
		}
		switch c {
		case ',':
			e.state = envelopeKeyOrEnd
			m.envelopeTake(piece, i, i+1)
			return i + 1
		case '}':
			return m.envelopeClosed(n, piece, i)
		}
	}
	return m.wrong(n, i)
}

// envelopeProbing reads on behind the name: a marker of the call ends the object, anything else shows that it is none.
func (m *Machine) envelopeProbing(n *program.Node, piece []byte, i int) int {
	place, read, found, back := n.Table.Find(m.place, piece[i:i+1])
	m.envelope.back = append(m.envelope.back, piece[i:i+read]...)
	if found == match.None {
		m.place = place
		if n.Table.Hold(place, 0) < len(m.envelope.back) {
			m.failEnvelope(n, i+read)
		}
		return i + read
	}
	path := n.Table.Path(place)
	rest := path[len(path)-back:]
	m.shorten(i+read, m.width(rest)+len(n.Edges[found].Bytes))
	if m.envelopeBegin(n, i+read) {
		m.leaveEnvelope(n, i+read)
	}
	m.again(n.Edges[found].Symbols)
	m.again(rest)
	m.from = i + read
	return i + read
}

// envelopeTake accounts for the object's own characters once the call has begun.
func (m *Machine) envelopeTake(piece []byte, from, to int) {
	if !m.open {
		m.take(piece[from:to], AsMarkup, -1)
	}
}

func (m *Machine) envelopeKeyText(n *program.Node, piece []byte, i int) int {
	e := &m.envelope
	first := e.keys == 1 && m.open && !n.Marked
	before := len(e.key)
	if first { // the first character that fits none of the keys settles it (ruling 21)
		piece = piece[:i+1]
	}
	to, key, event := e.decoder.Step(piece, i, e.key)
	e.key = key
	if first && !m.firstKeyFits(n, event == jsonscan.Done) {
		e.key = e.key[:before]
		m.failEnvelope(n, i)
		return i
	}
	m.envelopeTake(piece, i, to)
	switch event {
	case jsonscan.Done:
		e.state = envelopeColon
		member, known := n.Envelope.Members[string(e.key)]
		e.member, e.foreign = member, !known
		if !known {
			e.member = program.MemberIgnored
		}
	case jsonscan.Broken:
		return m.wrong(n, to)
	}
	return to
}

// firstKeyFits tells whether the first key is, or may become, one that a call begins with.
func (m *Machine) firstKeyFits(n *program.Node, complete bool) bool {
	if n.Envelope.KeyIsName {
		return true
	}
	for key := range n.Envelope.Members {
		if complete && key == string(m.envelope.key) || !complete && strings.HasPrefix(key, string(m.envelope.key)) {
			return true
		}
	}
	return false
}

func (m *Machine) envelopeBeginValue(n *program.Node, piece []byte, i int) int {
	e := &m.envelope
	c := piece[i]
	spec := n.Envelope
	switch {
	case e.member == program.MemberName && !e.foreign && c == '"', e.member == program.MemberID && !e.foreign && c == '"':
		e.state, e.decoder = envelopeText, jsonscan.Decoder{}
		if e.member == program.MemberName {
			e.name = e.name[:0]
		} else {
			e.id = e.id[:0]
		}
		m.envelopeTake(piece, i, i+1)
		return i + 1
	case e.member == program.MemberName && !e.foreign && !(spec.KeyIsName && c == '{'):
		return m.wrong(n, i)
	case spec.KeyIsName && c == '{' && !e.named && (e.foreign || e.member == program.MemberName || e.member == program.MemberArguments):
		e.keyName = append(e.keyName[:0], e.key...)
		if e.foreign || e.member == program.MemberName {
			e.name, e.named = append(e.name[:0], e.key...), true
		}
		return m.envelopeBeginObject(n, i)
	case spec.KeyIsName && c == '{' && e.complete && e.foreign && !m.open: // the next call of the same object
		m.endBadCall()
		e.complete = false
		e.name = append(e.name[:0], e.key...)
		m.startCandidate(nil)
		m.from = i
		return m.envelopeBeginObject(n, i)
	case e.member == program.MemberArguments && !e.foreign && !e.argued:
		return m.envelopeBeginArguments(n, piece, i)
	case spec.KeyIsName && e.foreign && !e.named && e.keys == 1 && m.open:
		return m.wrong(n, i)
	}
	switch c {
	case '{', '[':
		e.state = envelopeSkip
		m.skip.Reset()
	case '"':
		e.state, e.escape = envelopeSkipString, false
		m.envelopeTake(piece, i, i+1)
		return i + 1
	case ',', '}', ']', ':', '<':
		return m.wrong(n, i)
	default:
		e.state = envelopeSkipScalar
	}
	return i
}

func (m *Machine) envelopeBeginArguments(n *program.Node, piece []byte, i int) int {
	e := &m.envelope
	e.kept = e.kept[:0]
	switch c := piece[i]; {
	case c == '{':
		return m.envelopeBeginObject(n, i)
	case c == '"':
		if !n.Marked && m.open && !e.named {
			break
		}
		e.state, e.decoder, e.blank, e.argued = envelopeString, jsonscan.Decoder{}, true, true
		m.json.Reset()
		m.envelopeTake(piece, i, i+1)
		return i + 1
	}
	if m.open {
		if !n.Marked || !e.named { // not the shape of a call
			return m.wrong(n, i)
		}
		if !m.envelopeBegin(n, i) {
			return i
		}
	}
	m.call.malformed = true
	e.argued = true
	e.state = envelopeOther
	m.place = 0
	m.raw = raw{on: true}
	return i
}

func (m *Machine) envelopeBeginObject(n *program.Node, i int) int {
	e := &m.envelope
	e.state, e.argued = envelopeArguments, true
	m.json.Reset()
	if m.open && e.named && !m.envelopeBegin(n, i) {
		return i
	}
	return i
}

// envelopeBegin begins the call and gives out the arguments that came before its name.
func (m *Machine) envelopeBegin(n *program.Node, i int) bool {
	e := &m.envelope
	name := string(bytes.TrimSpace(e.name))
	if n.Plain != nil && name != m.options.Forced || name == "" {
		m.failEnvelope(n, i)
		return false
	}
	if !m.begin(name, string(e.id), i, 0) {
		m.failEnvelope(n, i)
		return false
	}
	m.call.syntax = inText
	if len(e.kept) > 0 {
		m.call.first = false
		m.arguments(e.kept, memoryReused)
		e.kept = e.kept[:0]
	}
	if e.complete {
		m.goodArguments()
	}
	return true
}

// envelopeArgument gives out argument text, or keeps it until the call has begun.
func (m *Machine) envelopeArgument(text []byte, kind memory) {
	if len(text) == 0 {
		return
	}
	if m.open {
		m.envelope.kept = append(m.envelope.kept, text...)
		m.most = max(m.most, len(m.envelope.kept))
		return
	}
	m.call.first = false
	m.arguments(text, kind)
}

func (m *Machine) envelopeStringText(n *program.Node, piece []byte, i int) int {
	e := &m.envelope
	into := &e.name
	if e.member == program.MemberID {
		into = &e.id
	}
	to, text, event := e.decoder.Step(piece, i, *into)
	*into = text
	m.envelopeTake(piece, i, to)
	switch event {
	case jsonscan.Done:
		e.state = envelopeComma
		if e.member == program.MemberName {
			e.named = len(bytes.TrimSpace(text)) > 0
			if !e.named {
				return m.wrong(n, to)
			}
		}
	case jsonscan.Broken:
		return m.wrong(n, to)
	}
	return to
}

func (m *Machine) envelopeObject(n *program.Node, piece []byte, i int) int {
	e := &m.envelope
	for i < len(piece) {
		if m.raw.on {
			var over bool
			if i, over = m.scanRaw(piece, i); over {
				e.state = envelopeRest
				m.place = 0
			}
			return i
		}
		from := i
		var event jsonscan.Event
		i, event = m.json.Scan(piece, i)
		m.envelopeTakeArguments(piece, from, i)
		m.envelopeArgument(piece[from:i], memoryChunk)
		switch event {
		case jsonscan.Done:
			e.complete = true
			e.state = envelopeComma
			if !m.open {
				m.goodArguments()
			}
			return i
		case jsonscan.Control:
			m.envelopeTakeArguments(piece, i, i+1)
			m.scratch = codec.AppendEscaped(m.scratch[:0], piece[i])
			m.envelopeArgument(m.scratch, memoryReused)
			i = m.json.Skip(i)
		case jsonscan.Broken:
			if m.open {
				return m.wrong(n, i)
			}
			m.call.malformed = true
			m.raw = raw{on: true, depth: m.json.Depth(), inString: m.json.InString(), escape: m.json.AfterEscape()}
		}
	}
	return i
}

func (m *Machine) envelopeTakeArguments(piece []byte, from, to int) {
	if !m.open && to > from {
		m.take(piece[from:to], AsArguments, m.calls-1)
	}
}

// envelopeEncoded reads arguments that are an object written as a JSON string (ruling 25).
func (m *Machine) envelopeEncoded(n *program.Node, piece []byte, i int) int {
	e := &m.envelope
	for i < len(piece) {
		c := piece[i]
		if e.decoder.Plain() && c != '"' && c != '\\' {
			to := i + 1
			for to < len(piece) && piece[to] != '"' && piece[to] != '\\' {
				to++
			}
			read, ok := m.encodedText(piece[i:to], memoryChunk)
			m.envelopeTakeArguments(piece, i, i+read)
			if i += read; !ok {
				return m.encodedWrong(n, i, true)
			}
			continue
		}
		_, text, event := e.decoder.Step(piece[:i+1], i, m.scratch[:0])
		m.scratch = text[:0]
		_, ok := m.encodedText(m.copy(text), memoryChunk)
		m.envelopeTakeArguments(piece, i, i+1)
		i++
		switch {
		case event == jsonscan.Broken || !ok:
			return m.encodedWrong(n, i, event != jsonscan.Done)
		case event != jsonscan.Done:
			continue
		case e.blank:
			m.envelopeArgument(empty, memoryStatic)
		case !e.complete:
			return m.encodedWrong(n, i, false)
		}
		e.complete = true
		e.state = envelopeComma
		if !m.open {
			m.goodArguments()
		}
		return i
	}
	return i
}

// encodedText passes on decoded argument text; it answers how much of it, and false if it goes on as no object does.
func (m *Machine) encodedText(text []byte, kind memory) (read int, ok bool) {
	e := &m.envelope
	i := 0
	for i < len(text) {
		switch {
		case e.complete: // junk behind the object, in the string
			return len(text), true
		case e.blank && codec.IsBlank(text[i]):
			i++
			continue
		case e.blank:
			if text[i] != '{' {
				return i, false
			}
			e.blank = false
		}
		from := i
		var event jsonscan.Event
		i, event = m.json.Scan(text, i)
		m.envelopeArgument(text[from:i], kind)
		switch event {
		case jsonscan.Done:
			e.complete = true
		case jsonscan.Control:
			m.envelopeArgument(codec.AppendEscaped(nil, text[i]), memoryReused)
			i = m.json.Skip(i)
		case jsonscan.Broken:
			return i, false
		}
	}
	return i, true
}

// encodedWrong: the string holds no object. The call has no readable arguments.
func (m *Machine) encodedWrong(n *program.Node, i int, inString bool) int {
	e := &m.envelope
	if m.open && (!e.named || !n.Marked) {
		m.failEnvelope(n, i)
		return i
	}
	if m.open && !m.envelopeBegin(n, i) {
		return i
	}
	m.call.malformed = true
	e.complete = false
	e.state = envelopeRest
	e.inString = inString
	m.place = 0
	return i
}

// envelopeSkipped passes over a value nobody asked for.
func (m *Machine) envelopeSkipped(n *program.Node, piece []byte, i int) int {
	e := &m.envelope
	from := i
	switch e.state {
	case envelopeSkipString:
		for i < len(piece) && e.state == envelopeSkipString {
			switch c := piece[i]; {
			case e.escape:
				e.escape = false
			case c == '\\':
				e.escape = true
			case c == '"':
				e.state = envelopeComma
			}
			i++
		}
	case envelopeSkipScalar:
		for i < len(piece) && !codec.IsBlank(piece[i]) && strings.IndexByte(`,}]{["<`, piece[i]) < 0 {
			i++
		}
		if i < len(piece) {
			e.state = envelopeComma
		}
	default:
		var event jsonscan.Event
		for i < len(piece) && e.state == envelopeSkip {
			switch i, event = m.skip.Scan(piece, i); event {
			case jsonscan.Done:
				e.state = envelopeComma
			case jsonscan.Control:
				i = m.skip.Skip(i)
			case jsonscan.Broken:
				m.envelopeTake(piece, from, i)
				return m.wrong(n, i)
			}
		}
	}
	m.envelopeTake(piece, from, i)
	return i
}

// envelopeClosed reads the brace that closes the object.
func (m *Machine) envelopeClosed(n *program.Node, piece []byte, i int) int {
	e := &m.envelope
	if !e.named && n.Envelope.KeyIsName && e.complete {
		e.name, e.named = append(e.name[:0], e.keyName...), true
	}
	if m.open {
		if !e.named || !n.Marked && !e.argued && !n.Envelope.Certain {
			m.failEnvelope(n, i)
			return i
		}
		if !m.envelopeBegin(n, i) {
			return i
		}
	}
	m.envelopeTake(piece, i, i+1)
	m.leaveEnvelope(n, i+1)
	return i + 1
}

func (m *Machine) leaveEnvelope(n *program.Node, i int) {
	if m.call.open && !m.call.ended && !m.call.malformed {
		m.arguments(empty, memoryStatic) // no arguments (ruling 25)
		m.goodArguments()
	}
	m.enter(n.Tail)
	m.from = i
}

// envelopeRaw reads arguments that are neither object nor string: raw, to the next comma or brace, or the bracket that
// balances their first, or a marker (ruling 34).
func (m *Machine) envelopeRaw(n *program.Node, piece []byte, i int) int {
	e := &m.envelope
	place, read, found, back := n.Table.Find(m.place, piece[i:i+1])
	if found != match.None {
		e.back = append(e.back, piece[i:i+read]...)
		return m.envelopeMarker(n, &n.Edges[found], n.Table.Path(place), back, i+read)
	}
	c := piece[i]
	bracketed := m.raw.depth > 0
	if !bracketed && !m.raw.inString && (c == ',' || c == '}') {
		m.endRawArguments()
		return i
	}
	m.place = place
	over := m.raw.step(c) && bracketed
	e.back = append(e.back, c)
	k := len(e.back) - n.Table.Hold(place, 0)
	m.giveRaw(k - trailingBlanks(e.back[:k]))
	if over {
		m.endRawArguments()
	}
	return i + 1
}

// giveRaw gives out the first k bytes of raw argument text that is kept back. Blanks before it are none of it.
func (m *Machine) giveRaw(k int) {
	if k <= 0 {
		return
	}
	e := &m.envelope
	text, n := e.back[:k], 0
	if m.call.first {
		n = leadingBlanks(text)
	}
	m.take(text[:n], AsMarkup, -1)
	if n < k {
		m.take(text[n:], AsArguments, m.calls-1)
		m.call.first = false
		m.arguments(text[n:], memoryReused)
	}
	e.back = append(e.back[:0], e.back[k:]...)
}

// endRawArguments ends raw argument text; blanks at its end are none of it.
func (m *Machine) endRawArguments() {
	e := &m.envelope
	m.giveRaw(len(e.back) - trailingBlanks(e.back))
	m.take(e.back, AsMarkup, -1)
	e.back = e.back[:0]
	m.raw = raw{}
	m.place = 0
	e.state = envelopeRest
}

// envelopeEnd skips to the end of an envelope whose call is complete or lost: its brace, or a marker.
func (m *Machine) envelopeEnd(n *program.Node, piece []byte, i int) int {
	e := &m.envelope
	c := piece[i]
	if e.inString {
		m.take(piece[i:i+1], AsJunk, m.calls-1)
		switch {
		case e.escape:
			e.escape = false
		case c == '\\':
			e.escape = true
		case c == '"':
			e.inString = false
		}
		return i + 1
	}
	place, read, found, back := n.Table.Find(m.place, piece[i:i+1])
	e.back = append(e.back, piece[i:i+read]...)
	if found != match.None {
		return m.envelopeMarker(n, &n.Edges[found], n.Table.Path(place), back, i+read)
	}
	m.place = place
	if k := len(e.back) - n.Table.Hold(place, 0); k > 0 {
		m.take(e.back[:k], AsJunk, m.calls-1)
		e.back = append(e.back[:0], e.back[k:]...)
		if c == '}' && len(e.back) == 0 {
			m.leaveEnvelope(n, i+1)
		}
	}
	return i + 1
}

// envelopeMarker follows a marker that ends the envelope: what its tail would have made of it.
func (m *Machine) envelopeMarker(n *program.Node, edge *program.Edge, path []match.Symbol, back, i int) int {
	e := &m.envelope
	rest := path[len(path)-back:]
	e.back = e.back[:max(0, len(e.back)-m.width(rest)-len(edge.Bytes))]
	if e.state == envelopeOther {
		m.endRawArguments()
	} else {
		m.take(e.back, AsJunk, m.calls-1)
		e.back = e.back[:0]
	}
	m.leaveEnvelope(n, i)
	m.again(edge.Symbols)
	m.again(rest)
	m.from = i
	return i
}

func (m *Machine) envelopeToken(n *program.Node, s match.Symbol, text []byte) bool {
	place, found, back, taken := n.Table.Step(m.place, s)
	if taken {
		m.envelope.back = append(m.envelope.back, text...)
	}
	if found != match.None {
		m.envelopeMarker(n, &n.Edges[found], n.Table.Path(place), back, len(text))
		return taken
	}
	m.place = place
	return true
}
