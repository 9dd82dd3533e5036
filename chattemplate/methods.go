package chattemplate

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/ardanlabs/jinja"
)

// methodsByName arranges the methods of Python's types by their name, and then by the type.
func methodsByName() map[string]map[string]function {
	out := map[string]map[string]function{}
	for kind, all := range map[string]map[string]function{"str": textMethods(), "list": listMethods(), "dict": dictMethods()} {
		for name, f := range all {
			if out[name] == nil {
				out[name] = map[string]function{}
			}
			out[name][kind] = f
		}
	}
	return out
}

// method calls a method of its first argument.
func (r *rendering) method(name string, a arguments) (jinja.Value, error) {
	value := a.first()
	if f := methods[name][typeName(value)]; f != nil && !(value.IsDict() && r.namespaces[value.AsDict()]) {
		return f(r, a)
	}
	if value.IsDict() { // a macro, say, kept in a mapping
		if held, ok := value.AsDict().Get(name); ok && held.IsCallable() {
			return held.AsCallable().Fn(a.rest(1).values, a.named)
		}
	}
	return r.refuse(jinja.Undefined(), "%s has no method %s", kind(value), name)
}

// unsafe are methods that change their object, which the sandbox of jinja2 forbids. A lenient rendering obeys.
func unsafe(name string, f function) function {
	return func(r *rendering, a arguments) (jinja.Value, error) {
		if !r.lenient {
			return jinja.Undefined(), refuse("%s changes a value, which a template may not", name)
		}
		return f(r, a)
	}
}

func texts(parts []string) jinja.Value {
	out := make([]jinja.Value, len(parts))
	for i, part := range parts {
		out[i] = jinja.NewString(part)
	}
	return jinja.NewList(out)
}

func textMethods() map[string]function {
	all := map[string]function{
		"strip": stripMethod(true, true), "lstrip": stripMethod(true, false), "rstrip": stripMethod(false, true),
		"split": split, "rsplit": rsplit,
		"splitlines": func(_ *rendering, a arguments) (jinja.Value, error) {
			return texts(splitLines(a.first().AsString(), a.get(1, "keepends").IsTruthy())), nil
		},
		"partition": partition(strings.Index, false), "rpartition": partition(strings.LastIndex, true),
		"join": func(r *rendering, a arguments) (jinja.Value, error) {
			parts, err := r.iterable(a.rest(1))
			if err != nil {
				return jinja.Undefined(), err
			}
			for _, v := range parts {
				if !v.IsString() {
					return r.refuse(jinja.NewString(""), "join takes text, found %s", kind(v))
				}
			}
			return joined(r, parts, a.first().AsString())
		},
		"replace": func(r *rendering, a arguments) (jinja.Value, error) {
			if !a.get(1, "old").IsString() || !a.get(2, "new").IsString() {
				return r.refuse(a.first(), "replace takes two texts, found %s and %s", kind(a.get(1, "old")), kind(a.get(2, "new")))
			}
			return replace(r, a.first().AsString(), a.get(1, "old").AsString(), a.get(2, "new").AsString(), times(a.get(3, "count")))
		},
		"removeprefix": ofTwo(strings.TrimPrefix), "removesuffix": ofTwo(strings.TrimSuffix),
		"startswith": affix(strings.HasPrefix), "endswith": affix(strings.HasSuffix),
		"find": finder(strings.Index, false), "rfind": finder(strings.LastIndex, false),
		"index": finder(strings.Index, true), "rindex": finder(strings.LastIndex, true),
		"count": func(r *rendering, a arguments) (jinja.Value, error) {
			s, _, ok := bounded(a)
			if !ok || !a.get(1, "sub").IsString() {
				return jinja.NewInt(0), nil
			}
			return jinja.NewInt(int64(strings.Count(s, a.get(1, "sub").AsString()))), nil
		},
		"format": func(r *rendering, a arguments) (jinja.Value, error) {
			return braceFormat(r, a.first().AsString(), a.rest(1))
		},
		"zfill": func(r *rendering, a arguments) (jinja.Value, error) {
			s := a.first().AsString()
			sign := ""
			if strings.HasPrefix(s, "-") || strings.HasPrefix(s, "+") {
				sign, s = s[:1], s[1:]
			}
			return padded(r, s, jinja.NewInt(integer(a.get(1, ""))-int64(len(sign))), "0", func(room int, _ string) int { return room })
		},
		"upper": ofText(strings.ToUpper), "lower": ofText(strings.ToLower), "casefold": ofText(strings.ToLower),
		"capitalize": ofText(capitalize), "title": ofText(title),
		"swapcase": ofText(func(s string) string {
			return strings.Map(func(r rune) rune {
				if unicode.IsUpper(r) {
					return unicode.ToLower(r)
				}
				return unicode.ToUpper(r)
			}, s)
		}),
		"isspace": every(isSpace), "isalpha": every(unicode.IsLetter),
		"isdigit": every(unicode.IsDigit), "isdecimal": every(unicode.IsDigit), "isnumeric": every(unicode.IsNumber),
		"isalnum": every(func(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) }),
		"isascii": is(func(v jinja.Value) bool {
			return !strings.ContainsFunc(v.AsString(), func(r rune) bool { return r > 0x7f })
		}),
		"isupper": tests["upper"], "islower": tests["lower"],
		"istitle": is(func(v jinja.Value) bool { return v.AsString() != "" && title(v.AsString()) == v.AsString() }),
	}
	for name, left := range map[string]func(int, string) int{
		"ljust":  func(int, string) int { return 0 },
		"rjust":  func(room int, _ string) int { return room },
		"center": func(room int, s string) int { return room/2 + room&(width2(s)+room)&1 },
	} {
		all[name] = func(r *rendering, a arguments) (jinja.Value, error) {
			return padded(r, a.first().AsString(), a.get(1, "width"), text(a.or(2, "fillchar", jinja.NewString(" "))), left)
		}
	}
	return all
}

