package cli

import (
	"encoding/json/v2"
	"slices"
	"testing"

	"github.com/parlance-llm/parlance"
)

func TestFormats(t *testing.T) {
	contains(t, good(t, "", "formats"), "FORMAT", "\nhermes ", "qwen3_coder, qwen3_xml")
	contains(t, good(t, "", "formats", "qwen3_xml"), "── qwen3_coder ──", "XML parameters", "thinking, qwen3", "enable_thinking=false",
		`"<tool_call>"             one token`, `block     = "<tool_call>"`)
	contains(t, good(t, "", "formats", "longcat"), "differs from that of hermes", "is spelled", "── grammar of hermes ──", "── tool results ──", "(not known: the results have a turn of their own")
	contains(t, good(t, "", "formats", "granite4"), "── tool results ──", `"\n<tool_response>\n" @content`)
}

func TestFormatsJSON(t *testing.T) {
	var list []map[string]any
	if err := json.Unmarshal([]byte(good(t, "", "formats", "--json")), &list); err != nil {
		t.Fatal(err)
	}
	var tools, reasoning []string
	for _, format := range list {
		for _, key := range []string{"name", "title", "tool_names", "reasoning_names", "models", "grammar", "markers"} {
			if _, ok := format[key]; !ok {
				t.Errorf("%v has no %s", format["name"], key)
			}
		}
		for _, name := range format["tool_names"].([]any) {
			tools = append(tools, name.(string))
		}
		for _, name := range format["reasoning_names"].([]any) {
			reasoning = append(reasoning, name.(string))
		}
	}
	slices.Sort(tools)
	slices.Sort(reasoning)
	if !slices.Equal(slices.Compact(tools), parlance.ToolNames()) || !slices.Equal(slices.Compact(reasoning), parlance.ReasoningNames()) {
		t.Errorf("the names are not those of the library: %v %v", tools, reasoning)
	}
	var one map[string]any
	if err := json.Unmarshal([]byte(good(t, "", "formats", "--json", "hermes")), &one); err != nil || one["name"] != "hermes" {
		t.Errorf("%v %v", one, err)
	}
}
