package chattemplate

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/ardanlabs/jinja"
)

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
			if sub := a.get(1, "sub"); !sub.IsString() {
				return r.refuse(jinja.NewInt(0), "expected text, found %s", kind(sub))
			}
			s, _, ok := bounded(a)
			if !ok {
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
		"upper": ofText(upper), "lower": ofText(strings.ToLower), "casefold": ofText(strings.ToLower),
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
		"center": centred,
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