func stripMethod(left, right bool) function {
	return func(r *rendering, a arguments) (jinja.Value, error) {
		if set := a.get(1, "chars"); !set.IsUndefined() && !set.IsNone() && !set.IsString() {
			return r.refuse(a.first(), "strip takes text, found %s", kind(set))
		}
		return r.text(strip(a.first().AsString(), a.get(1, "chars"), left, right))
	}
}

func ofTwo(f func(s, t string) string) function {
	return func(r *rendering, a arguments) (jinja.Value, error) {
		if !a.get(1, "").IsString() {
			return r.refuse(a.first(), "expected text, found %s", kind(a.get(1, "")))
		}
		return r.text(f(a.first().AsString(), a.get(1, "").AsString()))
	}
}

// every makes the tests that hold if there is a character and all pass.
func every(test func(rune) bool) function {
	return is(func(v jinja.Value) bool {
		s := v.AsString()
		return s != "" && !strings.ContainsFunc(s, func(r rune) bool { return !test(r) })
	})
}

// title capitalises every run of letters.
func title(s string) string {
	inside := false
	return strings.Map(func(r rune) rune {
		if !inside {
			inside = unicode.IsLetter(r)
			return unicode.ToTitle(r)
		}
		inside = unicode.IsLetter(r)
		return unicode.ToLower(r)
	}, s)
}

// fields splits at white space, at most so many times.
func fields(s string, n int) (out []string) {
	s = strings.TrimLeftFunc(s, isSpace)
	for s != "" {
		i := strings.IndexFunc(s, isSpace)
		if i < 0 || n == 0 {
			return append(out, s)
		}
		out, n = append(out, s[:i]), n-1
		s = strings.TrimLeftFunc(s[i:], isSpace)
	}
	return out
}

// separator reads the separator and the count of a split; none stands for white space.
func (r *rendering) separator(a arguments) (sep string, blank bool, n int, err error) {
	n = times(a.get(2, "maxsplit"))
	switch v := a.get(1, "sep"); {
	case v.IsUndefined(), v.IsNone():
		return "", true, n, nil
	case v.IsString() && v.AsString() != "":
		return v.AsString(), false, n, nil
	default:
		_, err := r.refuse(v, "split takes text that is not empty, found %s", kind(v))
		return "", true, n, err
	}
}

func split(r *rendering, a arguments) (jinja.Value, error) {
	sep, blank, n, err := r.separator(a)
	switch s := a.first().AsString(); {
	case err != nil:
		return jinja.Undefined(), err
	case blank:
		return texts(fields(s, n)), r.make(len(s))
	case n >= 0:
		return texts(strings.SplitN(s, sep, n+1)), r.make(len(s))
	default:
		return texts(strings.Split(s, sep)), r.make(len(s))
	}
}

func rsplit(r *rendering, a arguments) (jinja.Value, error) {
	sep, blank, n, err := r.separator(a)
	if err != nil {
		return jinja.Undefined(), err
	}
	rest := a.first().AsString()
	var parts []string
	if blank {
		rest = strings.TrimRightFunc(rest, isSpace)
	}
	for ; n != 0; n-- {
		i, size := strings.LastIndex(rest, sep), len(sep)
		if blank {
			if i = strings.LastIndexFunc(rest, isSpace); i >= 0 {
				_, size = utf8.DecodeRuneInString(rest[i:])
			}
		}
		if i < 0 {
			break
		}
		parts, rest = append(parts, rest[i+size:]), rest[:i]
		if blank {
			rest = strings.TrimRightFunc(rest, isSpace)
		}
	}
	if !blank || rest != "" {
		parts = append(parts, rest)
	}
	slices.Reverse(parts)
	return texts(parts), r.make(len(a.first().AsString()))
}

