package machine

import (
	"bytes"
	"slices"

	"github.com/parlance-llm/parlance/internal/codec"
	"github.com/parlance-llm/parlance/internal/match"
	"github.com/parlance-llm/parlance/internal/program"
	"github.com/parlance-llm/parlance/internal/schema"
)

// value is the state of a tagged value.
type value struct {
	begun   bool // what may stand only at its beginning is past
	streams bool // it is a string that goes out as it comes
	quoted  bool // its opening quote is out
	unwraps bool // it may hold all the arguments
	kind    program.ValueKind
	nested  bool // it may hold parameters
	schema  *schema.Schema
	blanks  []byte
	trims   bool   // white space at its beginning is still to be left out
	behind  []byte // white space behind its text, which may be left out as its end
	text    []byte // a value that must be read whole
	entity  []byte // the beginning of an entity
}

// keyDone begins a parameter: its key is complete.
func (m *Machine) keyDone(e *program.Edge) {
	key := m.named("key")
	depth := len(m.elements)
	inList := depth > 0 && m.elements[depth-1].array
	parent := m.call.schema
	if depth > 0 {
		parent = m.elements[depth-1].schema
	}
	if depth < cap(m.elements) {
		m.elements = m.elements[:depth+1]
	} else {
		m.elements = append(m.elements, element{})
	}
	el := &m.elements[depth]
	*el = element{key: append(el.key[:0], key...), back: m.nestedBack}
	m.nestedBack = nil
	if inList {
		el.schema = parent.Item(m.elements[depth-1].children)
	} else {
		el.schema = parent.Property(string(key))
	}
	spec := e.To.Value
	v := &m.value
	*v = value{
		blanks: v.blanks[:0], behind: v.behind[:0], text: v.text[:0], entity: v.entity[:0],
		trims: spec.TrimBefore, schema: el.schema, kind: spec.Kind, nested: spec.Nested,
	}
	kinds := el.schema.Kinds()
	switch {
	case depth == 0 && m.call.first && !m.call.unwraps && m.mayUnwrap(string(key)) && !parent.Declares(string(key)):
		v.unwraps = true
		m.call.unwrapKey = string(key)
	case spec.Nested && !inList && kinds.Has(schema.Array) && !kinds.Has(schema.String):
		m.settleUnwrap()
		m.collect(depth, el)
	default:
		m.settleUnwrap()
		m.settleCollected(depth)
		v.streams = kinds == schema.String || kinds == 0 && spec.Kind != program.ValueJSON
		m.beginMember(depth, key, inList)
		if v.streams && !spec.Nested {
			m.openQuote()
		}
	}
	m.enter(e.To)
	v.begun = e.To.Value.Start == nil
}

// beginMember gives out what stands before a value: the separator, and the key where there is one.
func (m *Machine) beginMember(depth int, key []byte, inList bool) {
	out := m.scratch[:0]
	switch {
	case depth == 0 && m.call.first:
		out = append(out, '{')
		m.call.first = false
	case depth == 0 || m.elements[depth-1].children > 0:
		out = append(out, ", "...)
	}
	if depth > 0 {
		m.elements[depth-1].children++
	}
	if !inList {
		out = codec.AppendQuoted(out, key)
		out = append(out, ": "...)
	}
	m.scratch = out
	m.arguments(out, memoryReused)
}

var quote = []byte(`"`)

func (m *Machine) openQuote() {
	if !m.value.quoted {
		m.value.quoted = true
		m.arguments(quote, memoryStatic)
	}
}

var anObject = func() *schema.Schema {
	s, err := schema.Parse([]byte(`{"type": "object"}`))
	if err != nil {
		panic(err)
	}
	return s
}()

func silent(kind program.ValueKind) schema.Silent {
	if kind == program.ValueJSON {
		return schema.SilentJSON
	}
	return schema.SilentString
}

// appendValue reads a value by its schema. Where parameters may be nested, one that is empty is an empty container if
// a container is wanted.
func (m *Machine) appendValue(out, text []byte, s *schema.Schema) []byte {
	if kinds := s.Kinds(); m.value.nested && leadingBlanks(text) == len(text) && !kinds.Has(schema.String) {
		switch {
		case kinds.Has(schema.Array):
			return append(out, "[]"...)
		case kinds.Has(schema.Object):
			return append(out, "{}"...)
		}
	}
	return schema.AppendValue(out, text, s, silent(m.value.kind))
}

// inValue reads a tagged value.
func (m *Machine) inValue(n *program.Node, piece []byte, i int) int {
	if m.value.starting(n) {
		return m.valueStart(n, piece, i)
	}
	t := n.Table
	before := m.place
	place, read, found, back := t.Find(before, piece[i:])
	owed := t.Held(before, 0)
	chunk := piece[i : i+read]
	i += read
	if found == match.None {
		m.place = place
		m.releaseValue(owed, chunk, t.Hold(place, 0))
		return i
	}
	path := t.Path(place)
	rest := path[len(path)-back:]
	e := &n.Edges[found]
	m.releaseValue(owed, chunk, len(e.Bytes)+m.width(rest))
	m.place = 0
	m.valueMarker(n, e)
	m.from = i
	m.again(rest)
	m.from = i
	return i
}

