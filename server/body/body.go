// Package body reads the JSON body of a request.
//
// Reading is lenient in what vLLM's schema layer is lenient in: unknown members are ignored, numbers and booleans may be
// written as strings. What does not fit is not told one by one: an Object gathers complaints, each with its place
// (body.tools.0.function), and Err makes one error of them all.
//
// Values are kept as they were written wherever they are only passed on, so that the order of keys and the spelling of
// numbers survive.
package body

import (
	"bytes"
	"encoding/json/jsontext"
	"encoding/json/v2"
	"errors"
	"fmt"
	"io"
	"math"
	"mime"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/parlance-llm/parlance/server/apierror"
)

// Object is a JSON object that is being read.
type Object struct {
	place      string
	members    map[string]jsontext.Value
	complaints *[]apierror.Complaint
}

// Read reads the body of a request. The error is of the kind Schema, or TooLarge for a body of more than limit bytes.
func Read(r *http.Request, limit int64) (*Object, error) {
	media, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil || media != "application/json" {
		return nil, apierror.New(apierror.Schema, "", "Unsupported Media Type: expected the content type application/json, found %q", r.Header.Get("Content-Type"))
	}
	if coding := r.Header.Get("Content-Encoding"); coding != "" && !strings.EqualFold(coding, "identity") {
		return nil, apierror.New(apierror.Schema, "", "Unsupported Media Type: expected a body that is not compressed, found the content encoding %q", coding)
	}
	data, err := io.ReadAll(http.MaxBytesReader(nil, r.Body, limit))
	if large := (*http.MaxBytesError)(nil); errors.As(err, &large) {
		return nil, apierror.New(apierror.TooLarge, "", "the body is larger than the limit of %d bytes", limit)
	}
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return nil, apierror.New(apierror.RequestTimeout, "", "the body did not arrive in time: %d bytes came, and then nothing", len(data))
	}
	if err != nil {
		return nil, apierror.New(apierror.Schema, "", "the body could not be read to its end: %v", err)
	}
	return Parse(data)
}

// lenient is how bodies are read: a repeated member counts with its last value, as in Python.
var lenient = json.JoinOptions(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))

// Parse reads the text of a body.
func Parse(data []byte) (*Object, error) {
	if !utf8.Valid(data) {
		return nil, apierror.New(apierror.Schema, "", "the body is not UTF-8")
	}
	o := &Object{place: "body", complaints: &[]apierror.Complaint{}}
	value := jsontext.Value(bytes.TrimSpace(data))
	if !value.IsValid(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true)) {
		return nil, syntaxError(value)
	}
	if value.Kind() != '{' {
		o.complain("", "expected an object", value)
		return nil, o.Err()
	}
	if err := json.Unmarshal(value, &o.members, lenient); err != nil {
		return nil, syntaxError(value)
	}
	return o, nil
}

// syntaxError says where a text stops being JSON.
func syntaxError(value jsontext.Value) error {
	var into any
	err := json.Unmarshal(value, &into, lenient)
	var syntactic *jsontext.SyntacticError
	if errors.As(err, &syntactic) {
		return apierror.Join([]apierror.Complaint{{Param: fmt.Sprintf("body.%d", syntactic.ByteOffset), Message: "JSON decode error: " + syntactic.Err.Error()}})
	}
	return apierror.Join([]apierror.Complaint{{Param: "body", Message: fmt.Sprintf("JSON decode error: %v", err)}})
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
		switch strings.ToLower(Text(value)) {
		case "1", "true", "t", "yes", "y", "on":
			truth = true
		case "0", "false", "f", "no", "n", "off":
		default:
			ok = false
		}
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

// Elements are the elements of an array as they were written.
func Elements(value jsontext.Value) ([]jsontext.Value, bool) {
	var elements []jsontext.Value
	if value.Kind() != '[' || json.Unmarshal(value, &elements, lenient) != nil {
		return nil, false
	}
	if elements == nil {
		elements = []jsontext.Value{}
	}
	return elements, true
}

// Text is the text of a JSON string. What is no character in it is U+FFFD.
func Text(value jsontext.Value) string {
	var text string
	if json.Unmarshal(value, &text, lenient) != nil {
		return ""
	}
	return text
}

// Depth is how deep a value is nested: 0 for a scalar, 1 for a flat array.
func Depth(value jsontext.Value) int {
	deepest := 0
	decoder := jsontext.NewDecoder(bytes.NewReader(value), lenient)
	for {
		if _, err := decoder.ReadToken(); err != nil {
			return deepest
		}
		deepest = max(deepest, decoder.StackDepth())
	}
}

// Summary tells of a value in a few words: it never shows much of it.
func Summary(value jsontext.Value) string {
	switch value.Kind() {
	case '{':
		var members map[string]jsontext.Value
		_ = json.Unmarshal(value, &members, lenient)
		return fmt.Sprintf("<dict of %d items>", len(members))
	case '[':
		elements, _ := Elements(value)
		return fmt.Sprintf("<list of %d items>", len(elements))
	case '"':
		if runes := []rune(Text(value)); len(runes) > 200 {
			return strconv.Quote(string(runes[:200]) + "…")
		}
		return strconv.Quote(Text(value))
	}
	return string(value)
}

// Found is Summary for a value that may be absent.
func Found(value jsontext.Value) string {
	if value == nil {
		return "nothing"
	}
	return Summary(value)
}
