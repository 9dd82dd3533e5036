package responsetemplate

import (
	"bytes"
	"encoding/json/jsontext"
	"math/big"
	"regexp"
	"strings"

	"github.com/parlance-llm/parlance/internal/codec"
	"github.com/parlance-llm/parlance/internal/grammar"
)

// parsed is what a content parser makes of a text: JSON, a text, or an object made of texts.
type parsed struct {
	json    jsontext.Value
	text    string
	isText  bool
	object  bool
	members []member
	places  map[string]int // of the members by their keys
}

// member is a member of an object that is made here; several values are a list.
type member struct {
	key    string
	values []parsed
	list   bool
}

func (p parsed) isObject() bool { return p.object }

// member descends into a value.
func (p parsed) member(key string) (parsed, bool) {
	if p.object {
		for _, m := range p.members {
			if m.key == key && !m.list {
				return m.values[0], true
			}
		}
		return parsed{}, false
	}
	var inner members
	if p.json.Kind() != '{' || decode(p.json, &inner) != nil || inner[key] == nil {
		return parsed{}, false
	}
	return parsed{json: inner[key]}, true
}

// JSON writes a value as JSON, texts as strings.
func (p parsed) JSON() jsontext.Value {
	switch {
	case p.isText:
		return codec.AppendQuoted(nil, []byte(p.text))
	case !p.object:
		return p.json
	}
	out := []byte{'{'}
	for i, m := range p.members {
		if i > 0 {
			out = append(out, ", "...)
		}
		out = append(codec.AppendQuoted(out, []byte(m.key)), ": "...)
		if m.list {
			out = append(out, '[')
		}
		for k, value := range m.values {
			if k > 0 {
				out = append(out, ", "...)
			}
			out = append(out, value.JSON()...)
		}
		if m.list {
			out = append(out, ']')
		}
	}
	return append(out, '}')
}

// whole gives a member as an argument: texts become values by the schema.
func (m member) whole() grammar.WholeMember {
	out := grammar.WholeMember{Key: m.key, List: m.list}
	if !m.list && !m.values[0].isText {
		out.JSON = m.values[0].JSON()
		return out
	}
	texts := true
	for _, value := range m.values {
		texts = texts && value.isText
	}
	for _, value := range m.values {
		if texts {
			out.Texts = append(out.Texts, value.text)
		} else {
			out.Values = append(out.Values, value.JSON())
		}
	}
	return out
}

