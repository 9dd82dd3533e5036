package chattemplate

import (
	"strings"
	"unicode"

	"github.com/ardanlabs/jinja"
)

// testFunctions are the tests of jinja2, without those of the library that mean the same.
func testFunctions() map[string]function {
	return map[string]function{
		"number":  is(func(v jinja.Value) bool { _, big := bigDigits(v); return isNumber(v) || big }),
		"integer": is(func(v jinja.Value) bool { _, big := bigDigits(v); return v.IsInt() || big }),
		"mapping": is(jinja.Value.IsDict),
		"iterable": is(func(v jinja.Value) bool {
			return isGenerator(v) || v.IsList() || v.IsDict() || v.IsString() || v.IsUndefined()
		}),
		"sequence": is(func(v jinja.Value) bool {
			return v.IsList() || v.IsDict() || v.IsString() || v.IsUndefined()
		}),
		"callable": is(func(v jinja.Value) bool {
			_, big := bigDigits(v)
			return v.IsUndefined() || v.IsCallable() && !big && !isGenerator(v)
		}),
		"escaped": is(func(jinja.Value) bool { return false }),
		"filter":  is(func(v jinja.Value) bool { return filters[text(v)] != nil }),
		"test":    is(func(v jinja.Value) bool { return tests[text(v)] != nil || libraryTests[text(v)] }),
		"upper":   is(func(v jinja.Value) bool { return isCase(text(v), unicode.IsUpper, unicode.IsLower) }),
		"lower":   is(func(v jinja.Value) bool { return isCase(text(v), unicode.IsLower, unicode.IsUpper) }),
		"odd":     parity(1), "even": parity(0),
		"divisibleby": ofOther(func(r *rendering, a arguments) (jinja.Value, error) {
			v, err := arithmetic("%")(r, a)
			return jinja.NewBool(err == nil && float(v) == 0), err
		}),
		"in":     ofOther(in),
		"sameas": same,
		"gt":     comparison(">"), "greaterthan": comparison(">"), "ge": comparison(">="),
		"lt": comparison("<"), "lessthan": comparison("<"), "le": comparison("<="),
	}
}

func is(test func(jinja.Value) bool) function {
	return func(_ *rendering, a arguments) (jinja.Value, error) { return jinja.NewBool(test(a.first())), nil }
}

// ofOther makes the tests that need an argument.
func ofOther(test function) function {
	return func(r *rendering, a arguments) (jinja.Value, error) {
		if len(a.values) != 2 {
			return jinja.Undefined(), refuse("a test takes one argument, found %d", len(a.values)-1)
		}
		return test(r, a)
	}
}

func comparison(operator string) function {
	return func(r *rendering, a arguments) (jinja.Value, error) {
		return compare(r, arguments{values: []jinja.Value{jinja.NewString(operator), a.get(0, ""), a.get(1, "other")}})
	}
}

func parity(remainder float64) function {
	return func(r *rendering, a arguments) (jinja.Value, error) {
		v, err := arithmetic("%")(r, arguments{values: []jinja.Value{a.first(), jinja.NewInt(2)}})
		return jinja.NewBool(err == nil && float(v) == remainder), err
	}
}

// same tells whether two values are one object of Python. Small things that are equal are.
func same(_ *rendering, a arguments) (jinja.Value, error) {
	x, y := a.get(0, ""), a.get(1, "other")
	switch {
	case x.IsList() && y.IsList():
		return jinja.NewBool(x.AsList() == y.AsList()), nil
	case x.IsDict() && y.IsDict():
		return jinja.NewBool(x.AsDict() == y.AsDict()), nil
	case x.IsBool() != y.IsBool() || x.IsInt() != y.IsInt():
		return jinja.NewBool(false), nil
	}
	return jinja.NewBool(x.Equals(y)), nil
}

// isCase tells whether text has letters of one case and none of the other.
func isCase(s string, wanted, other func(rune) bool) bool {
	return strings.ContainsFunc(s, wanted) && !strings.ContainsFunc(s, other)
}

// passes applies a test by its name.
func (r *rendering) passes(name string, v jinja.Value, more arguments) (bool, error) {
	if test := tests[name]; test != nil {
		result, err := test(r, arguments{append([]jinja.Value{v}, more.values...), more.named})
		return result.IsTruthy(), err
	}
	switch name {
	case "defined":
		return !v.IsUndefined(), nil
	case "undefined":
		return v.IsUndefined(), nil
	case "none":
		return v.IsNone(), nil
	case "boolean":
		return v.IsBool(), nil
	case "string":
		return v.IsString(), nil
	case "float":
		return v.IsFloat(), nil
	case "true", "false":
		return v.IsBool() && v.AsBool() == (name == "true"), nil
	case "eq", "equalto", "==":
		return v.Equals(more.first()), nil
	case "ne", "!=":
		return !v.Equals(more.first()), nil
	case "<", ">", "<=", ">=":
		result, err := comparison(name)(r, arguments{append([]jinja.Value{v}, more.values...), more.named})
		return result.IsTruthy(), err
	}
	return false, refuse("there is no test %q", name)
}
