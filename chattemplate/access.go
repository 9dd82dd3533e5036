package chattemplate

import (
	"errors"
	"iter"
	"strings"
	"unicode/utf8"

	"github.com/ardanlabs/jinja"
)

// present refuses an undefined value whose attribute is wanted. Its second argument names it.
func present(r *rendering, a arguments) (jinja.Value, error) {
	if v := a.values[0]; !v.IsUndefined() {
		return v, nil
	}
	return r.refuse(jinja.Undefined(), "%s is undefined", a.values[1].AsString())
}

// attribute gives an attribute the way jinja2 does: a method of the value's type, else an item.
func attribute(r *rendering, a arguments) (jinja.Value, error) {
	value, name := a.values[0], a.values[1].AsString()
	if method := r.bound(value, name); !method.IsUndefined() {
		return method, nil
	}
	if value.IsDict() {
		if found, ok := value.AsDict().Get(name); ok {
			return found, nil
		}
	}
	if strings.HasPrefix(name, "__") {
		return r.refuse(jinja.Undefined(), "the attribute %s is out of bounds", name)
	}
	return jinja.Undefined(), nil
}

// bound gives a method of a value, undefined if its type has none of that name.
func (r *rendering) bound(value jinja.Value, name string) jinja.Value {
	if methods[name][typeName(value)] == nil || value.IsDict() && r.namespaces[value.AsDict()] {
		return jinja.Undefined()
	}
	return jinja.NewCallable(name, func(values []jinja.Value, named map[string]jinja.Value) (jinja.Value, error) {
		return r.method(name, arguments{append([]jinja.Value{value}, values...), named})
	})
}

// item gives an item, else a method of that name, as jinja2 does.
func item(r *rendering, a arguments) (jinja.Value, error) {
	value, key := a.values[0], a.values[1]
	switch {
	case value.IsDict() && (!key.IsList() && !key.IsDict()):
		if found, ok := value.AsDict().Get(keyOf(key)); ok {
			return found, nil
		}
	case value.IsList() && isInteger(key):
		if i, ok := index(integer(key), value.AsList().Len()); ok {
			return value.AsList().Get(i), nil
		}
	case value.IsString() && isInteger(key):
		s := value.AsString()
		if i, ok := index(integer(key), utf8.RuneCountInString(s)); ok {
			return jinja.NewString(string([]rune(s)[i])), nil
		}
	}
	if key.IsString() {
		return r.bound(value, key.AsString()), nil
	}
	return jinja.Undefined(), nil
}

// index makes an index of Python, which may count from the end, one of Go.
func index(i int64, length int) (int, bool) {
	if i < 0 {
		i += int64(length)
	}
	return int(i), i >= 0 && i < int64(length)
}

// slice gives the part of a list or of text that a slice of Python names.
func slice(r *rendering, a arguments) (jinja.Value, error) {
	value := a.values[0]
	if !value.IsList() && !value.IsString() {
		return r.refuse(jinja.Undefined(), "%s has no parts", kind(value))
	}
	step := int64(1)
	for i, v := range a.values[1:] {
		if !isInteger(v) && !v.IsNone() {
			return r.refuse(jinja.Undefined(), "the bounds of a part must be integers, found %s", kind(v))
		}
		if i == 2 && isInteger(v) {
			step = integer(v)
		}
	}
	if step == 0 {
		return r.refuse(jinja.Undefined(), "the step of a slice cannot be 0")
	}
	if value.IsString() {
		all := []rune(value.AsString())
		var out []rune
		for i := range steps(int64(len(all)), a.values[1], a.values[2], step) {
			out = append(out, all[i])
		}
		return r.text(string(out))
	}
	all := value.AsList().Items
	var out []jinja.Value
	for i := range steps(int64(len(all)), a.values[1], a.values[2], step) {
		out = append(out, all[i])
	}
	if isTuple(value) {
		return tuple(out), r.makeItems(len(out))
	}
	return r.list(out)
}

// constantSlice is a slice in an expression that jinja2 works out when it reads the template. It is undefined where slice
// would be refused.
func constantSlice(r *rendering, a arguments) (jinja.Value, error) {
	v, err := slice(r, a)
	if known := (*RenderError)(nil); errors.As(err, &known) && known.Reason == Refused {
		return jinja.Undefined(), nil
	}
	return v, err
}

// steps goes over the indexes of a slice.
func steps(length int64, from, to jinja.Value, step int64) iter.Seq[int64] {
	low, high := int64(0), length
	start, stop := low, high
	if step < 0 {
		low, high = -1, length-1
		start, stop = high, low
	}
	for _, bound := range []struct {
		value jinja.Value
		into  *int64
	}{{from, &start}, {to, &stop}} {
		if isInteger(bound.value) {
			i := integer(bound.value)
			if i < 0 {
				i += length
			}
			*bound.into = min(max(i, low), high)
		}
	}
	return func(yield func(int64) bool) {
		for i := start; step > 0 && i < stop || step < 0 && i > stop; i += step {
			if !yield(i) {
				return
			}
		}
	}
}

