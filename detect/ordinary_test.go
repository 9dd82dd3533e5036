package detect

import (
	"testing"

	"github.com/parlance-llm/parlance"
)

// everyday are answers that no alarm may be raised for: what people ask models for, some of it full of brackets and tags, and some
// of it about the very formats.
var everyday = map[string]string{
	"prose":            "The weather in Paris is fine: 21 °C. I'd take a coat [just in case] (really).",
	"JSON":             `{"name": "Ada", "age": 36, "arguments": ["a", "b"]}`,
	"JSON schema":      "```json\n{\"name\": \"book\", \"description\": \"A book\", \"parameters\": {\"type\": \"object\", \"properties\": {\"title\": {\"type\": \"string\"}}}}\n```",
	"JSON list":        `[{"name": "Ada", "age": 36}, {"name": "Bob"}]`,
	"JSON like a call": `{"name": "Oslo", "parameters": {"population": 700000}}`,
	"JSON like calls":  `[{"name": "a", "arguments": {"x": 1}}, {"name": "b", "arguments": {}}]`,
	"JSON of OpenAI":   `{"tool_calls": [{"type": "function", "function": {"name": "f", "arguments": "{\"a\": 1}"}}]}`,
	"JSON-RPC":         "Here is the request:\n```json\n{\"method\": \"tools/call\", \"params\": {\"name\": \"search\", \"arguments\": {\"q\": \"x\"}}}\n```",
	"Python":           "```python\nresult = search(city=\"Paris\", days=3)\nprint([f(x=1) for x in y])\n```",
	"Python list":      "[f(x=1), g(y=2)]",
	"Python modules":   "from functools import lru_cache, partial\n\nUse functools to cache.",
	"HTML":             "<!DOCTYPE html>\n<html><body><div class=\"answer\"><response>ok</response><function>f</function></div></body></html>",
	"XML":              "<functions><function name=\"sum\"><param name=\"a\">int</param></function></functions>",
	"XML in a fence":   "```xml\n<function name=\"sum\"><param name=\"a\">1</param></function>\n```",
	"answer tag":       "<answer>42</answer>",
	"Vue":              "<script setup>\nimport {x} from 'y'\n</script>\n<template><response/></template>",
	"C":                "#include <stdio.h>\nint main(void) { if (a <b && c> d) return arr[0]; }",
	"Rust":             "let v: Vec<Option<&str>> = vec![Some(\"a\")];\nfn f<T: Into<String>>(x: T) {}",
	"shell":            "if [[ $x < $y ]]; then echo \"[TOOL]\"; fi",
	"LaTeX":            "\\[ x < y \\] and \\boxed{42}",
	"SQL":              "SELECT a FROM t WHERE a < 1 AND b > 2;",
	"SVG":              "<svg><text>x</text><path d=\"M0 0\"/></svg>",
	"diff":             "```diff\n- <tool_call>\n+ <longcat_tool_call>\n```",
	"markers":          "# Markers\n\n- `<tool_call>` begins a call of Hermes\n- `</think>` closes a thought\n- `[TOOL_CALLS]` is Mistral's\n",
	"thought quoted":   "Qwen3 writes `<think>` first, then thinks, then `</think>`, then the answer.",
	"expression":       "``<think>.*?</think>`` matches the thought.",
	"thought fenced":   "It looks like this:\n\n~~~\n<think>\nHm.\n</think>\nYes.\n~~~\n\nThat is all.",
	"call fenced":      "To call a tool, the model writes:\n\n```\n<tool_call>\n{\"name\": \"search\", \"arguments\": {\"city\": \"Paris\"}}\n</tool_call>\n```\n\nThat is how Hermes does it.",
	"ChatML":           "ChatML looks so:\n```\n<|im_start|>user\nHi<|im_end|>\n<|im_start|>assistant\n```",
	"Llama turn":       "<|start_header_id|>user<|end_header_id|>\n\nHi<|eot_id|>",
	"Mistral turn":     "[INST] Hello [/INST] Hi",
	"Harmony":          "Harmony: `<|start|>assistant<|channel|>final<|message|>Hi<|end|>`",
	"template":         "{% for message in messages %}{{ '<|im_start|>' + message.role }}{% endfor %}",
	"another's tags":   "<thinking>Hmm, the user wants…</thinking>Here it is.",
	"another's call":   "```xml\n<function_calls>\n<invoke name=\"f\">\n<parameter name=\"x\">1</parameter>\n</invoke>\n</function_calls>\n```",
	"ReAct":            "Thought: I need to look.\nAction: search\nAction Input: x",
	"Granite's words":  "Here is my thought process: first add.\nHere is my response: 4",
}

