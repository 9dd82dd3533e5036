package chattemplate

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/ardanlabs/jinja"
)

// percentFormat formats as Python's % does. mapping is what %(name)s looks in.
func percentFormat(r *rendering, format string, values []jinja.Value, mapping jinja.Value) (jinja.Value, error) {
	var out strings.Builder
	used := 0
	take := func() (v jinja.Value, err error) {
		if used >= len(values) {
			return v, refuse("there are fewer values than the format %q asks for", format)
		}
		used++
		return values[used-1], nil
	}
	named := false
	for i := 0; i < len(format); i++ {
		if format[i] != '%' {
			out.WriteByte(format[i])
			continue
		}
		var value jinja.Value
		have := false
		i++
		if i < len(format) && format[i] == '(' {
			end := strings.IndexByte(format[i:], ')')
			if end < 0 || !mapping.IsDict() {
				return jinja.Undefined(), refuse("the format %q needs a mapping", format)
			}
			found, ok := mapping.AsDict().Get(format[i+1 : i+end])
			if !ok {
				return jinja.Undefined(), refuse("there is no value %q for the format", format[i+1:i+end])
			}
			value, have, named = found, true, true
			i += end + 1
		}
		from := i
		for i < len(format) && strings.IndexByte("#0- +.123456789", format[i]) >= 0 {
			i++
		}
		if i >= len(format) {
			return jinja.Undefined(), refuse("the format %q is incomplete", format)
		}
		if format[i] == '%' {
			out.WriteByte('%')
			continue
		}
		if !have {
			var err error
			if value, err = take(); err != nil {
				return jinja.Undefined(), err
			}
		}
		written, err := conversion(format[from:i], format[i], value)
		if err != nil {
			return jinja.Undefined(), err
		}
		out.WriteString(written)
	}
	if !named && used < len(values) && !(mapping.IsDict() || mapping.IsList() && !isTuple(mapping)) {
		return jinja.Undefined(), refuse("there are more values than the format %q asks for", format)
	}
	return r.text(out.String())
}

// conversion formats one value.
func conversion(flags string, letter byte, v jinja.Value) (string, error) {
	if width, _ := strconv.Atoi(strings.TrimLeft(strings.Split(flags, ".")[0], "#0- +")); width > 4096 {
		return "", refuse("a format asks for a width of %d", width)
	}
	switch letter {
	case 's':
		return fmt.Sprintf("%"+strings.TrimLeft(flags, "0")+"s", text(v)), nil
	case 'r':
		var out strings.Builder
		writeRepr(&out, v)
		return fmt.Sprintf("%"+flags+"s", out.String()), nil
	case 'd', 'i', 'u':
		if digits, ok := bigDigits(v); ok {
			return digits, nil
		}
		if isNumber(v) {
			n := integer(v)
			if v.IsFloat() {
				n = int64(v.AsFloat())
			}
			return fmt.Sprintf("%"+flags+"d", n), nil
		}
	case 'x', 'X', 'o':
		if isInteger(v) {
			return fmt.Sprintf("%"+flags+string(letter), integer(v)), nil
		}
	case 'e', 'E', 'f', 'F', 'g', 'G':
		if isNumber(v) {
			return fmt.Sprintf("%"+flags+string(letter), float(v)), nil
		}
	case 'c':
		if v.IsString() {
			return v.AsString(), nil
		}
		if v.IsInt() {
			return string(rune(v.AsInt())), nil
		}
	default:
		return "", refuse("there is no conversion %%%c", letter)
	}
	return "", refuse("%%%c needs a number, found %s", letter, kind(v))
}

// braceFormat formats as Python's str.format does, without format specifications.
func braceFormat(r *rendering, format string, a arguments) (jinja.Value, error) {
	var out strings.Builder
	next := 0
	for i := 0; i < len(format); i++ {
		c := format[i]
		if (c == '{' || c == '}') && i+1 < len(format) && format[i+1] == c {
			out.WriteByte(c)
			i++
			continue
		}
		if c != '{' {
			out.WriteByte(c)
			continue
		}
		end := strings.IndexByte(format[i:], '}')
		if end < 0 {
			return jinja.Undefined(), refuse("the format %q is incomplete", format)
		}
		field := format[i+1 : i+end]
		i += end
		var value jinja.Value
		if n, err := strconv.Atoi(field); err == nil {
			value = a.get(n, "")
		} else if field == "" {
			value = a.get(next, "")
			next++
		} else {
			value = a.named[field]
		}
		if value.IsUndefined() {
			return jinja.Undefined(), refuse("there is no value for the field {%s}, or it is not supported", field)
		}
		out.WriteString(text(value))
	}
	return r.text(out.String())
}
