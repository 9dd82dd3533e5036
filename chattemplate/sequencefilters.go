package chattemplate

import (
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/ardanlabs/jinja"
)

// sequenceFilters are the filters of lists and mappings.
func sequenceFilters() map[string]function {
	return map[string]function{
		"length": lengthFilter, "count": lengthFilter, "first": first, "last": last, "list": listFilter,
		"reverse": reverseFilter, "join": joinFilter, "items": itemsFilter, "dictsort": dictsortFilter,
		"sort": sortFilter, "unique": uniqueFilter, "sum": sumFilter, "min": extreme(-1), "max": extreme(1),
		"map": mapFilter, "select": selectFilter(true, false), "reject": selectFilter(false, false),
		"selectattr": selectFilter(true, true), "rejectattr": selectFilter(false, true),
		"groupby": groupbyFilter, "batch": batchFilter, "slice": sliceFilter,
		"attr": func(r *rendering, a arguments) (jinja.Value, error) {
			return r.bound(a.first(), text(a.get(1, "name"))), nil
		},
	}
}

func defaultFilter(_ *rendering, a arguments) (jinja.Value, error) {
	if v := a.first(); !v.IsUndefined() && (v.IsTruthy() || !a.get(2, "boolean").IsTruthy()) {
		return v, nil
	}
	return a.or(1, "default_value", jinja.NewString("")), nil
}

// iterable gives the items of what a filter is of, and refuses what has none.
func (r *rendering) iterable(a arguments) ([]jinja.Value, error) {
	v := a.first()
	if v.IsList() || v.IsDict() || v.IsString() || v.IsUndefined() || isGenerator(v) {
		out := items(v)
		return out, r.step(len(out))
	}
	_, err := r.refuse(v, "expected something with items, found %s", kind(v))
	return nil, err
}

// lazily gives the items of what a filter is of that looks at it only when its own items are wanted. Python asks such a
// filter for nothing where there is nothing, null included.
func (r *rendering) lazily(a arguments) ([]jinja.Value, error) {
	if !a.first().IsTruthy() {
		return nil, nil
	}
	return r.iterable(a)
}

func lengthFilter(r *rendering, a arguments) (jinja.Value, error) {
	switch v := a.first(); {
	case v.IsString():
		return jinja.NewInt(int64(utf8.RuneCountInString(v.AsString()))), nil
	case v.IsList():
		return jinja.NewInt(int64(v.AsList().Len())), nil
	case v.IsDict():
		return jinja.NewInt(int64(v.AsDict().Len())), nil
	case v.IsUndefined():
		return jinja.NewInt(0), nil
	default:
		return r.refuse(jinja.NewInt(0), "%s has no length", kind(v))
	}
}

func first(r *rendering, a arguments) (jinja.Value, error) {
	all, err := r.iterable(a)
	if len(all) == 0 {
		return jinja.Undefined(), err
	}
	return all[0], err
}

func last(r *rendering, a arguments) (jinja.Value, error) {
	if isGenerator(a.first()) {
		return r.refuse(jinja.Undefined(), "the end of a generator is not known")
	}
	all, err := r.iterable(a)
	if len(all) == 0 {
		return jinja.Undefined(), err
	}
	return all[len(all)-1], err
}

func listFilter(r *rendering, a arguments) (jinja.Value, error) {
	all, err := r.iterable(a)
	return jinja.NewList(slices.Clone(all)), err
}

func reverseFilter(r *rendering, a arguments) (jinja.Value, error) {
	all, err := r.iterable(a)
	if err != nil {
		return jinja.Undefined(), err
	}
	out := slices.Clone(all)
	slices.Reverse(out)
	if a.first().IsString() {
		return joined(r, out, "")
	}
	return r.generator(out)
}

func joined(r *rendering, all []jinja.Value, between string) (jinja.Value, error) {
	if err := r.make(len(between) * max(len(all)-1, 0)); err != nil {
		return jinja.Undefined(), err
	}
	parts := make([]string, len(all))
	for i, v := range all {
		parts[i] = text(v)
		if err := r.make(len(parts[i])); err != nil {
			return jinja.Undefined(), err
		}
	}
	return jinja.NewString(strings.Join(parts, between)), nil
}

func joinFilter(r *rendering, a arguments) (jinja.Value, error) {
	all, err := r.iterable(a)
	if err != nil {
		return jinja.Undefined(), err
	}
	if path := a.get(2, "attribute"); !path.IsUndefined() && !path.IsNone() {
		all = mapped(all, func(v jinja.Value) jinja.Value { return r.path(v, path) })
	}
	return joined(r, all, text(a.or(1, "d", jinja.NewString(""))))
}

func mapped(all []jinja.Value, f func(jinja.Value) jinja.Value) []jinja.Value {
	out := make([]jinja.Value, len(all))
	for i, v := range all {
		out[i] = f(v)
	}
	return out
}

// path follows a dotted path of attributes. That of an undefined value is refused once the rendering is over.
func (r *rendering) path(v, path jinja.Value) jinja.Value {
	for part := range strings.SplitSeq(text(path), ".") {
		key := jinja.NewString(part)
		if n, err := strconv.Atoi(part); err == nil && n >= 0 {
			key = jinja.NewInt(int64(n))
		}
		if v.IsUndefined() {
			_, r.refused = r.refuse(v, "an attribute %q of an undefined value is wanted", part)
			return v
		}
		v, _ = item(r, arguments{values: []jinja.Value{v, key}})
	}
	return v
}

