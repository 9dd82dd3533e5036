// Package content reads the content of a message as the interfaces of OpenAI have it: a text, nothing, or a list of parts.
package content

import (
	"encoding/json/jsontext"
	"encoding/json/v2"
	"fmt"
	"strings"
)

// TextParts are the types of parts that are text, with the member that holds it.
var TextParts = map[string]string{"text": "text", "input_text": "text", "output_text": "text", "refusal": "refusal"}

var lenient = json.JoinOptions(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))

// Text is the text of a content; parts follow one another with nothing between them. A part may be a text itself. The error
// tells of a part that is no text, such as an image, and of what is no content.
func Text(content jsontext.Value) (string, error) {
	switch content.Kind() {
	case 'n', 0:
		return "", nil
	case '"':
		var text string
		err := json.Unmarshal(content, &text, lenient)
		return text, err
	case '[':
		var parts []jsontext.Value
		if err := json.Unmarshal(content, &parts, lenient); err != nil {
			return "", err
		}
		var out strings.Builder
		for i, part := range parts {
			text, err := partText(part)
			if err != nil {
				return "", fmt.Errorf("part %d: %w", i, err)
			}
			out.WriteString(text)
		}
		return out.String(), nil
	}
	return "", fmt.Errorf("expected text or a list of parts, found %s", content)
}

func partText(part jsontext.Value) (string, error) {
	if part.Kind() == '"' {
		return Text(part)
	}
	var members map[string]jsontext.Value
	if part.Kind() != '{' {
		return "", fmt.Errorf("expected an object, found %s", part)
	}
	if err := json.Unmarshal(part, &members, lenient); err != nil {
		return "", err
	}
	var kind string
	if given := members["type"]; given.Kind() == '"' {
		if err := json.Unmarshal(given, &kind, lenient); err != nil {
			return "", err
		}
	}
	member, ok := TextParts[kind]
	if !ok {
		return "", fmt.Errorf("expected text, found %q", kind)
	}
	if members[member].Kind() != '"' {
		return "", fmt.Errorf("expected a text in %q", member)
	}
	return Text(members[member])
}
