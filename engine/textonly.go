package engine

import (
	"encoding/json/jsontext"
	"encoding/json/v2"
	"fmt"
	"strings"
)

// textOnly refuses a conversation with images, sound or films: the engine would render it, and the prompt that is sent
// afterwards is text, which holds none of them.
func textOnly(engine string, messages jsontext.Value) error {
	var list []struct {
		Content jsontext.Value `json:"content"`
	}
	if json.Unmarshal(messages, &list, lenient) != nil {
		return nil // the engine says what is wrong
	}
	for i, message := range list {
		var parts []jsontext.Value
		if message.Content.Kind() != '[' || json.Unmarshal(message.Content, &parts, lenient) != nil {
			continue
		}
		for k, part := range parts {
			var of struct {
				Type jsontext.Value `json:"type"`
			}
			if part.Kind() != '{' || json.Unmarshal(part, &of, lenient) != nil {
				continue
			}
			kind := wholeText(of.Type)
			for _, medium := range []string{"image", "audio", "video"} {
				if strings.Contains(kind, medium) {
					return unsupported(engine, "apply template", fmt.Sprintf("messages.%d.content.%d.type", i, k), fmt.Sprintf("expected a part of text, found %q: prompts are sent to the engine as text", kind))
				}
			}
		}
	}
	return nil
}
