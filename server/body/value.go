package body

import (
	"bytes"
	"encoding/json/jsontext"
	"encoding/json/v2"
	"fmt"
	"strconv"
)

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
