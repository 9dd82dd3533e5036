package chattemplate

import (
	"math"
	"strings"

	"github.com/ardanlabs/jinja"
)

// operatorFunctions are what the writer calls for operators, accesses and tags.
func operatorFunctions() map[string]function {
	return map[string]function{
		"__add": add, "__subtract": arithmetic("-"), "__multiply": multiply, "__divide": arithmetic("/"),
		"__floordivide": arithmetic("//"), "__modulo": modulo, "__power": arithmetic("**"), "__concat": concat,
		"__negative": negative, "__positive": positive, "__compare": compare, "__in": in, "__print": printed,
		"__present": present, "__attribute": attribute, "__item": item, "__slice": slice, "__constantslice": constantSlice, "__integer": bigInteger,
		"__each": each, "__pairs": pairs, "__unpack": unpack, "__assign": assign, "__enter": enter, "__leave": leave, "__line": line, "__down": down, "__up": up,
		"__dict": dict, "__made": made,
		"__refuse": func(_ *rendering, a arguments) (jinja.Value, error) {
			return jinja.Undefined(), refuse("%s", a.first().AsString())
		},
	}
}

// isNumber tells what Python computes with; true and false are numbers there.
func isNumber(v jinja.Value) bool { return v.IsNumber() || v.IsBool() }

func isInteger(v jinja.Value) bool { return v.IsInt() || v.IsBool() }

func integer(v jinja.Value) int64 {
	switch {
	case v.IsInt():
		return v.AsInt()
	case v.IsBool() && v.AsBool():
		return 1
	}
	return 0
}

func float(v jinja.Value) float64 {
	if v.IsFloat() {
		return v.AsFloat()
	}
	return float64(integer(v))
}

// add adds all its arguments, from the left.
func add(r *rendering, a arguments) (jinja.Value, error) {
	size := 0
	for _, v := range a.values {
		if !v.IsString() {
			return addMixed(r, a.values)
		}
		size += len(v.AsString())
	}
	if err := r.make(size); err != nil {
		return jinja.Undefined(), err
	}
	var out strings.Builder
	out.Grow(size)
	for _, v := range a.values {
		out.WriteString(v.AsString())
	}
	return jinja.NewString(out.String()), nil
}

func addMixed(r *rendering, values []jinja.Value) (sum jinja.Value, err error) {
	sum = values[0]
	for _, v := range values[1:] {
		switch {
		case sum.IsString() && v.IsString():
			sum, err = r.text(sum.AsString() + v.AsString())
		case sum.IsList() && v.IsList() && isTuple(sum) == isTuple(v):
			items := append(append(make([]jinja.Value, 0, sum.AsList().Len()+v.AsList().Len()), sum.AsList().Items...), v.AsList().Items...)
			if err = r.makeItems(len(items)); isTuple(sum) {
				sum = tuple(items)
			} else {
				sum = jinja.NewList(items)
			}
		case isInteger(sum) && isInteger(v):
			sum = jinja.NewInt(integer(sum) + integer(v))
		case isNumber(sum) && isNumber(v):
			sum = jinja.NewFloat(float(sum) + float(v))
		default:
			sum, err = r.refuse(jinja.NewString(text(sum)+text(v)), "cannot add %s to %s", kind(v), kind(sum))
		}
		if err != nil {
			return jinja.Undefined(), err
		}
	}
	return sum, nil
}

// concat joins its arguments as text.
func concat(r *rendering, a arguments) (jinja.Value, error) {
	parts := make([]string, len(a.values))
	size := 0
	for i, v := range a.values {
		parts[i] = text(v)
		size += len(parts[i])
	}
	return jinja.NewString(strings.Join(parts, "")), r.make(size)
}

func multiply(r *rendering, a arguments) (jinja.Value, error) {
	left, right := a.values[0], a.values[1]
	if isInteger(left) && (right.IsString() || right.IsList()) {
		left, right = right, left
	}
	if !isInteger(right) || !left.IsString() && !left.IsList() {
		return arithmetic("*")(r, a)
	}
	times := int(max(integer(right), 0))
	size := 0
	if left.IsString() {
		size = len(left.AsString())
	} else {
		size = left.AsList().Len() * valueSize
	}
	if size > 0 && times > r.limits.Output/size {
		return jinja.Undefined(), r.make(math.MaxInt32)
	}
	if err := r.make(size * times); err != nil {
		return jinja.Undefined(), err
	}
	if left.IsString() {
		return jinja.NewString(strings.Repeat(left.AsString(), times)), nil
	}
	items := make([]jinja.Value, 0, left.AsList().Len()*times)
	for range times {
		items = append(items, left.AsList().Items...)
	}
	if isTuple(left) {
		return tuple(items), nil
	}
	return jinja.NewList(items), nil
}

func modulo(r *rendering, a arguments) (jinja.Value, error) {
	if left := a.values[0]; left.IsString() {
		values := []jinja.Value{a.values[1]}
		if isTuple(a.values[1]) {
			values = a.values[1].AsList().Items
		}
		return percentFormat(r, left.AsString(), values, a.values[1])
	}
	return arithmetic("%")(r, a)
}