// ordered gives the members of an object in their order.
func ordered(object jsontext.Value) (keys []string, values []jsontext.Value) {
	d := jsontext.NewDecoder(bytes.NewReader(object), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	if _, err := d.ReadToken(); err != nil {
		return nil, nil
	}
	for d.PeekKind() == '"' {
		key, err := d.ReadToken()
		if err != nil {
			return keys, values
		}
		name := key.String()
		value, err := d.ReadValue()
		if err != nil {
			return keys, values
		}
		keys, values = append(keys, name), append(values, value.Clone())
	}
	return keys, values
}

// value reads the text of a region by the field's content parser.
func (w *whole) value(body string) (parsed, bool) {
	switch a := &w.field.arguments; w.field.parser {
	case "xml-inline":
		return w.tags(body)
	case "kv-lines":
		out := parsed{object: true}
		for line := range strings.SplitSeq(body, a.lineSeparator) {
			if a.strip {
				line = strings.TrimSpace(line)
			}
			key, value, ok := strings.Cut(line, a.keySeparator)
			if !ok {
				continue
			}
			if a.strip {
				key, value = strings.TrimSpace(key), strings.TrimSpace(value)
			}
			read, ok := a.value.read(value)
			if !ok {
				return parsed{}, false
			}
			out.set(key, read, false)
		}
		return out, true
	default:
		return parse(w.field.parser, a, body)
	}
}

func (w *whole) tags(body string) (parsed, bool) {
	out := parsed{object: true}
	key, value := w.tag.SubexpIndex("key"), w.tag.SubexpIndex("value")
	for _, found := range w.tag.FindAllStringSubmatch(body, -1) {
		text := ""
		if value >= 0 {
			text = found[value]
		}
		read, ok := w.field.arguments.value.read(text)
		if !ok {
			return parsed{}, false
		}
		out.set(found[key], read, w.field.arguments.mergeDuplicates)
	}
	return out, true
}

// set adds a member; of repeated keys the last value counts, or all of them in a list.
func (p *parsed) set(key string, value parsed, merge bool) {
	place, repeated := p.places[key]
	switch {
	case !repeated:
		if p.places == nil {
			p.places = map[string]int{}
		}
		p.places[key] = len(p.members)
		p.members = append(p.members, member{key: key, values: []parsed{value}})
	case merge:
		m := &p.members[place]
		m.values, m.list = append(m.values, value), true
	default:
		p.members[place].values = []parsed{value}
	}
}

// read makes a value of the text of a parameter; without a parser it stays a text.
func (v *valueParser) read(body string) (parsed, bool) {
	if v == nil {
		return parsed{text: body, isText: true}, true
	}
	w := whole{field: &field{parser: v.name, arguments: v.arguments}}
	if v.name == "xml-inline" {
		if v.arguments.tag == nil {
			return parsed{}, false
		}
		tag, err := v.arguments.tag.Regexp()
		if err != nil || tag.SubexpIndex("key") < 0 {
			return parsed{}, false
		}
		w.tag = tag
	}
	return w.value(body)
}

// parse reads a text by a content parser that makes one value of it.
func parse(parser string, a *arguments, body string) (parsed, bool) {
	trimmed := body
	if a.strip {
		trimmed = strings.TrimSpace(body)
	}
	switch parser {
	case "text":
		return parsed{text: trimmed, isText: true}, true
	case "bool":
		switch strings.ToLower(trimmed) {
		case "true", "1":
			return parsed{json: jsontext.Value("true")}, true
		}
		return parsed{json: jsontext.Value("false")}, true
	case "int":
		if n, ok := new(big.Int).SetString(strings.ReplaceAll(strings.TrimSpace(trimmed), "_", ""), 10); ok {
			return parsed{json: jsontext.Value(n.String())}, true
		}
		return parsed{}, false
	case "float":
		number := strings.TrimPrefix(strings.ReplaceAll(strings.TrimSpace(trimmed), "_", ""), "+")
		switch value := jsontext.Value(number); {
		case value.IsValid() && value.Kind() == '0':
			return parsed{json: value}, true
		case floating.MatchString(number): // Python knows numbers that JSON does not: 1. and .5
			whole, rest, _ := strings.Cut(number, ".")
			fraction := strings.TrimLeft(rest, "0123456789")
			digits := strings.TrimSuffix(rest, fraction)
			sign := ""
			if strings.HasPrefix(whole, "-") {
				sign, whole = "-", whole[1:]
			}
			whole = strings.TrimLeft(whole, "0")
			if whole == "" {
				whole = "0"
			}
			if digits == "" {
				digits = "0"
			}
			return parsed{json: jsontext.Value(sign + whole + "." + digits + fraction)}, true
		}
		return parsed{}, false
	}
	value, ok := a.json(body)
	switch {
	case ok:
		return parsed{json: value}, true
	case a.allowNonJSON:
		return parsed{text: trimmed, isText: true}, true
	}
	return parsed{}, false
}

var floating = regexp.MustCompile(`^-?(?:[0-9]+\.[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?$`)

// json reads JSON in the dialect of the arguments; numbers and strings stay as they are written.
func (a *arguments) json(body string) (jsontext.Value, bool) {
	body = a.plainJSON(strings.TrimSpace(body))
	value := jsontext.Value(body)
	return value, value.IsValid(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
}

// plainJSON writes JSON with delimited strings and bare keys as JSON; raw control characters in strings are escaped.
func (a *arguments) plainJSON(body string) string {
	var out []byte
	// Behind the last closer of a delimiter its opener opens nothing; it is looked for once.
	left := make([]int, len(a.stringDelimiters))
	for k, pair := range a.stringDelimiters {
		left[k] = len(body) - strings.LastIndex(body, pair[1])
	}
	for len(body) > 0 {
		if n := a.delimited(&out, body, left); n > 0 {
			body = body[n:]
			continue
		}
		if body[0] == '"' {
			n := quoted(body)
			for _, c := range []byte(body[:n]) {
				if c < ' ' { // escaped, not malformed (ruling 26)
					out = codec.AppendEscaped(out, c)
					continue
				}
				out = append(out, c)
			}
			body = body[n:]
			continue
		}
		if a.unquotedKeys && (body[0] == '{' || body[0] == ',') {
			if key := bareKey.FindStringSubmatch(body[1:]); key != nil {
				out = append(append(out, body[0]), key[1]...)
				out = codec.AppendQuoted(out, []byte(key[2]))
				body = body[1+len(key[1])+len(key[2]):]
				continue
			}
		}
		out = append(out, body[0])
		body = body[1:]
	}
	return string(out)
}

var bareKey = regexp.MustCompile(`^(\s*)([\pL\pM\pN_]+)\s*:`)

// delimited writes a delimited string that stands at the beginning of a text as one of JSON; it answers its length. left
// says, for each pair of delimiters, how much of the text is left where its last closer begins; more than there is of the
// text if there is none.
func (a *arguments) delimited(out *[]byte, body string, left []int) int {
	for k, pair := range a.stringDelimiters {
		rest, ok := strings.CutPrefix(body, pair[0])
		if !ok || len(rest) < left[k] {
			continue
		}
		if inside, _, closed := strings.Cut(rest, pair[1]); closed {
			*out = codec.AppendQuoted(*out, []byte(inside))
			return len(pair[0]) + len(inside) + len(pair[1])
		}
	}
	return 0
}

// quoted is the length of the JSON string at the beginning of a text.
func quoted(body string) int {
	for i := 1; i < len(body); i++ {
		switch body[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return len(body)
}
