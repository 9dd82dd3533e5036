package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func checkFolder(t *testing.T) string {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"tools.json": `{"std": [{"type": "function", "function": {"name": "f", "parameters": {"properties": {"n": {"type": "integer"}}}}}]}`,
		"a.json": `[
 {"id": "a/good", "text": "Hi. <tool_call>\n<function=f>\n<parameter=n>\n7\n</parameter>\n</function>\n</tool_call>", "tool_parser": "qwen3_coder", "tools": "std",
  "want": {"content": "Hi.", "tool_calls": [{"name": "f", "arguments": {"n": 7.0}}]}},
 {"id": "a/bad", "why": "to see a failure", "text": "plain", "tool_parser": "hermes", "want": {"content": "plane"}}]`,
		"b.json": `[{"id": "b/unknown", "text": "x", "tool_parser": "nobody", "want": {}},
 {"id": "b/good", "text": "a</think>b", "tool_parser": null, "reasoning_parser": "qwen3", "want": {"reasoning": "a", "content": "b", "tool_calls": []}}]`,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestCheck(t *testing.T) {
	dir := checkFolder(t)
	// The test binary is `parlance batch` too, so that the library can be asked through another process.
	t.Setenv("PARLANCE_MAIN", "1")
	for _, more := range [][]string{nil, {"--command", "'" + os.Args[0] + "' batch 2>/dev/null"}} {
		o := run(t, "", append([]string{"check", dir}, more...)...)
		if o.status != 1 || o.complaints != "" {
			t.Errorf("status %d, %s", o.status, o.complaints)
		}
		contains(t, o.out, "FAIL a/bad  (", "why       to see a failure\n", "failed    whole, and in all ", "\n  content\n    expected  \"plane\"\n    found     \"plain\"\n",
			"FAIL b/unknown  (", "invalid tool call parser: nobody")
		if !strings.HasSuffix(o.out, "\n2 passed, 2 failed\n") || strings.Contains(o.out, "good") {
			t.Errorf("found\n%s", o.out)
		}
		if out := good(t, "", append([]string{"check", "--only", "good", "--splits", "3", dir}, more...)...); out != "2 passed, 0 failed\n" {
			t.Errorf("found\n%s", out)
		}
	}
	o := run(t, "", "check", "--only", "nothing like this", dir)
	if o.status != 1 || !strings.Contains(o.complaints, "--only: expected a part of the id of some case") {
		t.Errorf("status %d, %s", o.status, o.complaints)
	}
	o = run(t, "", "check", "--only", "good", "--command", "exit 3", dir)
	if o.status != 1 || !strings.HasSuffix(o.out, "0 passed, 2 failed\n") {
		t.Errorf("status %d, %s", o.status, o.out)
	}
}
