package machine

import "bytes"

var entities = []struct {
	name string
	char byte
}{{"&lt;", '<'}, {"&gt;", '>'}, {"&amp;", '&'}, {"&quot;", '"'}, {"&apos;", '\''}}

// entity gives the character of the entity at the beginning of text and its length, or 0.
func entity(text []byte) (byte, int) {
	for _, e := range entities {
		if len(text) >= len(e.name) && string(text[:len(e.name)]) == e.name {
			return e.char, len(e.name)
		}
	}
	return 0, 0
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

// unescape undoes the entities of attributes.
func unescape(text []byte) []byte {
	if bytes.IndexByte(text, '&') < 0 {
		return text
	}
	var out []byte
	for len(text) > 0 {
		if r, n := entity(text); n > 0 {
			out = append(out, r)
			text = text[n:]
			continue
		}
		out = append(out, text[0])
		text = text[1:]
	}
	return out
}
