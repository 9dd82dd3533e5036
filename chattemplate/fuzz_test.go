package chattemplate

import (
	"bufio"
	"encoding/json"
	"errors"
	"os"
	"testing"
)

// FuzzTemplate holds that no template, whatever is in it, panics or runs for long: it is read or a *SyntaxError, and it
// renders or is a *RenderError.
func FuzzTemplate(f *testing.F) {
	for _, path := range []string{"testdata/snippets.jsonl", "testdata/expressions.jsonl"} {
		file, err := os.Open(path)
		if err != nil {
			f.Fatal(err)
		}
		lines := bufio.NewScanner(file)
		lines.Buffer(nil, 1<<20)
		for lines.Scan() {
			var snippet struct{ Template string }
			if err := json.Unmarshal(lines.Bytes(), &snippet); err != nil {
				f.Fatal(err)
			}
			f.Add(snippet.Template)
		}
		file.Close()
	}
	request := Request{
		Messages:  []byte(`[{"role": "user", "content": "q"}, {"role": "assistant", "content": null, "tool_calls": [{"function": {"name": "f", "arguments": {"a": 1, "b": [true, 2.5]}}}]}]`),
		Tools:     []byte(`[{"type": "function", "function": {"name": "f", "parameters": {}}}]`),
		Variables: []byte(`{"d": {"a": {"b": [1, null]}}, "l": ["c", "a"], "s": "x a b", "n": 3, "big": 12345678901234567890}`),
		Now:       moment,
	}
	f.Fuzz(func(t *testing.T, source string) {
		template, err := Parse("fuzz", source, WithLimits(Limits{Source: 4096, Steps: 10_000, Output: 1 << 20}))
		if err != nil {
			if syntax := (*SyntaxError)(nil); !errors.As(err, &syntax) || syntax.Line < 1 {
				t.Fatalf("expected a syntax error with a line, found %v", err)
			}
			return
		}
		if _, err := template.Render(request); err != nil {
			known := (*RenderError)(nil)
			if !errors.As(err, &known) {
				t.Fatalf("expected a render error, found %v", err)
			}
			if known.Reason == Failed {
				t.Fatalf("it failed: %v", err)
			}
		}
	})
}
