package server_test

import (
	"bufio"
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// wire asks the playground for what an interface sends for a text.
func wire(t *testing.T, url string, question map[string]any) (events []string) {
	t.Helper()
	data, err := json.Marshal(question)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := http.Post(url+"/playground/api/read", "application/json", strings.NewReader(string(data)))
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	scanner := bufio.NewScanner(answer.Body)
	scanner.Buffer(nil, 1<<20)
	for scanner.Scan() {
		var line struct {
			Error string `json:"error"`
			Steps []struct {
				Wire string `json:"wire"`
			} `json:"steps"`
		}
		if err := json.Unmarshal(scanner.Bytes(), &line); err != nil || line.Error != "" {
			t.Fatal(err, line.Error)
		}
		for _, step := range line.Steps {
			for event := range strings.SplitSeq(step.Wire, "\n\n") {
				if _, data, found := strings.Cut(event, "data: "); found {
					events = append(events, data)
				}
			}
		}
	}
	return events
}

// TestPlaygroundShowsTheWire: what the playground shows of an interface is what the interface sends, in its own shape,
// whether or not tools are given and however the text is cut.
func TestPlaygroundShowsTheWire(t *testing.T) {
	url := serve(t, "--playground")
	text := "<think>hm</think>Hi.<tool_call>\n{\"name\": \"add\", \"arguments\": {\"a\": 1, \"b\": \"é😀\"}}\n</tool_call>"
	tools := []any{map[string]any{"type": "function", "function": map[string]any{"name": "add", "description": "adds", "parameters": map[string]any{"type": "object"}}}}
	type event struct {
		Type    string
		Choices []struct {
			Delta struct {
				Reasoning, Content string
				ToolCalls          []struct {
					Function struct{ Name, Arguments string }
				} `json:"tool_calls"`
			}
			FinishReason string `json:"finish_reason"`
		}
		Delta        json.RawMessage
		Item         struct{ Name string }
		ContentBlock struct{ Name string } `json:"content_block"`
	}
	for _, surface := range []string{"chat", "responses", "messages"} {
		for _, given := range []any{nil, tools} {
			for _, chunk := range []int{0, 1, 7} {
				var reasoning, content, name, arguments, ends string
				for _, data := range wire(t, url, map[string]any{"text": text, "tool_parser": "hermes", "reasoning_parser": "qwen3", "tools": given, "chunk": chunk, "surface": surface}) {
					if data == "[DONE]" {
						ends += data
						continue
					}
					var e event
					if err := json.Unmarshal([]byte(data), &e); err != nil {
						t.Fatal(err, data)
					}
					for _, c := range e.Choices {
						reasoning, content, ends = reasoning+c.Delta.Reasoning, content+c.Delta.Content, ends+c.FinishReason
						for _, call := range c.Delta.ToolCalls {
							name, arguments = name+call.Function.Name, arguments+call.Function.Arguments
						}
					}
					var delta string
					var typed struct {
						Text, Thinking string
						Partial        string `json:"partial_json"`
						Stop           string `json:"stop_reason"`
					}
					switch json.Unmarshal(e.Delta, &delta); e.Type {
					case "response.reasoning_text.delta":
						reasoning += delta
					case "response.output_text.delta":
						content += delta
					case "response.function_call_arguments.delta":
						arguments += delta
					case "response.output_item.added":
						name += e.Item.Name
					case "response.completed", "message_stop":
						ends += e.Type
					case "content_block_start":
						name += e.ContentBlock.Name
					case "content_block_delta", "message_delta":
						if err := json.Unmarshal(e.Delta, &typed); err != nil {
							t.Fatal(err, data)
						}
						reasoning, content, arguments, ends = reasoning+typed.Thinking, content+typed.Text, arguments+typed.Partial, ends+typed.Stop
					}
				}
				end := map[string]string{"chat": "tool_calls[DONE]", "responses": "response.completed", "messages": "tool_usemessage_stop"}[surface]
				if reasoning != "hm" || content != "Hi." || name != "add" || arguments != `{"a": 1, "b": "é😀"}` || ends != end {
					t.Errorf("%s, chunk %d, tools %v: reasoning %q, content %q, %s(%s), ends %q", surface, chunk, given != nil, reasoning, content, name, arguments, ends)
				}
			}
		}
	}
}

// TestPlaygroundShowsTokens: with a tokenizer's files the special tokens of a text are known.
func TestPlaygroundShowsTokens(t *testing.T) {
	folder := t.TempDir()
	if err := os.WriteFile(filepath.Join(folder, "tokenizer_config.json"), []byte(`{"added_tokens_decoder":{"7":{"content":"<think>"}}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		flags  []string
		status int
		says   string
	}{
		{[]string{"--tokenizer", folder}, http.StatusOK, `{"tokens":[[2,-1],[9,7],[10,-1]]}`},
		{nil, http.StatusNotFound, "--tokenizer"},
	} {
		answer, err := http.Post(serve(t, append(test.flags, "--playground")...)+"/playground/api/tokens", "application/json", strings.NewReader(`{"text": "😀<think>a"}`))
		if err != nil {
			t.Fatal(err)
		}
		var data json.RawMessage
		if err := json.NewDecoder(answer.Body).Decode(&data); err != nil || answer.StatusCode != test.status || !strings.Contains(string(data), test.says) {
			t.Errorf("%v: %d %s %v", test.flags, answer.StatusCode, data, err)
		}
		answer.Body.Close()
	}
}
