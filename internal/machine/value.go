package machine

import (
	"bytes"
	"slices"

	"github.com/parlance-llm/parlance/internal/codec"
	"github.com/parlance-llm/parlance/internal/match"
	"github.com/parlance-llm/parlance/internal/program"
	"github.com/parlance-llm/parlance/internal/schema"
)

// element is a parameter that is open: the outermost one, and those nested in it.
type element struct {
	key      []byte
	schema   *schema.Schema
	back     *program.Node // where a nested one leads back to
	nested   bool          // it holds parameters
	array    bool          // they are the elements of a list
	children int
	collects bool // its value is kept with its neighbours of the same name
}

// collector keeps the values of parameters of the same name side by side, whose schema wants a list: together they are
// one list (ruling 30). Every depth of nesting has its own.
type collector struct {
	active bool
	key    []byte
	schema *schema.Schema
	items  [][]byte
}

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
	text    []byte // a value that must be read whole
	entity  []byte // the beginning of an entity
}

func (v *value) starting(n *program.Node) bool { return !v.begun && n.Value.Start != nil }

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
	*v = value{blanks: v.blanks[:0], text: v.text[:0], entity: v.entity[:0], schema: el.schema, kind: spec.Kind, nested: spec.Nested}
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

// collect keeps the value that begins with its neighbours of the same name.
func (m *Machine) collect(depth int, el *element) {
	for len(m.collectors) <= depth {
		m.collectors = append(m.collectors, collector{})
	}
	el.collects = true
	if c := &m.collectors[depth]; !c.active || !bytes.Equal(c.key, el.key) {
		m.settleCollected(depth)
		*c = collector{active: true, key: append(c.key[:0], el.key...), schema: el.schema, items: c.items[:0]}
	}
}

