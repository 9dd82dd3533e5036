package chattemplate

import (
	"math"
	"strconv"

	"github.com/ardanlabs/jinja"
)

// The mappings of the library have keys of text. A key of another kind is kept as text that begins with a byte which no
// text of a request or a template holds.
const keyMark = "\xff"

// keyOf gives the text that a key is kept as. True and 1.0 are the key 1 in Python.
func keyOf(v jinja.Value) string {
	switch {
	case v.IsString():
		return v.AsString()
	case isInteger(v):
		return keyMark + strconv.FormatInt(integer(v), 10)
	case v.IsFloat() && v.AsFloat() == math.Trunc(v.AsFloat()) && math.Abs(v.AsFloat()) < 1<<62:
		return keyMark + strconv.FormatInt(int64(v.AsFloat()), 10)
	case v.IsUndefined():
		return keyMark + "Undefined"
	}
	return keyMark + text(v)
}

// keyValue gives the key that a text stands for.
func keyValue(key string) jinja.Value {
	if len(key) == 0 || key[0] != keyMark[0] {
		return jinja.NewString(key)
	}
	if n, err := strconv.ParseInt(key[1:], 10, 64); err == nil {
		return jinja.NewInt(n)
	}
	if f, err := strconv.ParseFloat(key[1:], 64); err == nil {
		return jinja.NewFloat(f)
	}
	if key[1:] == "None" {
		return jinja.None()
	}
	return jinja.NewString(key[1:])
}

// keyText gives a key as it stands in JSON.
func keyText(key string) string {
	if len(key) == 0 || key[0] != keyMark[0] {
		return key
	}
	if key[1:] == "None" {
		return "null"
	}
	return key[1:]
}

// dict makes a mapping of keys and values that follow each other.
func dict(_ *rendering, a arguments) (jinja.Value, error) {
	out := jinja.NewDict()
	for i := 0; i+1 < len(a.values); i += 2 {
		out.AsDict().Set(keyOf(a.values[i]), a.values[i+1])
	}
	return out, nil
}

// generatorName is the name of a value that stands for a generator of Python: it is true even if nothing is in it, has
// no length and no items by number, and can be gone through once.
const generatorName = "generator"

func (r *rendering) generator(all []jinja.Value) (jinja.Value, error) {
	return jinja.NewCallable(generatorName, func([]jinja.Value, map[string]jinja.Value) (jinja.Value, error) {
		left := jinja.NewList(all)
		all = nil
		return left, nil
	}), r.makeItems(len(all))
}

func isGenerator(v jinja.Value) bool {
	return v.IsCallable() && v.AsCallable().Name == generatorName
}
