package chattemplate

import (
	"math"
	"net/url"
	"strconv"
	"strings"
	"unicode"

	"github.com/ardanlabs/jinja"
)

// textFilters are the filters that make text or numbers.
func textFilters() map[string]function {
	escape := ofText(strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&#34;", "'", "&#39;").Replace)
	return map[string]function{
		"string": ofText(func(s string) string { return s }),
		"lower":  ofText(strings.ToLower), "upper": ofText(upper),
		"capitalize": ofText(capitalize), "title": ofText(titleFilter),
		"escape": escape, "e": escape, "forceescape": escape,
		"urlencode": urlencodeFilter,
		"safe":      ofText(func(s string) string { return s }),
		"trim":      trimFilter,
		"replace":   replaceFilter,
		"indent":    indentFilter,
		"center":    centerFilter,
		"truncate":  truncateFilter,
		"format": func(r *rendering, a arguments) (jinja.Value, error) {
			return percentFormat(r, text(a.first()), a.rest(1).values, jinja.None())
		},
		"wordcount": func(_ *rendering, a arguments) (jinja.Value, error) {
			words := strings.FieldsFunc(text(a.first()), func(r rune) bool {
				return r != '_' && !unicode.IsLetter(r) && !unicode.IsNumber(r)
			})
			return jinja.NewInt(int64(len(words))), nil
		},
		"int": intFilter, "float": floatFilter, "round": roundFilter, "abs": absFilter,
	}
}

func quoted(s string) string {
	return strings.NewReplacer("+", "%20", "%2F", "/", "%7E", "~").Replace(url.QueryEscape(s))
}

// urlencodeFilter quotes text for an address; a mapping becomes a query.
func urlencodeFilter(r *rendering, a arguments) (jinja.Value, error) {
	switch v := a.first(); {
	case v.IsDict():
		var parts []string
		for _, key := range v.AsDict().Keys {
			parts = append(parts, quoted(text(keyValue(key)))+"="+quoted(text(v.AsDict().Data[key])))
		}
		return r.text(strings.Join(parts, "&"))
	case v.IsList() && v.AsList().Len() > 0:
		return r.refuse(v, "cannot quote a list")
	case v.IsList():
		return jinja.NewString(""), nil
	default:
		return r.text(quoted(text(v)))
	}
}

func ofText(f func(string) string) function {
	return func(r *rendering, a arguments) (jinja.Value, error) { return r.text(f(text(a.first()))) }
}

// upper makes capitals; the sharp s has two.
func upper(s string) string { return strings.ReplaceAll(strings.ToUpper(s), "ß", "SS") }

// capitalize makes the first letter a capital and all others small.
func capitalize(s string) string {
	for i, r := range s {
		return string(unicode.ToTitle(r)) + strings.ToLower(s[i+len(string(r)):])
	}
	return s
}

// titleFilter capitalises words, which begin behind white space, dashes and opening brackets.
func titleFilter(s string) string {
	var out strings.Builder
	start := true
	for _, r := range s {
		if start {
			r = unicode.ToUpper(r)
		} else {
			r = unicode.ToLower(r)
		}
		out.WriteRune(r)
		start = isSpace(r) || strings.ContainsRune("-({[<", r)
	}
	return out.String()
}

// strip drops characters at the ends of text: white space, or those of a set.
func strip(s string, characters jinja.Value, left, right bool) string {
	drop := isSpace
	if characters.IsString() {
		drop = func(r rune) bool { return strings.ContainsRune(characters.AsString(), r) }
	}
	if left {
		s = strings.TrimLeftFunc(s, drop)
	}
	if right {
		s = strings.TrimRightFunc(s, drop)
	}
	return s
}

func trimFilter(r *rendering, a arguments) (jinja.Value, error) {
	return r.text(strip(text(a.first()), a.get(1, "chars"), true, true))
}

// times reads an optional count; -1 stands for all.
func times(v jinja.Value) int {
	if isInteger(v) {
		return int(integer(v))
	}
	return -1
}

func replaceFilter(r *rendering, a arguments) (jinja.Value, error) {
	return replace(r, text(a.first()), text(a.get(1, "old")), text(a.get(2, "new")), times(a.get(3, "count")))
}

func replace(r *rendering, s, before, after string, n int) (jinja.Value, error) {
	found := strings.Count(s, before)
	if n >= 0 {
		found = min(found, n)
	}
	if err := r.make(len(s) + found*len(after)); err != nil {
		return jinja.Undefined(), err
	}
	return jinja.NewString(strings.Replace(s, before, after, n)), nil
}

// splitLines splits text where Python's str.splitlines does. The ends of lines stay if keep is set.
func splitLines(s string, keep bool) (lines []string) {
	from, skip := 0, false
	for i, r := range s {
		if skip {
			skip = false
			continue
		}
		end := i
		switch r {
		case '\n', '\v', '\f', 0x1c, 0x1d, 0x1e, 0x85, 0x2028, 0x2029:
			end += len(string(r))
		case '\r':
			end++
			if skip = strings.HasPrefix(s[end:], "\n"); skip {
				end++
			}
		default:
			continue
		}
		if keep {
			lines = append(lines, s[from:end])
		} else {
			lines = append(lines, s[from:i])
		}
		from = end
	}
	if from < len(s) {
		lines = append(lines, s[from:])
	}
	return lines
}

func indentFilter(r *rendering, a arguments) (jinja.Value, error) {
	if v := a.first(); !v.IsString() {
		return r.refuse(v, "expected text, found %s", kind(v))
	}
	width := a.or(1, "width", jinja.NewInt(4))
	pad := ""
	if width.IsString() {
		pad = width.AsString()
	} else {
		pad = strings.Repeat(" ", int(min(max(integer(width), 0), 4096)))
	}
	lines := splitLines(text(a.first())+"\n", false)
	if err := r.make(len(pad) * len(lines)); err != nil {
		return jinja.Undefined(), err
	}
	blank := a.get(3, "blank").IsTruthy()
	for i, line := range lines {
		if i == 0 && a.get(2, "first").IsTruthy() || i > 0 && (line != "" || blank) {
			lines[i] = pad + line
		}
	}
	return r.text(strings.Join(lines, "\n"))
}

func centerFilter(r *rendering, a arguments) (jinja.Value, error) {
	width := a.or(1, "width", jinja.NewInt(80))
	return padded(r, text(a.first()), width, " ", centred)
}

// centred is how much of the room goes before a text in the middle, as Python has it.
func centred(room int, s string) int { return room/2 + room&(characterCount(s)+room)&1 }

func characterCount(s string) int { return len([]rune(s)) }

// padded widens text. left tells how much of the room goes before it.
func padded(r *rendering, s string, width jinja.Value, fill string, left func(room int, s string) int) (jinja.Value, error) {
	room := int(integer(width)) - characterCount(s)
	if room <= 0 || len([]rune(fill)) != 1 {
		return r.text(s)
	}
	if err := r.make(room * len(fill)); err != nil {
		return jinja.Undefined(), err
	}
	before := left(room, s)
	return r.text(strings.Repeat(fill, before) + s + strings.Repeat(fill, room-before))
}

func truncateFilter(r *rendering, a arguments) (jinja.Value, error) {
	v := a.first()
	if v.IsList() && v.AsList().Len() <= 255 || v.IsDict() && v.AsDict().Len() <= 255 {
		return v, nil // Python looks at its length, and it is short
	}
	if v.IsUndefined() {
		return v, nil
	}
	if !v.IsString() {
		return r.refuse(v, "%s has no length", kind(v))
	}
	s := []rune(text(v))
	length := int(integer(a.or(1, "length", jinja.NewInt(255))))
	end := text(a.or(3, "end", jinja.NewString("...")))
	if length < characterCount(end) {
		return r.refuse(jinja.NewString(string(s)), "expected a length of at least %d, found %d", characterCount(end), length)
	}
	if leeway := int(integer(a.or(4, "leeway", jinja.NewInt(5)))); len(s) <= length+leeway {
		return r.text(string(s))
	}
	cut := string(s[:min(max(length-characterCount(end), 0), len(s))])
	if !a.get(2, "killwords").IsTruthy() {
		if i := strings.LastIndexByte(cut, ' '); i >= 0 {
			cut = cut[:i]
		}
	}
	return r.text(cut + end)
}

func intFilter(r *rendering, a arguments) (jinja.Value, error) {
	switch v := a.first(); {
	case isInteger(v):
		return jinja.NewInt(integer(v)), nil
	case v.IsUndefined():
		return r.refuse(jinja.NewInt(0), "an undefined value is no integer")
	case v.IsString():
		s := strings.ReplaceAll(strings.TrimFunc(v.AsString(), isSpace), "_", "")
		base := int(integer(a.or(2, "base", jinja.NewInt(10))))
		digits := s
		if prefix := map[int]string{2: "0b", 8: "0o", 16: "0x"}[base]; prefix != "" {
			digits = strings.TrimPrefix(strings.ToLower(s), prefix)
		}
		if n, err := strconv.ParseInt(digits, base, 64); err == nil {
			return jinja.NewInt(n), nil
		}
		if f, err := strconv.ParseFloat(s, 64); err == nil && math.Abs(f) < 1<<63 {
			return jinja.NewInt(int64(f)), nil
		}
	case v.IsFloat() && math.Abs(v.AsFloat()) < 1<<63:
		return jinja.NewInt(int64(v.AsFloat())), nil
	}
	return a.or(1, "default", jinja.NewInt(0)), nil
}

func floatFilter(r *rendering, a arguments) (jinja.Value, error) {
	switch v := a.first(); {
	case isNumber(v):
		return jinja.NewFloat(float(v)), nil
	case v.IsUndefined():
		return r.refuse(jinja.NewFloat(0), "an undefined value is no number")
	case v.IsString():
		if f, err := strconv.ParseFloat(strings.TrimFunc(v.AsString(), isSpace), 64); err == nil {
			return jinja.NewFloat(f), nil
		}
	}
	return a.or(1, "default", jinja.NewFloat(0)), nil
}

func roundFilter(r *rendering, a arguments) (jinja.Value, error) {
	v := a.first()
	if !isNumber(v) {
		return r.refuse(jinja.NewInt(0), "cannot round %s", kind(v))
	}
	precision := int(integer(a.or(1, "precision", jinja.NewInt(0))))
	scale := math.Pow(10, float64(precision))
	switch text(a.or(2, "method", jinja.NewString("common"))) {
	case "ceil":
		return jinja.NewFloat(math.Ceil(float(v)*scale) / scale), nil
	case "floor":
		return jinja.NewFloat(math.Floor(float(v)*scale) / scale), nil
	}
	if isInteger(v) && precision >= 0 {
		return jinja.NewInt(integer(v)), nil
	}
	if precision < 0 {
		return jinja.NewFloat(math.RoundToEven(float(v)*scale) / scale), nil
	}
	// Formatting rounds what the float is, as Python does, not what it seems to be.
	f, err := strconv.ParseFloat(strconv.FormatFloat(float(v), 'f', min(precision, 323), 64), 64)
	return jinja.NewFloat(f), err
}

func absFilter(r *rendering, a arguments) (jinja.Value, error) {
	switch v := a.first(); {
	case isInteger(v):
		return jinja.NewInt(max(integer(v), -integer(v))), nil
	case v.IsFloat():
		return jinja.NewFloat(math.Abs(v.AsFloat())), nil
	default:
		return r.refuse(jinja.NewInt(0), "expected a number, found %s", kind(v))
	}
}
