package body

import (
	"encoding/json/jsontext"
	"encoding/json/v2"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/parlance-llm/parlance/server/apierror"
)

// Object is a JSON object that is being read.
type Object struct {
	place      string
	members    map[string]jsontext.Value
	complaints *[]apierror.Complaint
}

// Err is what the reading has found so far, or nil.
func (o *Object) Err() error {
	if e := apierror.Join(*o.complaints); e != nil {
		return e
	}
	return nil
}

// Complain adds a complaint about a member; "" is the object itself. found may be nil.
func (o *Object) Complain(name, message string) { o.complain(name, message, o.members[name]) }

func (o *Object) complain(name, message string, found jsontext.Value) {
	*o.complaints = append(*o.complaints, apierror.Complaint{Param: o.at(name), Message: message, Found: Summary(found)})
}

// at is the place of a member.
func (o *Object) at(name string) string {
	if name == "" {
		return o.place
	}
	return o.place + "." + name
}

// Place is where the object stands, dotted.
func (o *Object) Place() string { return o.place }

// Has tells whether a member is given, if only as null.
func (o *Object) Has(name string) bool { _, ok := o.members[name]; return ok }

// Null tells whether a member is given as null.
func (o *Object) Null(name string) bool { return o.Has(name) && o.members[name].Kind() == 'n' }

