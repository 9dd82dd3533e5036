// Package responsetemplate reads response templates: descriptions of a wire format that come with a checkpoint, in its
// tokenizer's configuration, and say by literals and regular expressions where the regions of a message begin and end
// and how the text of a region becomes a value.
//
// A template is checked whole when it is read, and turned into a definition of the notation, so that the same machine
// reads it as reads every other format, with the same promises. What cannot be said there is refused with the field and
// the construct at fault.
//
// The words: a *field* is one of thinking, content and tool_calls. A *region* is a stretch of text from an opener of a
// field to its closer; regions do not nest. The *implicit field* is the one without an opener: all text outside the
// regions is its. The *content parser* of a field makes a value of a region's text, the *transform* shapes the value.
package responsetemplate

import (
	"encoding/json/jsontext"
	"fmt"
	"regexp"

	"github.com/parlance-llm/parlance/internal/pattern"
)

// Error says what is wrong with a template.
type Error struct {
	// Field is the field at fault, "" for the template itself.
	Field   string
	Message string
}

func (e *Error) Error() string {
	if e.Field == "" {
		return e.Message
	}
	return fmt.Sprintf("field '%s': %s", e.Field, e.Message)
}

// Template is a template that has been read. It is immutable.
type Template struct {
	// anchors find where the message of the model begins in a prompt.
	anchors *regexp.Regexp
	// anchorTexts are the anchors, if they are literals.
	anchorTexts []string
	fields      map[string]*field
}

// The fields that are served.
const (
	thinking  = "thinking"
	content   = "content"
	toolCalls = "tool_calls"
)

var served = []string{thinking, content, toolCalls}

// Has tells whether the template has a field that holds reasoning, or tool calls.
func (t *Template) Has(reasoning bool) bool {
	if reasoning {
		return t.fields[thinking] != nil
	}
	return t.fields[toolCalls] != nil
}

// Begin gives the place in a prompt behind the last start anchor, where the message of the model begins, or -1. real tells
// whether what looks like an anchor at a place is one; nil means that everything is.
func (t *Template) Begin(prompt string, real func(at int, anchor string) bool) int {
	last := -1
	for _, at := range t.anchors.FindAllStringIndex(prompt, -1) {
		if real == nil || real(at[0], prompt[at[0]:at[1]]) {
			last = at[1]
		}
	}
	return last
}

type field struct {
	name  string
	open  delimiter
	close delimiter
	// parser is the name of the content parser.
	parser    string
	arguments arguments
	repeats   bool
	// transform is nil if there is none.
	transform jsontext.Value
	each      bool
}

// delimiter is what opens or closes a region: literals, or a regular expression, or nothing.
type delimiter struct {
	key        string // as the template has it
	literals   []string
	expression *pattern.Expression
}

func (d *delimiter) given() bool { return d.key != "" }

// groups are the names of the groups that a delimiter captures.
func (d *delimiter) groups() []string {
	if d.expression == nil {
		return nil
	}
	return d.expression.Names()
}

// arguments are the arguments of a content parser.
type arguments struct {
	strip, unquotedKeys, allowNonJSON, mergeDuplicates bool
	stringDelimiters                                   [][2]string
	tag                                                *pattern.Expression
	lineSeparator, keySeparator                        string
	value                                              *valueParser
}

// valueParser makes a value of the text of one parameter.
type valueParser struct {
	name      string
	arguments arguments
}
