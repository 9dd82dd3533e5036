package chattemplate

import (
	"maps"
	"strings"
	"time"

	"github.com/ardanlabs/jinja"
)

// arguments are what a function is called with.
type arguments struct {
	values []jinja.Value
	named  map[string]jinja.Value
}

// get gives the argument of a place, or of a name; undefined if there is none.
func (a arguments) get(place int, name string) jinja.Value {
	if place < len(a.values) {
		return a.values[place]
	}
	return a.named[name]
}

// or gives the argument of a place or a name, or a fallback.
func (a arguments) or(place int, name string, fallback jinja.Value) jinja.Value {
	if v := a.get(place, name); !v.IsUndefined() {
		return v
	}
	return fallback
}

// first is the value that a filter, test or method is of.
func (a arguments) first() jinja.Value { return a.get(0, "") }

// rest are the arguments behind the first n.
func (a arguments) rest(n int) arguments {
	return arguments{a.values[min(n, len(a.values)):], a.named}
}

// function is what a template can call.
type function func(*rendering, arguments) (jinja.Value, error)

// functions are all functions by the names that the writer calls them by. filters, tests, methods and globals are those
// of Jinja and of Python, by their names there.
var (
	functions map[string]function
	filters   map[string]function
	tests     map[string]function
	methods   map[string]map[string]function
	globals   map[string]function
)

// libraryTests are the tests of the library that mean what Python's mean.
var libraryTests = set("defined undefined none boolean string true false eq equalto ne float")

func set(names string) map[string]bool {
	all := map[string]bool{}
	for name := range strings.FieldsSeq(names) {
		all[name] = true
	}
	return all
}

func init() {
	filters = merged(textFilters(), sequenceFilters(), map[string]function{"tojson": toJSON, "default": defaultFilter, "d": defaultFilter})
	tests = testFunctions()
	methods = methodsByName()
	globals = globalFunctions()
	functions = merged(operatorFunctions(), globals)
	for name, f := range filters {
		functions["__filter_"+name] = f
	}
	for name, f := range tests {
		functions["__test_"+name] = f
	}
	for name := range methods {
		functions["__method_"+name] = func(r *rendering, a arguments) (jinja.Value, error) { return r.method(name, a) }
	}
}

func merged(all ...map[string]function) map[string]function {
	out := map[string]function{}
	for _, some := range all {
		maps.Copy(out, some)
	}
	return out
}

// rendering is one run of a template.
type rendering struct {
	limits  Limits
	lenient bool
	now     time.Time
	// steps are the turns of loops and the calls of macros so far, made the bytes of text and items of lists.
	steps, made, depth int
	// line is the line that runs, in a rendering that notes it.
	line int
	// refused is an error that was found where none could be given.
	refused error
	// namespaces are the values made by namespace, the only ones that may be assigned to.
	namespaces map[*jinja.Dict]bool
}

// bind makes the values of functions for the library.
func (r *rendering) bind(names []string, into map[string]jinja.Value) {
	for _, name := range names {
		f := functions[name]
		into[name] = jinja.NewCallable(name, func(values []jinja.Value, named map[string]jinja.Value) (jinja.Value, error) {
			return f(r, arguments{values, named})
		})
	}
}

// step counts turns of loops.
func (r *rendering) step(n int) error {
	if r.steps += n; r.steps > r.limits.Steps {
		return exceeded("it takes more than %d steps", r.limits.Steps)
	}
	return nil
}

// make counts text and list items before they are made.
func (r *rendering) make(n int) error {
	if r.made += n; r.made > r.limits.Output || r.made < 0 {
		return exceeded("it makes more than %d bytes of text", r.limits.Output)
	}
	return nil
}

// text makes a value of text, and counts it.
func (r *rendering) text(s string) (jinja.Value, error) {
	return jinja.NewString(s), r.make(len(s))
}

// valueSize is about what an item of a list takes, in bytes.
const valueSize = 32

// list makes a list, and counts it.
func (r *rendering) list(items []jinja.Value) (jinja.Value, error) {
	return jinja.NewList(items), r.makeItems(len(items))
}

func (r *rendering) makeItems(n int) error { return r.make(min(n, maxOutput) * valueSize) }

// nested counts all that is in a value, however often it is there: a list of twice the same list of twice the same list
// takes little room but much time.
func (r *rendering) nested(v jinja.Value) error {
	var inside []jinja.Value
	switch {
	case v.IsList():
		inside = v.AsList().Items
	case v.IsDict():
		for _, member := range v.AsDict().Data {
			if err := r.nested(member); err != nil {
				return err
			}
		}
		return r.make(valueSize * v.AsDict().Len())
	}
	for _, item := range inside {
		if err := r.nested(item); err != nil {
			return err
		}
	}
	return r.make(valueSize * len(inside))
}

// refuse is what Python refuses; a lenient rendering goes on with a value instead.
func (r *rendering) refuse(instead jinja.Value, format string, arguments ...any) (jinja.Value, error) {
	if r.lenient {
		return instead, nil
	}
	return jinja.Undefined(), refuse(format, arguments...)
}