func (m *Machine) releaseValue(owed, chunk []byte, hold int) {
	count := len(owed) + len(chunk) - hold
	if count <= 0 {
		return
	}
	if k := min(count, len(owed)); k > 0 {
		m.valueText(owed[:k], memoryStatic)
		count -= k
	}
	if count > 0 {
		m.valueText(chunk[:count], memoryChunk)
	}
}

// valueText adds text to the open value.
func (m *Machine) valueText(text []byte, kind memory) {
	if len(text) == 0 {
		return
	}
	v := &m.value
	if v.trims {
		n := leadingBlanks(text)
		m.take(text[:n], AsMarkup, -1)
		if text = text[n:]; len(text) == 0 {
			return
		}
		v.trims = false
	}
	if m.valueSpec().TrimAfter {
		n := len(text) - trailingBlanks(text)
		behind := text[n:]
		if text = text[:n]; n > 0 {
			m.valueBehind(AsArguments)
		}
		if v.behind = append(v.behind, behind...); len(v.behind) > blankLimit {
			m.valueBehind(AsArguments)
		}
		if n == 0 {
			return
		}
	}
	m.takenValueText(text, kind)
}

// valueSpec is what the open value needs to know.
func (m *Machine) valueSpec() *program.ValueSpec {
	if m.node.Value == nil { // a candidate in the value
		return m.node.Fail.Value
	}
	return m.node.Value
}

// valueBehind settles the white space behind the text of a value: as its text, or as markup.
func (m *Machine) valueBehind(as As) {
	v := &m.value
	if len(v.behind) == 0 {
		return
	}
	behind := m.copy(v.behind)
	v.behind = v.behind[:0]
	if as == AsArguments {
		m.takenValueText(behind, memoryChunk)
		return
	}
	m.take(behind, as, -1)
}

// takenValueText adds text to the open value that is certain to be its text.
func (m *Machine) takenValueText(text []byte, kind memory) {
	m.take(text, AsArguments, m.calls-1)
	v := &m.value
	if v.kind == program.ValueXML {
		text, kind = m.entities(text, kind)
	}
	m.plainValueText(text, kind)
}

func (m *Machine) plainValueText(text []byte, kind memory) {
	v := &m.value
	if !v.streams {
		v.text = append(v.text, text...)
		m.most = max(m.most, len(v.text))
		if len(v.text) > m.options.ArgumentLimit {
			m.overflow()
		}
		return
	}
	m.openQuote()
	if !needsEscape(text) {
		m.arguments(text, kind)
		return
	}
	from := len(m.arena)
	m.arena = codec.AppendString(m.arena, text)
	m.arguments(m.arena[from:len(m.arena):len(m.arena)], memoryChunk)
}

// overflow: a value that must be read whole is too long; it becomes a string (rulings 32, 41).
func (m *Machine) overflow() {
	v := &m.value
	if v.unwraps || m.elements[len(m.elements)-1].collects {
		depth := len(m.elements) - 1
		m.elements[depth].collects = false
		if depth < len(m.collectors) {
			m.settleCollected(depth)
		}
		v.unwraps = false
		m.beginMember(depth, m.elements[depth].key, depth > 0 && m.elements[depth-1].array)
	}
	v.streams = true
	text := v.text
	v.text = nil
	m.plainValueText(text, memoryReused)
}

var escaped = func() (t [256]bool) {
	for b := range 256 {
		t[b] = b < ' ' || b == '"' || b == '\\'
	}
	return t
}()

func needsEscape(text []byte) bool {
	for _, c := range text {
		if escaped[c] {
			return true
		}
	}
	return false
}

// entities decodes the entities of XML in text that arrives in pieces. What may be the beginning of one is kept.
func (m *Machine) entities(text []byte, kind memory) ([]byte, memory) {
	v := &m.value
	if len(v.entity) == 0 && bytes.IndexByte(text, '&') < 0 {
		return text, kind
	}
	text = append(v.entity, text...)
	v.entity = text[:0]
	from := len(m.arena)
	for i := 0; i < len(text); i++ {
		if text[i] != '&' {
			m.arena = append(m.arena, text[i])
			continue
		}
		if c, n := entity(text[i:]); n > 0 {
			m.arena = append(m.arena, c)
			i += n - 1
			continue
		}
		if beginsEntity(text[i:]) {
			v.entity = append(v.entity, text[i:]...)
			break
		}
		m.arena = append(m.arena, '&')
	}
	return m.arena[from:len(m.arena):len(m.arena)], memoryChunk
}

func beginsEntity(text []byte) bool {
	for _, e := range entities {
		if len(text) < len(e.name) && e.name[:len(text)] == string(text) {
			return true
		}
	}
	return false
}