// TestOrdinaryAnswersRaiseNoAlarm reads them with every parser, alone and with a reasoning parser, for a request with tools and for
// one without.
func TestOrdinaryAnswersRaiseNoAlarm(t *testing.T) {
	names := []string{""}
	for _, f := range standard().families {
		if !f.ResponseTemplate {
			names = append(names, f.ToolNames...)
		}
	}
	read := 0
	off := parlance.Request{ChatTemplateKwargs: map[string]any{"enable_thinking": false}}
	for what, text := range everyday {
		for _, tool := range names {
			for _, reasoning := range []string{"", "qwen3"} {
				if tool+reasoning == "" {
					continue
				}
				if _, err := parlance.Lookup(tool, reasoning); err != nil {
					continue // they do not go together
				}
				for _, tools := range [][]string{{"get_weather", "get_time"}, {}} {
					read++
					for _, alarm := range watchedWith(t, tools, tool, reasoning, text, off, parlance.FinishStop) {
						t.Errorf("%s, read by %q and %q: %s", what, tool, reasoning, alarm.Says)
					}
				}
			}
		}
	}
	t.Logf("%d answers read", read)
}

// TestDeclaredTools: a call counts if a tool of its name is declared, and one that stands in a fence does too.
func TestDeclaredTools(t *testing.T) {
	for _, text := range []string{
		`{"name": "get_weather", "parameters": {"city": "Oslo"}}`,
		"<tool_call>\n{\"name\": \"get_weather\", \"arguments\": {\"city\": \"Oslo\"}}\n</tool_call>",
		"```\n<tool_call>\n{\"name\": \"get_weather\", \"arguments\": {\"city\": \"Oslo\"}}\n</tool_call>\n```",
	} {
		for _, test := range []struct {
			tools []string
			want  int
		}{{nil, 1}, {[]string{"get_weather"}, 1}, {[]string{"search"}, 0}, {[]string{}, 0}} {
			if alarms := watchedWith(t, test.tools, "mistral", "", text, parlance.Request{}, parlance.FinishStop); len(alarms) != test.want {
				t.Errorf("%q with the tools %q: %v", text, test.tools, alarms)
			}
		}
	}
}

func TestWithoutCode(t *testing.T) {
	for text, want := range map[string]string{
		"no code":                 "no code",
		"a `b` c":                 "a ` ` c",
		"a ``b`c`` d":             "a ``   `` d",
		"a ` b":                   "a ` b",
		"a ` b\n\nc ` d":          "a ` b\n\nc ` d",
		"```\nx\n```\ny":          "```\n \n```\ny",
		"```go\nx\n``\n````\ny":   "```go\n \n  \n````\ny",
		"~~~\n`x`\n```\n~~~\n`y`": "~~~\n   \n   \n~~~\n` `",
		"``` a ``` b":             "```   ``` b",
		"  ```\nx":                "  ```\n ",
		"a `b\nc` d":              "a ` \n ` d",
		"a `b\n```\nc":            "a `b\n```\n ",
		"":                        "",
	} {
		if found := withoutCode(text); found != want {
			t.Errorf("%q: %q, want %q", text, found, want)
		}
	}
}