// partition splits in three at a separator. Where there is none, all is before it, or behind it if last is set.
func partition(find func(s, sep string) int, last bool) function {
	return func(r *rendering, a arguments) (jinja.Value, error) {
		s, sep := a.first().AsString(), text(a.get(1, "sep"))
		parts := []string{s, "", ""}
		if i := find(s, sep); sep == "" {
			return r.refuse(jinja.NewList(nil), "partition takes text that is not empty")
		} else if i >= 0 {
			parts = []string{s[:i], sep, s[i+len(sep):]}
		} else if last {
			parts = []string{"", "", s}
		}
		return tuple(texts(parts).AsList().Items), r.make(len(s))
	}
}

// bounded gives the part of the text that the optional third and fourth argument bound, and where it begins.
func bounded(a arguments) (s string, start int, ok bool) {
	s = a.first().AsString()
	from, to := a.get(2, "start"), a.get(3, "end")
	if !isInteger(from) && !isInteger(to) {
		return s, 0, true
	}
	all := []rune(s)
	end := len(all)
	bound := func(v jinja.Value, into *int) {
		if isInteger(v) {
			i := integer(v)
			if i < 0 {
				i += int64(len(all))
			}
			*into = int(max(i, 0))
		}
	}
	bound(from, &start)
	bound(to, &end)
	if end = min(end, len(all)); start > end {
		return "", start, false
	}
	return string(all[start:end]), start, true
}

func affix(has func(s, t string) bool) function {
	return func(r *rendering, a arguments) (jinja.Value, error) {
		s, _, ok := bounded(a)
		wanted := []jinja.Value{a.get(1, "")}
		if isTuple(wanted[0]) {
			wanted = wanted[0].AsList().Items
		}
		for _, v := range wanted {
			if !v.IsString() {
				return r.refuse(jinja.NewBool(false), "expected text, found %s", kind(v))
			}
			if ok && has(s, v.AsString()) {
				return jinja.NewBool(true), nil
			}
		}
		return jinja.NewBool(false), nil
	}
}

// finder makes the methods that look for text; some refuse if it is not there.
func finder(find func(s, sub string) int, must bool) function {
	return func(r *rendering, a arguments) (jinja.Value, error) {
		s, start, ok := bounded(a)
		sub := a.get(1, "sub")
		if !sub.IsString() {
			return r.refuse(jinja.NewInt(-1), "expected text, found %s", kind(sub))
		}
		if i := find(s, sub.AsString()); ok && i >= 0 {
			return jinja.NewInt(int64(start + utf8.RuneCountInString(s[:i]))), nil
		}
		if must {
			return r.refuse(jinja.NewInt(-1), "the text looked for is not there")
		}
		return jinja.NewInt(-1), nil
	}
}

