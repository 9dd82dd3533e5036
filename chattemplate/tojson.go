package chattemplate

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/ardanlabs/jinja"
)

// jsonWriter writes values as Python's json.dumps does: with blanks behind commas and colons, and what is not ASCII as
// it is, since transformers asks for that.
type jsonWriter struct {
	out      strings.Builder
	between  string // items
	behind   string // a key
	indent   string
	indented bool
	sorted   bool
	ascii    bool
	// lenient writes a generator as the list of its items, and what JSON does not have as null.
	lenient bool
}

// toJSON is the filter tojson of transformers.
func toJSON(r *rendering, a arguments) (jinja.Value, error) {
	w := jsonWriter{between: ", ", behind: ": ", lenient: r.lenient}
	w.ascii = a.get(1, "ensure_ascii").IsTruthy()
	switch indent := a.get(2, "indent"); {
	case isInteger(indent):
		w.indented, w.indent, w.between = true, strings.Repeat(" ", int(min(max(integer(indent), 0), 64))), ","
	case indent.IsString():
		w.indented, w.indent, w.between = true, indent.AsString(), ","
	}
	if separators := a.get(3, "separators"); separators.IsList() && separators.AsList().Len() == 2 {
		w.between, w.behind = text(separators.AsList().Get(0)), text(separators.AsList().Get(1))
	}
	w.sorted = a.get(4, "sort_keys").IsTruthy()
	if err := w.value(a.first(), 0); err != nil {
		return jinja.Undefined(), err
	}
	return r.text(w.out.String())
}

func (w *jsonWriter) line(depth int) {
	if w.indented {
		w.out.WriteByte('\n')
		for range depth {
			w.out.WriteString(w.indent)
		}
	}
}

func (w *jsonWriter) value(v jinja.Value, depth int) error {
	switch {
	case v.IsString():
		w.string(v.AsString())
	case v.IsNone():
		w.out.WriteString("null")
	case v.IsBool():
		w.out.WriteString(strconv.FormatBool(v.AsBool()))
	case v.IsInt():
		w.out.WriteString(strconv.FormatInt(v.AsInt(), 10))
	case v.IsFloat():
		w.out.WriteString(jsonFloat(v.AsFloat()))
	case v.IsList():
		return w.list(v.AsList().Items, depth)
	case v.IsDict():
		return w.dict(v.AsDict(), depth)
	default:
		digits, ok := bigDigits(v)
		switch {
		case ok:
			w.out.WriteString(digits)
		case !w.lenient:
			return refuse("cannot write %s as JSON", kind(v))
		case isGenerator(v):
			return w.list(items(v), depth)
		default:
			w.out.WriteString("null")
		}
	}
	return nil
}

func jsonFloat(f float64) string {
	switch {
	case math.IsNaN(f):
		return "NaN"
	case math.IsInf(f, 1):
		return "Infinity"
	case math.IsInf(f, -1):
		return "-Infinity"
	}
	return floatText(f)
}

func (w *jsonWriter) list(items []jinja.Value, depth int) error {
	w.out.WriteByte('[')
	for i, item := range items {
		if i > 0 {
			w.out.WriteString(w.between)
		}
		w.line(depth + 1)
		if err := w.value(item, depth+1); err != nil {
			return err
		}
	}
	if len(items) > 0 {
		w.line(depth)
	}
	w.out.WriteByte(']')
	return nil
}

func (w *jsonWriter) dict(d *jinja.Dict, depth int) error {
	keys := d.Keys
	if w.sorted {
		keys = slices.Sorted(slices.Values(keys))
	}
	w.out.WriteByte('{')
	for i, key := range keys {
		if i > 0 {
			w.out.WriteString(w.between)
		}
		w.line(depth + 1)
		w.string(keyText(key))
		w.out.WriteString(w.behind)
		if err := w.value(d.Data[key], depth+1); err != nil {
			return err
		}
	}
	if len(keys) > 0 {
		w.line(depth)
	}
	w.out.WriteByte('}')
	return nil
}

const hexDigits = "0123456789abcdef"

// string writes text. Only quotes, backslashes and control characters are escaped, and what is not ASCII if asked for.
func (w *jsonWriter) string(s string) {
	w.out.WriteByte('"')
	from := 0
	for i := 0; i < len(s); {
		c := s[i]
		if c >= ' ' && c != '"' && c != '\\' && (!w.ascii || c < 0x7f) {
			i++
			continue
		}
		w.out.WriteString(s[from:i])
		size := 1
		switch c {
		case '"', '\\':
			w.out.Write([]byte{'\\', c})
		case '\n':
			w.out.WriteString(`\n`)
		case '\r':
			w.out.WriteString(`\r`)
		case '\t':
			w.out.WriteString(`\t`)
		case '\b':
			w.out.WriteString(`\b`)
		case '\f':
			w.out.WriteString(`\f`)
		default:
			var r rune
			if r, size = utf8.DecodeRuneInString(s[i:]); r > 0xffff {
				r -= 0x10000
				w.escape(0xd800 + r>>10)
				r = 0xdc00 + r&0x3ff
			}
			w.escape(r)
		}
		i += size
		from = i
	}
	w.out.WriteString(s[from:])
	w.out.WriteByte('"')
}

func (w *jsonWriter) escape(r rune) {
	w.out.Write([]byte{'\\', 'u', hexDigits[r>>12&15], hexDigits[r>>8&15], hexDigits[r>>4&15], hexDigits[r&15]})
}
