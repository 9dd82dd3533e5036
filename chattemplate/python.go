package chattemplate

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode"

	"github.com/ardanlabs/jinja"
)

// anyTuple is a tuple; the library makes tuples only from its own syntax.
var anyTuple = func() (captured jinja.Value) {
	template, err := jinja.Compile("{{ capture(()) }}")
	if err == nil {
		_, err = template.RenderValues(map[string]jinja.Value{"capture": jinja.NewCallable("capture", func(values []jinja.Value, _ map[string]jinja.Value) (jinja.Value, error) {
			captured = values[0]
			return captured, nil
		})})
	}
	if err != nil {
		panic(err) // the library cannot do without tuples
	}
	return captured
}()

func tuple(items []jinja.Value) jinja.Value {
	v := jinja.NewList(nil)
	*v.AsList() = *anyTuple.AsList()
	v.AsList().Items = items
	return v
}

func isTuple(v jinja.Value) bool {
	if !v.IsList() {
		return false
	}
	empty := jinja.NewList(nil)
	*empty.AsList() = *v.AsList()
	empty.AsList().Items = nil
	return empty.Equals(anyTuple)
}

// bigPrefix begins the name of a value that stands for an integer beyond 64 bits, which the library does not have.
const bigPrefix = "integer "

// bigValue gives a value that prints as an integer and can do nothing else.
func bigValue(digits string) jinja.Value {
	return jinja.NewCallable(bigPrefix+digits, func([]jinja.Value, map[string]jinja.Value) (jinja.Value, error) {
		return jinja.Undefined(), refuse("an integer cannot be called")
	})
}

func bigInteger(_ *rendering, a arguments) (jinja.Value, error) {
	return bigValue(a.first().AsString()), nil
}

// bigDigits gives the digits of an integer beyond 64 bits.
func bigDigits(v jinja.Value) (string, bool) {
	if !v.IsCallable() {
		return "", false
	}
	return strings.CutPrefix(v.AsCallable().Name, bigPrefix)
}

// typeName is the name of a value's type in Python, as far as it matters for methods.
func typeName(v jinja.Value) string {
	switch {
	case v.IsString():
		return "str"
	case v.IsDict():
		return "dict"
	case v.IsList():
		return "list"
	}
	return ""
}

// kind names what a value is in an error.
func kind(v jinja.Value) string {
	_, big := bigDigits(v)
	switch {
	case v.IsUndefined():
		return "an undefined value"
	case v.IsNone():
		return "null"
	case v.IsBool():
		return "a boolean"
	case v.IsInt(), big:
		return "an integer"
	case v.IsFloat():
		return "a float"
	case v.IsString():
		return "text"
	case v.IsList():
		return "a list"
	case v.IsDict():
		return "a mapping"
	}
	if isGenerator(v) {
		return "a generator"
	}
	return "a function"
}

// text is what a value prints, Python's str.
func text(v jinja.Value) string {
	switch {
	case v.IsString():
		return v.AsString()
	case v.IsUndefined():
		return ""
	}
	var out strings.Builder
	writeRepr(&out, v)
	return out.String()
}

// writeRepr writes a value as Python's repr does.
func writeRepr(out *strings.Builder, v jinja.Value) {
	if out.Len() > maxOutput { // what is longer is refused, whatever else is in it
		return
	}
	switch {
	case v.IsString():
		writeQuoted(out, v.AsString())
	case v.IsUndefined():
		out.WriteString("Undefined")
	case v.IsNone():
		out.WriteString("None")
	case v.IsBool():
		if v.AsBool() {
			out.WriteString("True")
		} else {
			out.WriteString("False")
		}
	case v.IsInt():
		out.WriteString(strconv.FormatInt(v.AsInt(), 10))
	case v.IsFloat():
		out.WriteString(floatText(v.AsFloat()))
	case v.IsList():
		brackets := "[]"
		if isTuple(v) {
			brackets = "()"
		}
		out.WriteByte(brackets[0])
		for i, x := range v.AsList().Items {
			if i > 0 {
				out.WriteString(", ")
			}
			writeRepr(out, x)
		}
		if brackets == "()" && v.AsList().Len() == 1 {
			out.WriteByte(',')
		}
		out.WriteByte(brackets[1])
	case v.IsDict():
		out.WriteByte('{')
		for i, key := range v.AsDict().Keys {
			if i > 0 {
				out.WriteString(", ")
			}
			writeRepr(out, keyValue(key))
			out.WriteString(": ")
			writeRepr(out, v.AsDict().Data[key])
		}
		out.WriteByte('}')
	default:
		if digits, ok := bigDigits(v); ok {
			out.WriteString(digits)
		} else {
			out.WriteString("<function " + v.AsCallable().Name + ">")
		}
	}
}

// writeQuoted writes text as Python's repr does.
func writeQuoted(out *strings.Builder, s string) {
	quote := '\''
	if strings.Contains(s, "'") && !strings.Contains(s, `"`) {
		quote = '"'
	}
	out.WriteRune(quote)
	for _, r := range s {
		switch {
		case r == quote || r == '\\':
			out.WriteByte('\\')
			out.WriteRune(r)
		case r == '\n':
			out.WriteString(`\n`)
		case r == '\r':
			out.WriteString(`\r`)
		case r == '\t':
			out.WriteString(`\t`)
		case r >= ' ' && r < 0x7f:
			out.WriteRune(r)
		case r >= 0xa1 && r != 0xad && unicode.IsPrint(r):
			out.WriteRune(r)
		case r <= 0xff:
			fmt.Fprintf(out, `\x%02x`, r)
		case r <= 0xffff:
			fmt.Fprintf(out, `\u%04x`, r)
		default:
			fmt.Fprintf(out, `\U%08x`, r)
		}
	}
	out.WriteRune(quote)
}

// floatText writes a float as Python's repr does: the shortest digits that read back, with an exponent below 1e-4 and
// from 1e16.
func floatText(f float64) string {
	switch {
	case math.IsInf(f, 1):
		return "inf"
	case math.IsInf(f, -1):
		return "-inf"
	case math.IsNaN(f):
		return "nan"
	}
	if size := math.Abs(f); size != 0 && (size < 1e-4 || size >= 1e16) {
		return strconv.FormatFloat(f, 'e', -1, 64)
	}
	s := strconv.FormatFloat(f, 'f', -1, 64)
	if !strings.Contains(s, ".") {
		s += ".0"
	}
	return s
}
