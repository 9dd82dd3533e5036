package chattemplate

import (
	"slices"
	"strings"

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