func pairsOf(d *jinja.Dict) []jinja.Value {
	out := make([]jinja.Value, 0, d.Len())
	for _, key := range d.Keys {
		out = append(out, tuple([]jinja.Value{keyValue(key), d.Data[key]}))
	}
	return out
}

func itemsFilter(r *rendering, a arguments) (jinja.Value, error) {
	switch v := a.first(); {
	case v.IsDict():
		return r.generator(pairsOf(v.AsDict()))
	case v.IsUndefined():
		return r.generator(nil)
	default:
		return r.refuse(jinja.NewList(nil), "expected a mapping, found %s", kind(v))
	}
}

// folded is what strings are compared by where case does not matter.
func folded(v jinja.Value) jinja.Value {
	if v.IsString() {
		return jinja.NewString(strings.ToLower(v.AsString()))
	}
	return v
}

// sortBy sorts values by their keys; where two keys have no order, Python refuses.
func sortBy(r *rendering, all []jinja.Value, key func(jinja.Value) jinja.Value, backwards bool) ([]jinja.Value, error) {
	type keyed struct{ key, value jinja.Value }
	list := make([]keyed, len(all))
	for i, v := range all {
		list[i] = keyed{key(v), v}
	}
	var err error
	slices.SortStableFunc(list, func(x, y keyed) int {
		order, ok := ordered(x.key, y.key)
		if !ok && err == nil {
			_, err = r.refuse(x.key, "cannot compare %s with %s", kind(x.key), kind(y.key))
		}
		if backwards {
			return -order
		}
		return order
	})
	out := make([]jinja.Value, len(list))
	for i, v := range list {
		out[i] = v.value
	}
	return out, err
}

func dictsortFilter(r *rendering, a arguments) (jinja.Value, error) {
	if !a.first().IsDict() {
		return r.refuse(jinja.NewList(nil), "expected a mapping, found %s", kind(a.first()))
	}
	place := 0
	if text(a.or(2, "by", jinja.NewString("key"))) == "value" {
		place = 1
	}
	caseful := a.get(1, "case_sensitive").IsTruthy()
	out, err := sortBy(r, pairsOf(a.first().AsDict()), func(pair jinja.Value) jinja.Value {
		key := pair.AsList().Get(place)
		if !caseful {
			key = folded(key)
		}
		return key
	}, a.get(3, "reverse").IsTruthy())
	return jinja.NewList(out), err
}

// sortKey makes the function that gives what values are compared by.
func (r *rendering) sortKey(attribute jinja.Value, caseful bool) func(jinja.Value) jinja.Value {
	return func(v jinja.Value) jinja.Value {
		if !attribute.IsUndefined() && !attribute.IsNone() {
			if names := strings.Split(text(attribute), ","); len(names) > 1 {
				var all []jinja.Value
				for _, name := range names {
					all = append(all, r.sortKey(jinja.NewString(name), caseful)(v))
				}
				return jinja.NewList(all)
			}
			v = r.path(v, attribute)
		}
		if !caseful {
			v = folded(v)
		}
		return v
	}
}

func sortFilter(r *rendering, a arguments) (jinja.Value, error) {
	all, err := r.iterable(a)
	if err != nil {
		return jinja.Undefined(), err
	}
	out, err := sortBy(r, all, r.sortKey(a.get(3, "attribute"), a.get(2, "case_sensitive").IsTruthy()), a.get(1, "reverse").IsTruthy())
	return jinja.NewList(out), err
}

func uniqueFilter(r *rendering, a arguments) (jinja.Value, error) {
	all, err := r.iterable(a)
	key := r.sortKey(a.get(2, "attribute"), a.get(1, "case_sensitive").IsTruthy())
	var seen, out []jinja.Value
	for _, v := range all {
		k := key(v)
		if k.IsDict() || k.IsList() && !isTuple(k) {
			return r.refuse(jinja.NewList(all), "cannot tell %s from others", kind(k))
		}
		if !slices.ContainsFunc(seen, k.Equals) {
			seen, out = append(seen, k), append(out, v)
			if err := r.step(len(seen)); err != nil {
				return jinja.Undefined(), err
			}
		}
	}
	if err != nil {
		return jinja.Undefined(), err
	}
	return r.generator(out)
}

func sumFilter(r *rendering, a arguments) (jinja.Value, error) {
	all, err := r.iterable(a)
	if err != nil {
		return jinja.Undefined(), err
	}
	values := []jinja.Value{a.or(2, "start", jinja.NewInt(0))}
	key := r.sortKey(a.get(1, "attribute"), true)
	for _, v := range all {
		values = append(values, key(v))
	}
	return addMixed(r, values)
}

// extreme makes the filters min and max.
func extreme(direction int) function {
	return func(r *rendering, a arguments) (jinja.Value, error) {
		all, err := r.iterable(a)
		if err != nil || len(all) == 0 {
			return jinja.Undefined(), err
		}
		key := r.sortKey(a.get(2, "attribute"), a.get(1, "case_sensitive").IsTruthy())
		best := all[0]
		for _, v := range all[1:] {
			order, ok := ordered(key(v), key(best))
			if !ok {
				return r.refuse(best, "cannot compare %s with %s", kind(v), kind(best))
			}
			if order*direction > 0 {
				best = v
			}
		}
		return best, nil
	}
}
