package formatpages

import (
	"os"
	"strings"
	"testing"
)

// TestToTheLetter holds that markers show on a page as they are, whatever they are made of.
func TestToTheLetter(t *testing.T) {
	for text, want := range map[string]string{
		"<think>":   "`<think>`",
		"a\nb":      "`\"a\\nb\"`",
		" call ":    "`\" call \"`",
		"```json":   "```` \"```json\" ````",
		"<|a|>":     "`<|a|>`",
		"[ARGS]":    "`[ARGS]`",
		"\u2581sep": "`\u2581sep`",
	} {
		if got := code(text); got != want {
			t.Errorf("%q: expected %s, found %s", text, want, got)
		}
	}
	if got, want := escape("a <b> of tool_call, `<c>_` *"), "a &lt;b> of tool\\_call, `<c>_` \\*"; got != want {
		t.Errorf("expected %s, found %s", want, got)
	}
	var out strings.Builder
	fence(&out, "x", "a\n````\nb\n")
	if got, want := out.String(), "`````x\na\n````\nb\n`````\n"; got != want {
		t.Errorf("expected %q, found %q", want, got)
	}
}

// TestEveryPageShowsItsFormat holds that each page has an example with at least one tray, and the flags that lead to it.
func TestEveryPageShowsItsFormat(t *testing.T) {
	pages, err := Pages(os.DirFS("../../conformance/cases"))
	if err != nil {
		t.Fatal(err)
	}
	for name, page := range pages {
		if name == "README.md" {
			continue
		}
		if !strings.Contains(page, "-parser ") || !strings.Contains(page, `"reasoning": `) && !strings.Contains(page, `"content": `) && !strings.Contains(page, `"tool_calls": `) {
			t.Errorf("%s shows no example", name)
		}
	}
}