// each gives what a loop goes over. Its second argument is the weight of the loop: the text printed by a turn.
func each(r *rendering, a arguments) (jinja.Value, error) {
	value := a.values[0]
	length := 0
	switch {
	case value.IsList():
		length = value.AsList().Len()
	case value.IsDict():
		value = jinja.NewList(items(value))
		length = value.AsList().Len()
	case isGenerator(value):
		value = jinja.NewList(items(value))
		length = value.AsList().Len()
	case value.IsString():
		length = utf8.RuneCountInString(value.AsString())
	case !value.IsUndefined():
		return r.refuse(jinja.NewList(nil), "cannot loop over %s", kind(value))
	}
	if err := r.step(length + 1); err != nil {
		return jinja.Undefined(), err
	}
	return value, r.make(length * int(a.values[1].AsInt()))
}

// pairs gives what a loop over two names goes over.
func pairs(r *rendering, a arguments) (jinja.Value, error) {
	value, err := each(r, a)
	if err != nil {
		return value, err
	}
	all := items(value)
	for i, v := range all {
		if !v.IsList() || v.AsList().Len() != 2 {
			out := append([]jinja.Value(nil), all...)
			for ; i < len(out); i++ {
				if out[i], err = unpacked(r, out[i], 2); err != nil {
					return jinja.Undefined(), err
				}
			}
			return jinja.NewList(out), nil
		}
	}
	if value.IsList() {
		return value, nil
	}
	return jinja.NewList(all), nil
}

func unpack(r *rendering, a arguments) (jinja.Value, error) {
	return unpacked(r, a.values[0], int(a.values[1].AsInt()))
}

// unpacked gives the items of a value that must have so many.
func unpacked(r *rendering, value jinja.Value, n int) (jinja.Value, error) {
	found := items(value)
	if !value.IsList() && !value.IsDict() && !value.IsString() || len(found) != n {
		return r.refuse(jinja.NewList(make([]jinja.Value, n)), "cannot unpack %s to %d values", kind(value), n)
	}
	return jinja.NewList(found), nil
}

// items gives the items of a list, the keys of a mapping, the characters of text.
func items(v jinja.Value) []jinja.Value {
	switch {
	case v.IsList():
		return v.AsList().Items
	case v.IsDict():
		out := make([]jinja.Value, 0, v.AsDict().Len())
		for _, key := range v.AsDict().Keys {
			out = append(out, keyValue(key))
		}
		return out
	case isGenerator(v):
		all, _ := v.AsCallable().Fn(nil, nil)
		return all.AsList().Items
	case v.IsString():
		var out []jinja.Value
		for _, r := range v.AsString() {
			out = append(out, jinja.NewString(string(r)))
		}
		return out
	}
	return nil
}

// assign lets a value through that is assigned to an attribute of a namespace; nothing else may be assigned to.
func assign(r *rendering, a arguments) (jinja.Value, error) {
	if to := a.values[0]; !to.IsDict() || !r.namespaces[to.AsDict()] {
		return jinja.Undefined(), refuse("cannot assign to an attribute of %s; only a namespace has such", kind(to))
	}
	return a.values[1], nil
}

// maxDepth bounds how deep macros call each other, and loops go down into themselves.
const maxDepth = 200

func (r *rendering) deeper() error {
	if r.depth++; r.depth > maxDepth {
		return exceeded("its macros call each other deeper than %d levels", maxDepth)
	}
	return r.step(1)
}

// enter counts a call of a macro; its argument is the text that the macro prints.
func enter(r *rendering, a arguments) (jinja.Value, error) {
	if err := r.deeper(); err != nil {
		return jinja.Undefined(), err
	}
	return jinja.NewString(""), r.make(int(a.values[0].AsInt()))
}

func leave(r *rendering, _ arguments) (jinja.Value, error) {
	r.depth--
	return jinja.NewString(""), nil
}

// line notes the line of the template that is about to run.
func line(r *rendering, a arguments) (jinja.Value, error) {
	r.line = int(a.values[0].AsInt())
	return jinja.NewString(""), nil
}

// down lets through what a loop goes over that goes down into itself, and up what that printed.
func down(r *rendering, a arguments) (jinja.Value, error) { return a.values[0], r.deeper() }

func up(r *rendering, a arguments) (jinja.Value, error) {
	r.depth--
	return a.values[0], nil
}