// arithmetic computes with two numbers as Python does.
func arithmetic(operator string) function {
	return func(r *rendering, a arguments) (jinja.Value, error) {
		left, right := a.values[0], a.values[1]
		if !isNumber(left) || !isNumber(right) {
			return r.refuse(jinja.NewInt(0), "cannot compute %s %s %s", kind(left), operator, kind(right))
		}
		if (operator == "/" || operator == "//" || operator == "%") && float(right) == 0 {
			return r.refuse(jinja.NewInt(0), "division by zero")
		}
		if isInteger(left) && isInteger(right) && operator != "/" {
			if v, ok := integers(operator, integer(left), integer(right)); ok {
				return jinja.NewInt(v), nil
			}
		}
		x, y := float(left), float(right)
		switch operator {
		case "-":
			return jinja.NewFloat(x - y), nil
		case "*":
			return jinja.NewFloat(x * y), nil
		case "/":
			return jinja.NewFloat(x / y), nil
		case "//":
			return jinja.NewFloat(math.Floor(x / y)), nil
		case "**":
			return jinja.NewFloat(math.Pow(x, y)), nil
		}
		remainder := math.Mod(x, y)
		if remainder != 0 && (remainder < 0) != (y < 0) {
			remainder += y
		}
		return jinja.NewFloat(remainder), nil
	}
}

// integers computes with integers; it says no where the result is a float.
func integers(operator string, x, y int64) (int64, bool) {
	switch operator {
	case "-":
		return x - y, true
	case "*":
		return x * y, true
	case "//", "%":
		quotient, remainder := x/y, x%y
		if remainder != 0 && (remainder < 0) != (y < 0) {
			quotient, remainder = quotient-1, remainder+y
		}
		if operator == "//" {
			return quotient, true
		}
		return remainder, true
	case "**":
		if y < 0 || math.Abs(math.Pow(float64(x), float64(y))) >= 1<<62 {
			return 0, false
		}
		power := int64(1)
		for ; y > 0; y-- {
			power *= x
		}
		return power, true
	}
	return 0, false
}

func negative(r *rendering, a arguments) (jinja.Value, error) {
	switch v := a.first(); {
	case isInteger(v):
		return jinja.NewInt(-integer(v)), nil
	case v.IsFloat():
		return jinja.NewFloat(-v.AsFloat()), nil
	default:
		return r.refuse(jinja.NewInt(0), "cannot negate %s", kind(v))
	}
}

func positive(r *rendering, a arguments) (jinja.Value, error) {
	switch v := a.first(); {
	case isInteger(v):
		return jinja.NewInt(integer(v)), nil
	case v.IsFloat():
		return v, nil
	default:
		return r.refuse(v, "cannot take %s for a number", kind(v))
	}
}

// compare orders two values.
func compare(r *rendering, a arguments) (jinja.Value, error) {
	order, ok := ordered(a.values[1], a.values[2])
	if !ok {
		return r.refuse(jinja.NewBool(false), "cannot compare %s with %s", kind(a.values[1]), kind(a.values[2]))
	}
	yes := false
	switch a.values[0].AsString() {
	case "<":
		yes = order < 0
	case ">":
		yes = order > 0
	case "<=":
		yes = order <= 0
	case ">=":
		yes = order >= 0
	}
	return jinja.NewBool(yes), nil
}

// ordered orders two numbers, texts or lists; nothing else has an order.
func ordered(x, y jinja.Value) (order int, ok bool) {
	switch {
	case isInteger(x) && isInteger(y):
		return int(min(max(integer(x)-integer(y), -1), 1)), true
	case isNumber(x) && isNumber(y):
		switch left, right := float(x), float(y); {
		case left < right:
			return -1, true
		case left > right:
			return 1, true
		}
		return 0, true
	case x.IsString() && y.IsString():
		return strings.Compare(x.AsString(), y.AsString()), true
	case x.IsList() && y.IsList() && isTuple(x) == isTuple(y):
		left, right := x.AsList().Items, y.AsList().Items
		for i := range min(len(left), len(right)) {
			if !left[i].Equals(right[i]) {
				return ordered(left[i], right[i])
			}
		}
		return len(left) - len(right), true
	}
	return 0, false
}

// in tells whether something is in a container.
func in(r *rendering, a arguments) (jinja.Value, error) {
	wanted, container := a.values[0], a.values[1]
	switch {
	case container.IsString():
		if !wanted.IsString() {
			return r.refuse(jinja.NewBool(false), "cannot look for %s in text", kind(wanted))
		}
		return jinja.NewBool(strings.Contains(container.AsString(), wanted.AsString())), nil
	case container.IsDict():
		if wanted.IsList() && !isTuple(wanted) || wanted.IsDict() {
			return r.refuse(jinja.NewBool(false), "cannot look for %s among the keys of a mapping", kind(wanted))
		}
		return jinja.NewBool(container.AsDict().Has(keyOf(wanted))), nil
	case container.IsList():
		for _, v := range container.AsList().Items {
			if v.Equals(wanted) {
				return jinja.NewBool(true), nil
			}
		}
		return jinja.NewBool(false), nil
	case container.IsUndefined():
		return jinja.NewBool(false), nil
	case isGenerator(container):
		return in(r, arguments{values: []jinja.Value{wanted, jinja.NewList(items(container))}})
	}
	return r.refuse(jinja.NewBool(false), "cannot look for anything in %s", kind(container))
}

// made lets through a list or mapping that the template writes, and counts what is in it.
func made(r *rendering, a arguments) (jinja.Value, error) { return a.first(), r.nested(a.first()) }

// printed is what a value prints.
func printed(r *rendering, a arguments) (jinja.Value, error) { return r.text(text(a.first())) }