// settleCollected gives out the values kept at a depth: one as it is, several as a list.
func (m *Machine) settleCollected(depth int) {
	if depth >= len(m.collectors) || !m.collectors[depth].active {
		return
	}
	c := &m.collectors[depth]
	c.active = false
	if len(c.items) == 0 {
		return
	}
	m.beginMember(depth, c.key, depth > 0 && m.elements[depth-1].array)
	out := m.scratch[:0]
	if len(c.items) == 1 {
		out = m.appendValue(out, c.items[0], c.schema)
	} else {
		for k, item := range c.items {
			separator := ", "
			if k == 0 {
				separator = "["
			}
			out = m.appendValue(append(out, separator...), item, c.schema.Item(k))
		}
		out = append(out, ']')
	}
	m.scratch = out
	m.arguments(out, memoryReused)
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

// mayUnwrap tells whether a parameter may hold the whole argument object (ruling 30).
func (m *Machine) mayUnwrap(key string) bool {
	d := m.program.Options.Tool
	return d != nil && slices.Contains(d.Unwrap, key)
}

var anObject = func() *schema.Schema {
	s, err := schema.Parse([]byte(`{"type": "object"}`))
	if err != nil {
		panic(err)
	}
	return s
}()

// settleUnwrap settles a parameter that might have been all the arguments: another one follows.
func (m *Machine) settleUnwrap() {
	c := &m.call
	if !c.unwraps {
		return
	}
	c.unwraps = false
	m.beginMember(0, []byte(c.unwrapKey), false)
	m.scratch = schema.AppendValue(m.scratch[:0], c.unwrap, nil, silent(m.value.kind))
	m.arguments(m.scratch, memoryReused)
}

// unwrapLone makes the arguments of a parameter that stands alone and holds an object.
func (m *Machine) unwrapLone() {
	c := &m.call
	if !c.unwraps {
		return
	}
	object := schema.AppendValue(m.scratch[:0], c.unwrap, anObject, schema.SilentJSON)
	m.scratch = object
	if len(object) == 0 || object[0] != '{' {
		m.settleUnwrap()
		return
	}
	c.unwraps, c.whole, c.first = false, true, false
	m.arguments(object, memoryReused)
}

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

// valueStart reads what may stand at the very beginning of a value instead of its text.
func (m *Machine) valueStart(n *program.Node, piece []byte, i int) int {
	for i < len(piece) && m.node == n && !m.value.begun {
		c := piece[i]
		if m.place == 0 && n.Value.StartBlank && isBlank(c) && !n.Value.Start.Knows(match.Symbol(c)) {
			if m.value.blanks = append(m.value.blanks, c); len(m.value.blanks) > blankLimit {
				m.beginText(nil)
			}
			i++
			continue
		}
		if m.valueStartSymbol(n, match.Symbol(c)) {
			i++
		}
		m.from = i
	}
	return i
}

// valueStartSymbol offers a symbol to the beginning of a value; see headSymbol.
func (m *Machine) valueStartSymbol(n *program.Node, s match.Symbol) bool {
	before := m.place
	place, found, back, taken := n.Value.Start.Step(before, s)
	switch {
	case found != match.None:
		path := n.Value.Start.Path(place)
		rest := path[len(path)-back:]
		m.place = 0
		m.startMarker(n, &n.Value.StartEdges[found])
		m.again(rest)
		return taken
	case place == match.Dead:
		m.beginText(n.Value.Start.Path(before))
		return false
	}
	m.place = place
	return true
}

// beginText: the value is text from its beginning; rest has been read of it.
func (m *Machine) beginText(rest []match.Symbol) {
	v := &m.value
	v.begun = true
	m.place = 0
	blanks := m.copy(v.blanks)
	v.blanks = v.blanks[:0]
	m.reread(blanks)
	m.again(rest)
}

func (m *Machine) startMarker(n *program.Node, e *program.Edge) {
	v := &m.value
	if e.Do&program.Stay != 0 { // layout, or another way of writing the value
		m.take(v.blanks, AsMarkup, -1)
		v.blanks = v.blanks[:0]
		m.take(e.Bytes, AsMarkup, -1)
		v.begun = true
		if e.To != n {
			m.enter(e.To)
			v.kind = e.To.Value.Kind
			v.begun = e.To.Value.Start == nil
		}
		return
	}
	if e.Do&program.EndValue == 0 && e.To.Phase == program.InCall { // a parameter inside
		m.take(v.blanks, AsMarkup, -1)
		v.blanks = v.blanks[:0]
		m.openElement()
		m.markerInCall(n, e)
		return
	}
	blanks := m.copy(v.blanks)
	v.blanks = v.blanks[:0]
	v.begun = true
	m.valueText(blanks, memoryChunk)
	m.valueMarker(n, e)
}

// openElement: the parameter whose value was expected holds parameters.
func (m *Machine) openElement() {
	depth := len(m.elements) - 1
	el := &m.elements[depth]
	el.nested = true
	kinds := el.schema.Kinds()
	el.array = kinds.Has(schema.Array) && !kinds.Has(schema.Object)
	if el.collects { // it was taken for an element of a list
		m.settleCollected(depth)
		el.collects = false
		m.beginMember(depth, el.key, depth > 0 && m.elements[depth-1].array)
	}
	if el.array {
		m.arguments([]byte("["), memoryStatic)
	} else {
		m.arguments([]byte("{"), memoryStatic)
	}
}

// valueText adds text to the open value.
func (m *Machine) valueText(text []byte, kind memory) {
	if len(text) == 0 {
		return
	}
	m.take(text, AsArguments, m.calls-1)
	v := &m.value
	if v.kind == program.ValueXML {
		text, kind = m.entities(text), memoryReused
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

// entities decodes the entities of XML in text that arrives in pieces.
func (m *Machine) entities(text []byte) []byte {
	v := &m.value
	text = append(v.entity, text...)
	out := make([]byte, 0, len(text))
	for i := 0; i < len(text); i++ {
		if text[i] != '&' {
			out = append(out, text[i])
			continue
		}
		if c, n := entity(text[i:]); n > 0 {
			out = append(out, c)
			i += n - 1
			continue
		}
		if beginsEntity(text[i:]) {
			v.entity = append([]byte(nil), text[i:]...)
			return out
		}
		out = append(out, '&')
	}
	v.entity = v.entity[:0]
	return out
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
		m.take(e.Bytes, AsMarkup, -1)
		m.endValue()
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
	if len(v.entity) > 0 {
		rest := v.entity
		v.entity = nil
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

// closeElement closes a parameter that holds parameters.
func (m *Machine) closeElement(e *program.Edge) {
	back := m.elements[len(m.elements)-1].back
	m.closeElements(len(m.elements) - 1)
	if back != nil {
		m.enter(back)
		return
	}
	m.enter(e.To)
}

// closeElements closes the open parameters down to a depth.
func (m *Machine) closeElements(depth int) {
	for len(m.elements) > depth {
		el := &m.elements[len(m.elements)-1]
		if el.nested {
			m.settleCollected(len(m.elements))
			if el.array {
				m.arguments([]byte("]"), memoryStatic)
			} else {
				m.arguments([]byte("}"), memoryStatic)
			}
		}
		m.elements = m.elements[:len(m.elements)-1]
	}
	if depth == 0 {
		m.settleCollected(0)
	}
}

// closesElement tells whether a closer's key is that of an open parameter; parameters inside it end with it.
func (m *Machine) closesElement(key []byte) bool {
	key = bytes.TrimSpace(key)
	for depth := len(m.elements) - 1; depth >= 0; depth-- {
		if !bytes.Equal(m.elements[depth].key, key) {
			continue
		}
		if depth < len(m.elements)-1 && m.node.Phase != program.InValue {
			m.closeElements(depth + 1)
		}
		return depth == len(m.elements)-1 || m.node.Phase != program.InValue
	}
	return false
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
	chunk := text
	if !taken {
		chunk = nil
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
	m.from = len(text)
	m.again(rest)
	m.from = len(text)
	return taken
}