// valueMarker follows a marker found in a value: its closer, or the beginning of a candidate in it.
func (m *Machine) valueMarker(n *program.Node, e *program.Edge) {
	if e.Do&program.EndValue != 0 && len(e.Branches) == 0 {
		m.valueBehind(AsMarkup)
		m.take(e.Bytes, AsMarkup, -1)
		m.endValue()
		if e.Do&program.EndCall != 0 {
			m.elements = m.elements[:len(m.elements)-1]
			m.closeCall()
			m.enter(e.To)
			return
		}
		m.leaveValue(e)
		return
	}
	m.open = true
	m.held = append(m.held[:0], e.Bytes...)
	m.leadIn, m.runTo = 0, 0
	if e.Do&program.RunCloser != 0 {
		m.runTo = len(m.held)
	}
	m.enterHeld(e.To)
}

// endOfValue ends the value before what is held, or, where a run of closers turned out to be data, behind it.
func (m *Machine) endOfValue(e *program.Edge, i, but int) {
	if e.Do&program.EndValueHere != 0 {
		m.suspend(i)
		data := m.held[:m.runTo+leadingBlanks(m.held[m.runTo:])] // then the value's own closer begins
		if layout := m.layoutAfter(); layout != "" && bytes.HasSuffix(data, []byte(layout)) {
			data = data[:len(data)-len(layout)]
		}
		m.valueText(data, memoryReused)
		m.valueBehind(AsMarkup)
		m.take(m.held[len(data):], AsMarkup, -1)
		m.open, m.from = false, i
	}
	m.endValue()
}

func (m *Machine) layoutAfter() string {
	if v := m.node.Fail; v != nil && v.Value != nil {
		return v.Value.LayoutAfter
	}
	return ""
}

// leaveValue goes on behind a parameter that has ended.
func (m *Machine) leaveValue(e *program.Edge) {
	el := m.elements[len(m.elements)-1]
	m.elements = m.elements[:len(m.elements)-1]
	if e.Do&program.KeyDone != 0 { // the next parameter's header ended it
		m.nestedBack = el.back
		m.keyDone(e)
		return
	}
	if el.back != nil {
		m.enter(el.back)
		return
	}
	m.enter(e.To)
}

// endValue ends the open value and gives out what has been held of it.
func (m *Machine) endValue() {
	v := &m.value
	m.valueBehind(AsMarkup)
	if len(v.entity) > 0 {
		rest := v.entity
		v.entity = v.entity[:0]
		m.plainValueText(rest, memoryReused)
	}
	el := &m.elements[len(m.elements)-1]
	switch {
	case v.streams:
		m.openQuote()
		m.arguments(quote, memoryStatic)
	case v.unwraps:
		m.call.unwrap = append(m.call.unwrap[:0], v.text...)
		m.call.unwraps = true
	case el.collects:
		c := &m.collectors[len(m.elements)-1]
		c.items = append(c.items, slices.Clone(v.text))
	default:
		m.scratch = m.appendValue(m.scratch[:0], v.text, v.schema)
		m.arguments(m.scratch, memoryReused)
	}
}

// markerInCall follows a marker found between parameters.
func (m *Machine) markerInCall(n *program.Node, e *program.Edge) {
	m.forgetParameter()
	e = m.choose(e)
	do := e.Do
	m.nestedBack = e.Return
	switch {
	case do&program.EndCall != 0:
		if do&program.Again == 0 {
			m.take(e.Bytes, AsMarkup, -1)
		}
		m.closeCall()
		m.enter(e.To)
		if do&program.Again != 0 {
			m.again(e.Symbols)
		}
	case do&program.KeyDone != 0:
		m.take(e.Bytes, AsMarkup, -1)
		m.keyDone(e)
	case e.To.Kind == program.Text:
		m.take(e.Bytes, AsMarkup, -1)
		m.enter(e.To)
	default:
		m.startCandidate(nil)
		m.held = append(m.held, e.Bytes...)
		m.enterHeld(e.To)
	}
}

// forgetParameter forgets the captures of an earlier parameter.
func (m *Machine) forgetParameter() {
	for number, name := range m.program.Captures {
		if name != "name" && name != "id" {
			m.captured[number] = false
		}
	}
}

func (m *Machine) valueToken(n *program.Node, s match.Symbol, text []byte) bool {
	if m.value.starting(n) {
		if m.valueStartSymbol(n, s) {
			m.from = len(text)
			return true
		}
		return false
	}
	t := n.Table
	before := m.place
	owed := t.Held(before, 0)
	place, found, back, taken := t.Step(before, s)
	chunk, end := text, len(text)
	if !taken { // the token is read again where the marker leads
		chunk, end = nil, 0
	}
	if found == match.None {
		m.place = place
		m.releaseValue(owed, chunk, t.Hold(place, 0))
		m.from = len(text)
		return true
	}
	path := t.Path(place)
	rest := path[len(path)-back:]
	e := &n.Edges[found]
	m.releaseValue(owed, chunk, len(e.Bytes)+m.width(rest))
	m.place = 0
	m.valueMarker(n, e)
	m.from = end
	m.again(rest)
	m.from = end
	return taken
}
