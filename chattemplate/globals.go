package chattemplate

import (
	"slices"

	"github.com/ardanlabs/jinja"
)

// globalFunctions are what a template can call by name.
func globalFunctions() map[string]function {
	return map[string]function{
		"raise_exception": func(_ *rendering, a arguments) (jinja.Value, error) {
			return jinja.Undefined(), &RenderError{Reason: Raised, Message: text(a.get(0, "message"))}
		},
		"strftime_now": func(r *rendering, a arguments) (jinja.Value, error) {
			return r.text(strftime(r.now, text(a.get(0, "format"))))
		},
		"namespace": namespace,
		"range":     rangeOf,
	}
}

// namespace makes a mapping whose attributes may be assigned to.
func namespace(r *rendering, a arguments) (jinja.Value, error) {
	v := jinja.NewDict()
	d := v.AsDict()
	if first := a.first(); first.IsDict() {
		for _, key := range first.AsDict().Keys {
			d.Set(key, first.AsDict().Data[key])
		}
	}
	names := make([]string, 0, len(a.named))
	for name := range a.named {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		d.Set(name, a.named[name])
	}
	if r.namespaces == nil {
		r.namespaces = map[*jinja.Dict]bool{}
	}
	r.namespaces[d] = true
	return v, nil
}

// maxRange is the longest range that the sandbox of jinja2 lets through.
const maxRange = 100000

func rangeOf(r *rendering, a arguments) (jinja.Value, error) {
	bounds := []int64{0, 0, 1}
	switch len(a.values) {
	case 1:
		bounds[1] = integer(a.values[0])
	case 2, 3:
		for i, v := range a.values {
			bounds[i] = integer(v)
		}
	default:
		return jinja.Undefined(), refuse("range takes one to three integers, found %d values", len(a.values))
	}
	for _, v := range a.values {
		if !isInteger(v) {
			return r.refuse(jinja.NewList(nil), "range takes integers, found %s", kind(v))
		}
	}
	step := bounds[2]
	if step == 0 {
		return jinja.Undefined(), refuse("the step of a range cannot be 0")
	}
	if length := float64(bounds[1]-bounds[0]) / float64(step); length > maxRange {
		return jinja.Undefined(), exceeded("a range is longer than %d", maxRange)
	}
	var out []jinja.Value
	for i := bounds[0]; step > 0 && i < bounds[1] || step < 0 && i > bounds[1]; i += step {
		out = append(out, jinja.NewInt(i))
	}
	return r.list(out)
}
