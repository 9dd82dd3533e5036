package chattemplate

import (
	"bufio"
	"encoding/json"
	"os"
	"testing"
	"time"
)

// moment is when the expectations were made.
var moment = time.Date(2026, 3, 4, 9, 5, 7, 0, time.UTC)

// TestSnippets renders small templates and compares with what transformers printed: one feature each in snippets.jsonl,
// operators, filters, tests and methods put together at random in expressions.jsonl.
func TestSnippets(t *testing.T) {
	for _, name := range []string{"snippets.jsonl", "expressions.jsonl"} {
		t.Run(name, func(t *testing.T) { snippets(t, "testdata/"+name) })
	}
}

func snippets(t *testing.T, path string) {
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 1<<20)
	var head struct{ Variables json.RawMessage }
	if lines.Scan(); json.Unmarshal(lines.Bytes(), &head) != nil || head.Variables == nil {
		t.Fatal("expected the variables in the first line")
	}
	n := 0
	for lines.Scan() {
		var snippet struct{ Template, Prompt, Refused string }
		if err := json.Unmarshal(lines.Bytes(), &snippet); err != nil {
			t.Fatal(err)
		}
		n++
		prompt, err := "", error(nil)
		template, err := Parse("snippet", snippet.Template)
		if err == nil {
			prompt, err = template.Render(Request{Messages: []byte("[]"), Variables: head.Variables, Now: moment})
		}
		switch {
		case snippet.Refused != "" && err == nil:
			t.Errorf("%s\nprinted %q, expected it to be refused: %s", snippet.Template, prompt, snippet.Refused)
		case snippet.Refused == "" && err != nil:
			t.Errorf("%s\nwas refused: %v\nexpected %q", snippet.Template, err, snippet.Prompt)
		case prompt != snippet.Prompt:
			t.Errorf("%s\nexpected %q\nprinted  %q", snippet.Template, snippet.Prompt, prompt)
		}
	}
	if n < 100 {
		t.Errorf("expected some hundred snippets, found %d", n)
	}
}
