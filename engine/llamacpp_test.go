package engine

import (
	"encoding/json/jsontext"
	"net/http"
	"strings"
	"testing"
)

// TestToolsWithoutDescription: llama.cpp refuses a description that is null. What a tool says goes to the template in its
// order.
func TestToolsWithoutDescription(t *testing.T) {
	s := newFakeServer(t, map[string]http.HandlerFunc{"/apply-template": answering(`{"prompt": "p"}`)})
	e, err := Open("llamacpp", Options{URL: s.URL})
	if err != nil {
		t.Fatal(err)
	}
	const tools = `[{"type": "function", "function": {"name": "f", "description": null, "parameters": {"z": null, "b": 1.50, "a": 2}}}]`
	if _, err := e.ApplyTemplate(t.Context(), &Conversation{Messages: jsontext.Value(`[{"role": "user", "content": "hm"}]`), Tools: jsontext.Value(tools)}); err != nil {
		t.Fatal(err)
	}
	body := strings.ReplaceAll(s.body("/apply-template"), " ", "")
	if want := `[{"type":"function","function":{"name":"f","parameters":{"z":null,"b":1.50,"a":2}}}]`; !strings.Contains(body, want) {
		t.Errorf("expected %s in %s", want, body)
	}
}