// Names are the names of the members, sorted.
func (o *Object) Names() []string {
	names := make([]string, 0, len(o.members))
	for name := range o.members {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// Raw is a member as it was written, nil if it is absent or null.
func (o *Object) Raw(name string) jsontext.Value {
	if value := o.members[name]; value.Kind() != 'n' {
		return value
	}
	return nil
}

// Require complains if a member is absent.
func (o *Object) Require(name string) bool {
	if !o.Has(name) {
		*o.complaints = append(*o.complaints, apierror.Complaint{Param: o.at(name), Message: "Field required"})
		return false
	}
	return true
}

// Need complains if a member is absent or null.
func (o *Object) Need(name string) bool {
	if !o.Require(name) {
		return false
	}
	o.NotNull(name)
	return !o.Null(name)
}

// NotNull complains if a member is null.
func (o *Object) NotNull(name string) {
	if o.Null(name) {
		o.complain(name, "expected a value", o.members[name])
	}
}

// String reads a string; nil if the member is absent or null.
func (o *Object) String(name string) *string {
	value := o.Raw(name)
	if value == nil {
		return nil
	}
	if value.Kind() != '"' {
		o.complain(name, "Input should be a valid string", value)
		return nil
	}
	text := Text(value)
	return &text
}

// Choice reads a string that is one of a few.
func (o *Object) Choice(name string, allowed ...string) *string {
	text := o.String(name)
	if text != nil && !slices.Contains(allowed, *text) {
		quoted := "'" + strings.Join(allowed, "', '") + "'"
		o.complain(name, "Input should be one of "+quoted, o.members[name])
		return nil
	}
	return text
}

// Bool reads a boolean; strings and 0 and 1 are taken as the words of Python's schema layer say.
func (o *Object) Bool(name string) *bool {
	value := o.Raw(name)
	if value == nil {
		return nil
	}
	truth, ok := false, true
	switch value.Kind() {
	case 't':
		truth = true
	case 'f':
	case '"':
		truth, ok = Truth(Text(value))
	case '0':
		number, err := strconv.ParseFloat(string(value), 64)
		truth, ok = number == 1, err == nil && (number == 0 || number == 1)
	default:
		ok = false
	}
	if !ok {
		o.complain(name, "Input should be a valid boolean", value)
		return nil
	}
	return &truth
}

// Truth reads a boolean's word, of those that Python's schema layer knows.
func Truth(word string) (truth, ok bool) {
	switch strings.ToLower(word) {
	case "1", "true", "t", "yes", "y", "on":
		return true, true
	case "0", "false", "f", "no", "n", "off":
		return false, true
	}
	return false, false
}

// Float reads a number, also one in a string.
func (o *Object) Float(name string) *float64 {
	value := o.Raw(name)
	if value == nil {
		return nil
	}
	text := string(value)
	switch value.Kind() {
	case '"':
		text = strings.TrimSpace(Text(value))
	case '0':
	case 't':
		text = "1"
	case 'f':
		text = "0"
	default:
		text = ""
	}
	number, err := strconv.ParseFloat(text, 64)
	if err != nil || math.IsNaN(number) || math.IsInf(number, 0) {
		o.complain(name, "Input should be a valid number", value)
		return nil
	}
	return &number
}

// Int reads an integer; 3.0 and "3" are integers too.
func (o *Object) Int(name string) *int64 {
	value := o.Raw(name)
	if value == nil {
		return nil
	}
	if value.Kind() == '0' {
		if number, err := strconv.ParseInt(string(value), 10, 64); err == nil {
			return &number
		}
	}
	before := len(*o.complaints)
	number := o.Float(name)
	switch {
	case number == nil:
		(*o.complaints)[before].Message = "Input should be a valid integer"
		return nil
	case *number != math.Trunc(*number) || math.Abs(*number) > 1<<53:
		o.complain(name, "Input should be a valid integer", value)
		return nil
	}
	whole := int64(*number)
	return &whole
}

// Object reads an object; nil if the member is absent or null.
func (o *Object) Object(name string) *Object {
	value := o.Raw(name)
	if value == nil {
		return nil
	}
	return o.child(o.at(name), value)
}

func (o *Object) child(place string, value jsontext.Value) *Object {
	child := &Object{place: place, complaints: o.complaints}
	if value.Kind() != '{' || json.Unmarshal(value, &child.members, lenient) != nil {
		*o.complaints = append(*o.complaints, apierror.Complaint{Param: place, Message: "Input should be a valid dictionary", Found: Summary(value)})
		return nil
	}
	return child
}

// Array reads an array and gives its elements as they were written; nil if the member is absent or null, or no array.
func (o *Object) Array(name string) []jsontext.Value {
	value := o.Raw(name)
	if value == nil {
		return nil
	}
	elements, ok := Elements(value)
	if !ok {
		o.complain(name, "Input should be a valid list", value)
		return nil
	}
	return elements
}

// Objects reads an array of objects. An element that is none has been complained of, and is nil.
func (o *Object) Objects(name string) []*Object {
	elements := o.Array(name)
	if elements == nil {
		return nil
	}
	objects := make([]*Object, len(elements))
	for i, element := range elements {
		objects[i] = o.child(o.at(name)+"."+strconv.Itoa(i), element)
	}
	return objects
}

// Strings reads an array of strings; with one also a lone string.
func (o *Object) Strings(name string, one bool) []string {
	value := o.Raw(name)
	if value != nil && one && value.Kind() == '"' {
		return []string{Text(value)}
	}
	elements := o.Array(name)
	texts := make([]string, 0, len(elements))
	for i, element := range elements {
		if element.Kind() != '"' {
			*o.complaints = append(*o.complaints, apierror.Complaint{Param: o.at(name) + "." + strconv.Itoa(i), Message: "Input should be a valid string", Found: Summary(element)})
			return nil
		}
		texts = append(texts, Text(element))
	}
	return texts
}

// Ints reads an array of integers.
func (o *Object) Ints(name string) []int {
	elements := o.Array(name)
	if elements == nil {
		return nil
	}
	numbers := make([]int, 0, len(elements))
	for i, element := range elements {
		number, err := strconv.Atoi(string(element))
		if err != nil {
			*o.complaints = append(*o.complaints, apierror.Complaint{Param: o.at(name) + "." + strconv.Itoa(i), Message: "Input should be a valid integer", Found: Summary(element)})
			return nil
		}
		numbers = append(numbers, number)
	}
	return numbers
}
