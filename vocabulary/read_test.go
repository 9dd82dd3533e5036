package vocabulary_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/parlance-llm/parlance/vocabulary"
)

// TestBrokenFiles: what is wrong with a tokenizer's file is told with its place, in the words of JSON.
func TestBrokenFiles(t *testing.T) {
	for _, c := range []struct{ file, text, says string }{
		{"tokenizer.json", `{`, "expected JSON: it ends too early"},
		{"tokenizer.json", `[]`, "expected an object, found an array"},
		{"tokenizer.json", `{"added_tokens":3}`, "added_tokens: expected an array, found a number"},
		{"tokenizer.json", `{"added_tokens":[{"id":1,"content":"a"},{"id":"x","content":"a"}]}`, "added_tokens[1].id: expected a number, found a string"},
		{"tokenizer.json", `{"model":{"vocab":[3]}}`, "model.vocab: expected pairs of a piece and a number: [0]: expected an array, found a number"},
		{"tokenizer_config.json", `{"added_tokens_decoder":[]}`, "added_tokens_decoder: expected an object, found an array"},
		{"tokenizer_config.json", `{"added_tokens_decoder":{"1":{"content":3}}}`, "expected a string, found a number"},
		{"tokenizer_config.json", `{"added_tokens_decoder":{"x":{"content":"a"}}}`, `expected the number of a token, found "x"`},
		{"added_tokens.json", `{"a":"b"}`, "a: expected a number, found a string"},
		{"tekken.json", `{"special_tokens":{}}`, "special_tokens: expected an array, found an object"},
	} {
		folder := t.TempDir()
		if err := os.WriteFile(filepath.Join(folder, c.file), []byte(c.text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := vocabulary.Load(folder); err == nil || !strings.Contains(err.Error(), c.file) || !strings.Contains(err.Error(), c.says) || strings.Contains(err.Error(), "Go ") {
			t.Errorf("%s: %s: expected %q, found %v", c.file, c.text, c.says, err)
		}
	}
	if _, err := vocabulary.Load(t.TempDir()); err == nil || !strings.Contains(err.Error(), "expected tokenizer.json") {
		t.Errorf("an empty folder: %v", err)
	}
}
