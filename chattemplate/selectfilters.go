package chattemplate

import (
	"slices"

	"github.com/ardanlabs/jinja"
)

func mapFilter(r *rendering, a arguments) (jinja.Value, error) {
	all, err := r.lazily(a)
	if err != nil {
		return jinja.Undefined(), err
	}
	attribute := a.named["attribute"]
	if !attribute.IsUndefined() {
		fallback := a.named["default"]
		return r.generator(mapped(all, func(v jinja.Value) jinja.Value {
			if v = r.path(v, attribute); v.IsUndefined() {
				v = fallback
			}
			return v
		}))
	}
	name := text(a.get(1, ""))
	filter := filters[name]
	if filter == nil {
		return jinja.Undefined(), refuse("there is no filter %q", name)
	}
	out := make([]jinja.Value, len(all))
	for i, v := range all {
		if out[i], err = filter(r, arguments{append([]jinja.Value{v}, a.rest(2).values...), a.named}); err != nil {
			return jinja.Undefined(), err
		}
	}
	return r.generator(out)
}

// selectFilter makes the filters that keep, or drop, the values that pass a test.
func selectFilter(keep, ofAttribute bool) function {
	return func(r *rendering, a arguments) (jinja.Value, error) {
		all, err := r.lazily(a)
		if err != nil {
			return jinja.Undefined(), err
		}
		more := a.rest(1)
		path := jinja.None()
		if ofAttribute {
			path, more = more.first(), more.rest(1)
		}
		var out []jinja.Value
		for _, v := range all {
			tested := v
			if ofAttribute {
				tested = r.path(v, path)
			}
			passed := tested.IsTruthy()
			if len(more.values) > 0 {
				if passed, err = r.passes(text(more.first()), tested, more.rest(1)); err != nil {
					return jinja.Undefined(), err
				}
			}
			if passed == keep {
				out = append(out, v)
			}
		}
		return r.generator(out)
	}
}

func groupbyFilter(r *rendering, a arguments) (jinja.Value, error) {
	all, err := r.iterable(a)
	if err != nil {
		return jinja.Undefined(), err
	}
	attribute, fallback := a.get(1, "attribute"), a.get(2, "default")
	caseful := a.get(3, "case_sensitive").IsTruthy()
	plain := func(v jinja.Value) jinja.Value {
		if v = r.path(v, attribute); v.IsUndefined() && !fallback.IsUndefined() {
			v = fallback
		}
		return v
	}
	key := func(v jinja.Value) jinja.Value {
		if v = plain(v); !caseful {
			v = folded(v)
		}
		return v
	}
	if all, err = sortBy(r, all, key, false); err != nil {
		return jinja.Undefined(), err
	}
	var out []jinja.Value
	for from := 0; from < len(all); {
		to := from + 1
		for to < len(all) && key(all[to]).Equals(key(all[from])) {
			to++
		}
		out = append(out, tuple([]jinja.Value{plain(all[from]), jinja.NewList(all[from:to:to])}))
		from = to
	}
	return r.list(out)
}

func batchFilter(r *rendering, a arguments) (jinja.Value, error) {
	all, err := r.iterable(a)
	size := int(integer(a.get(1, "linecount")))
	if err != nil || size <= 0 {
		return jinja.NewList(nil), err
	}
	var out []jinja.Value
	for batch := range slices.Chunk(all, size) {
		out = append(out, jinja.NewList(filled(batch, size, a.get(2, "fill_with"))))
	}
	return r.generator(out)
}

// filled fills a list up, if there is something to fill it with.
func filled(list []jinja.Value, size int, with jinja.Value) []jinja.Value {
	list = slices.Clone(list)
	for len(list) < size && size <= maxRange && !with.IsUndefined() && !with.IsNone() {
		list = append(list, with)
	}
	return list
}

func sliceFilter(r *rendering, a arguments) (jinja.Value, error) {
	all, err := r.iterable(a)
	n := int(integer(a.get(1, "slices")))
	if err != nil || n <= 0 || n > maxRange {
		return jinja.NewList(nil), err
	}
	size, longer := len(all)/n, len(all)%n
	var out []jinja.Value
	at := 0
	for i := range n {
		end := at + size
		if i < longer {
			end++
		}
		column := all[at:end]
		if i >= longer && longer > 0 {
			column = filled(column, size+1, a.get(2, "fill_with"))
		}
		out = append(out, jinja.NewList(slices.Clone(column)))
		at = end
	}
	return r.generator(out)
}