func listMethods() map[string]function {
	all := map[string]function{
		"count": func(_ *rendering, a arguments) (jinja.Value, error) {
			n := int64(0)
			for _, v := range a.first().AsList().Items {
				if v.Equals(a.get(1, "")) {
					n++
				}
			}
			return jinja.NewInt(n), nil
		},
		"index": func(r *rendering, a arguments) (jinja.Value, error) {
			if i := slices.IndexFunc(a.first().AsList().Items, a.get(1, "").Equals); i >= 0 {
				return jinja.NewInt(int64(i)), nil
			}
			return r.refuse(jinja.NewInt(-1), "the value looked for is not there")
		},
		"copy": func(r *rendering, a arguments) (jinja.Value, error) {
			return r.list(slices.Clone(a.first().AsList().Items))
		},
		"append": func(_ *rendering, a arguments) (jinja.Value, error) {
			a.first().AsList().Append(a.get(1, ""))
			return jinja.None(), nil
		},
		"extend": func(_ *rendering, a arguments) (jinja.Value, error) {
			for _, v := range slices.Clone(items(a.get(1, ""))) {
				a.first().AsList().Append(v)
			}
			return jinja.None(), nil
		},
		"insert": func(_ *rendering, a arguments) (jinja.Value, error) {
			l := a.first().AsList()
			l.Items = slices.Insert(l.Items, int(min(max(integer(a.get(1, "")), 0), int64(l.Len()))), a.get(2, ""))
			return jinja.None(), nil
		},
		"pop": func(_ *rendering, a arguments) (jinja.Value, error) {
			l := a.first().AsList()
			i, ok := index(integer(a.or(1, "", jinja.NewInt(-1))), l.Len())
			if !ok {
				return jinja.Undefined(), refuse("there is nothing to pop")
			}
			v := l.Items[i]
			l.Items = slices.Delete(l.Items, i, i+1)
			return v, nil
		},
		"remove": func(_ *rendering, a arguments) (jinja.Value, error) {
			l := a.first().AsList()
			if i := slices.IndexFunc(l.Items, a.get(1, "").Equals); i >= 0 {
				l.Items = slices.Delete(l.Items, i, i+1)
			}
			return jinja.None(), nil
		},
		"reverse": func(_ *rendering, a arguments) (jinja.Value, error) {
			slices.Reverse(a.first().AsList().Items)
			return jinja.None(), nil
		},
		"clear": func(_ *rendering, a arguments) (jinja.Value, error) {
			a.first().AsList().Items = nil
			return jinja.None(), nil
		},
		"sort": func(r *rendering, a arguments) (jinja.Value, error) {
			sorted, err := sortBy(r, a.first().AsList().Items, func(v jinja.Value) jinja.Value { return v }, a.get(1, "reverse").IsTruthy())
			a.first().AsList().Items = sorted
			return jinja.None(), err
		},
	}
	for _, name := range strings.Fields("append extend insert pop remove reverse clear sort") {
		all[name] = unsafe(name, all[name])
	}
	return all
}

func dictMethods() map[string]function {
	all := map[string]function{
		"items": func(r *rendering, a arguments) (jinja.Value, error) { return r.list(pairsOf(a.first().AsDict())) },
		"keys":  func(r *rendering, a arguments) (jinja.Value, error) { return r.list(items(a.first())) },
		"values": func(r *rendering, a arguments) (jinja.Value, error) {
			d := a.first().AsDict()
			out := make([]jinja.Value, 0, d.Len())
			for _, key := range d.Keys {
				out = append(out, d.Data[key])
			}
			return r.list(out)
		},
		"get": func(_ *rendering, a arguments) (jinja.Value, error) {
			if v, ok := a.first().AsDict().Get(keyOf(a.get(1, "key"))); ok {
				return v, nil
			}
			return a.or(2, "default", jinja.None()), nil
		},
		"copy": func(r *rendering, a arguments) (jinja.Value, error) {
			out := jinja.NewDict()
			update(out.AsDict(), a.first())
			return out, r.make(out.AsDict().Len())
		},
		"update": func(_ *rendering, a arguments) (jinja.Value, error) {
			update(a.first().AsDict(), a.get(1, ""))
			for name, v := range a.named {
				a.first().AsDict().Set(name, v)
			}
			return jinja.None(), nil
		},
		"setdefault": func(_ *rendering, a arguments) (jinja.Value, error) {
			d, key := a.first().AsDict(), keyOf(a.get(1, ""))
			if !d.Has(key) {
				d.Set(key, a.or(2, "", jinja.None()))
			}
			return d.Data[key], nil
		},
		"pop": func(_ *rendering, a arguments) (jinja.Value, error) {
			return remove(a.first().AsDict(), keyOf(a.get(1, "")), a.get(2, "")), nil
		},
		"popitem": func(_ *rendering, a arguments) (jinja.Value, error) {
			d := a.first().AsDict()
			if d.Len() == 0 {
				return jinja.Undefined(), refuse("there is nothing to pop")
			}
			key := d.Keys[d.Len()-1]
			return tuple([]jinja.Value{keyValue(key), remove(d, key, jinja.None())}), nil
		},
		"clear": func(_ *rendering, a arguments) (jinja.Value, error) {
			d := a.first().AsDict()
			d.Keys = nil
			clear(d.Data)
			return jinja.None(), nil
		},
	}
	for _, name := range strings.Fields("update setdefault pop popitem clear") {
		all[name] = unsafe(name, all[name])
	}
	return all
}

func update(d *jinja.Dict, from jinja.Value) {
	if from.IsDict() {
		for _, key := range from.AsDict().Keys {
			d.Set(key, from.AsDict().Data[key])
		}
	}
}

// remove takes a key out of a mapping and gives what it held.
func remove(d *jinja.Dict, key string, fallback jinja.Value) jinja.Value {
	v, ok := d.Get(key)
	if !ok {
		return fallback
	}
	delete(d.Data, key)
	d.Keys = slices.DeleteFunc(d.Keys, func(k string) bool { return k == key })
	return v
}
