package content

import (
	"encoding/json/jsontext"
	"strings"
	"testing"
)

func TestText(t *testing.T) {
	for content, want := range map[string]string{
		`"a\u00e9"`: "aé", `null`: "", ``: "", `[]`: "", `["a","b"]`: "ab",
		`[{"type":"text","text":"a"},{"type":"output_text","text":"b"},{"type":"input_text","text":"c"},{"type":"refusal","refusal":"d"}]`: "abcd",
		`"\ud800"`: "\ufffd", `[{"type":"text","text":"a","text":"b"}]`: "b",
	} {
		if found, err := Text(jsontext.Value(content)); found != want || err != nil {
			t.Errorf("%s: expected %q, found %q, %v", content, want, found, err)
		}
	}
	for content, says := range map[string]string{
		`3`: "expected text or a list of parts, found 3", `{}`: "expected text", `[3]`: "part 0: expected an object, found 3", `["a",{}]`: `part 1: expected text, found ""`,
		`[{"type":"image_url","image_url":{"url":"x"}}]`: `part 0: expected text, found "image_url"`, `[{"type":"text"}]`: `expected a text in "text"`, `[{"type":3,"text":"a"}]`: "expected text",
	} {
		if found, err := Text(jsontext.Value(content)); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: expected an error with %q, found %q, %v", content, says, found, err)
		}
	}
}
