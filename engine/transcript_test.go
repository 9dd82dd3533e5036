package engine

import (
	"encoding/json/jsontext"
	"errors"
	"net/http"
	"strings"
	"testing"
)

// TestOnlyTextBecomesText: an image is not lost on the way into a prompt of text, but refused, with its place.
func TestOnlyTextBecomesText(t *testing.T) {
	recordings, err := Open("replay", Options{})
	if err != nil {
		t.Fatal(err)
	}
	ollama, _ := routes(t, "ollama", Options{Model: "m"}, map[string]http.HandlerFunc{"/api/chat": answering(`{"_debug_info":{"rendered_template":"seen"}}`)})
	for _, e := range []Engine{recordings, ollama} {
		for part, param := range map[string]string{
			`{"type":"image_url","image_url":{"url":"data:image/png;base64,AAAA"}}`: "messages.1.content.1.type",
			`{"type":"file","file":{"file_id":"x"}}`:                                "messages", `{"type":"text"}`: "messages", `{}`: "messages", `3`: "messages",
		} {
			messages := `[{"role":"user","content":"Hi"},{"role":"user","content":[{"type":"text","text":"a"},` + part + `]}]`
			_, err := e.ApplyTemplate(t.Context(), &Conversation{Messages: jsontext.Value(messages)})
			refused, ok := errors.AsType[*Error](err)
			if !ok || refused.HTTPStatus() != http.StatusBadRequest || refused.Param != param || !strings.Contains(refused.Message, "expected") ||
				param == "messages" && !strings.Contains(refused.Message, "messages.1.content: part 1: ") {
				t.Errorf("%s, %s: found %+v", e.Name(), part, err)
			}
		}
		if _, err := e.ApplyTemplate(t.Context(), &Conversation{Messages: jsontext.Value(`[{"role":"user","content":[{"type":"text","text":"a"},"b"]}]`)}); err != nil {
			t.Errorf("%s: %v", e.Name(), err)
		}
	}
}
