package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// tokenizer makes a folder with a tokenizer that has some added tokens.
func tokenizer(t *testing.T, added string) string {
	t.Helper()
	folder := filepath.Join(t.TempDir(), "some-model")
	if err := os.Mkdir(folder, 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(folder, "added_tokens.json"), []byte(added), 0o666); err != nil {
		t.Fatal(err)
	}
	return folder
}

func TestTokenizer(t *testing.T) {
	folder := tokenizer(t, `{"<tool_call>": 7, "</tool_call>": 8, "<tool_calls:x1>": 9, "</tool_calls:x1>": 10}`)
	lacking := "cannot be used with the tokenizer of 'some-model': expected the tokens "

	line := `{"tool_parser":"hermes","tokens":[["<tool_call>",1],["{\"name\":\"f\",\"arguments\":{}}",2]` + `]}` + "\n"
	contains(t, good(t, line, "batch", "--tokenizer", folder), `"content":"<tool_call>{\"name\":`)
	contains(t, good(t, line, "batch"), `"tool_calls":[{"id":"","name":"f"`)
	contains(t, good(t, `{"reasoning_parser":"qwen3","tokens":[["a b",1],[" c",2],["</think>",3],["d",4]],"stream":true,"chunk":2}`, "batch"),
		`{"id":null,"reasoning":"a b c","content":"d","tool_calls":[],"segments":[{"type":"reasoning","text":"a b c"},{"type":"content","text":"d"}],"malformed":false,"reasoning_tokens":2}`)

	// In text alone nothing can be forged, but the vocabulary gives the suffix and is asked for the markers needed.
	contains(t, good(t, "<tool_calls:x1><tool_call:x1>f</tool_call:x1></tool_calls:x1>", "parse", "--tool-call-parser", "hy_v4", "--tokenizer", folder, "--json"), `"name":"f"`)
	o := run(t, "x", "parse", "--reasoning-parser", "deepseek_r1", "--tokenizer", folder)
	contains(t, o.complaints, "--tool-call-parser None and --reasoning-parser deepseek_r1 "+lacking+"<think>, </think>")
	o = run(t, `{"id":1,"reasoning_parser":"deepseek_r1","text":"x"}`, "batch", "--tokenizer", folder)
	contains(t, o.complaints, lacking)

	cases := file(t, "cases.json", `[{"id": "a", "tool_parser": "hermes", "tokens": [["<tool_call>", 1], ["{\"name\":\"f\",\"arguments\":{}}", 2]], "want": {"content": "<tool_call>{\"name\":\"f\",\"arguments\":{}}"}}]`)
	contains(t, good(t, "", "check", "--tokenizer", folder, cases), "1 passed, 0 failed")
	o = run(t, "", "check", cases)
	contains(t, o.out, "0 passed, 1 failed")
	contains(t, o.out, "failed    whole, and in all 24 other ways")
	o = run(t, "", "check", "--command", "cat", "--tokenizer", folder, cases)
	contains(t, o.complaints, "expected --command alone, found flags for the vocabulary")
	o = run(t, "x", "parse", "--tool-call-parser", "hermes", "--tokenizer", filepath.Join(folder, "missing"))
	contains(t, o.complaints, "tokenizer: expected a folder with a tokenizer")
}

func TestPlugins(t *testing.T) {
	plugin := file(t, "star.yaml", "format: star\ntool: [star]\nreasoning: [star]\ngrammar: |\n  thought = \"<hmm>\" @reasoning \"</hmm>\" .\n  call = \"<call>\" ~ json{ \"name\": @name, \"arguments\": @arguments } ~ \"</call>\" .\n")
	flags := []string{"--tool-parser-plugin", plugin, "--reasoning-parser-plugin", plugin}
	with := func(arguments ...string) []string { return append(arguments, flags...) }

	text := `<hmm>why</hmm><call>{"name": "f", "arguments": {}}</call>`
	contains(t, good(t, text, with("parse", "--json", "--tool-call-parser", "star", "--reasoning-parser", "star")...), `"reasoning":"why"`, `"name":"f"`)
	contains(t, good(t, `{"text":"<hmm>why</hmm>","tool_parser":"hermes","reasoning_parser":"star"}`, with("batch")...), `"reasoning":"why"`)
	cases := file(t, "cases.json", `[{"id": "a", "text": "<hmm>why</hmm>", "reasoning_parser": "star", "want": {"reasoning": "why"}}]`)
	contains(t, good(t, "", with("check", cases)...), "1 passed, 0 failed")
	contains(t, good(t, "", with("formats")...), "star ", "hermes ")
	contains(t, good(t, "", with("formats", "star")...), "tool parsers", `thought = "<hmm>"`)
	for _, command := range []string{"parse --tool-call-parser", "parse --reasoning-parser", "constrain --tool-call-parser", "serve --tool-call-parser", "formats"} {
		arguments := append(append([]string{"__complete"}, with(strings.Fields(command)[0])...), strings.Fields(command)[1:]...)
		contains(t, run(t, "", append(arguments, "")...).out, "\nstar\n", "\nmistral\n")
	}

	o := run(t, "x", "parse", "--tool-call-parser", "star", "--tool-parser-plugin", file(t, "bad.yaml", "format: bad\ntool: x\n"))
	if o.status != 1 || !strings.HasPrefix(o.complaints, "parlance: --tool-parser-plugin: ") || !strings.HasSuffix(o.complaints, "/bad.yaml:2:7: expected a list of texts, found \"x\"\n") {
		t.Errorf("status %d: %s", o.status, o.complaints)
	}
	o = run(t, "", "formats", "star")
	contains(t, o.complaints, `there is no format or parser "star"`)
}

// TestServeRefusesBrokenPlugins: the server does not start with a broken plug-in, and says what is wrong (W30).
func TestServeRefusesBrokenPlugins(t *testing.T) {
	bad := file(t, "bad.yaml", "format: bad\ntool: x\n")
	o := run(t, "", "serve", "--reasoning-parser-plugin", bad)
	if want := "ValueError: --reasoning-parser-plugin: " + bad + ":2:7: expected a list of texts, found \"x\"\n"; o.status != 1 || !strings.HasPrefix(o.complaints, want) {
		t.Errorf("expected status 1 and %s\nfound %d and %s", want, o.status, o.complaints)
	}
}

// TestPluginsAreDetected: a definition of the user's own is found by the names of its models and by what they write.
func TestPluginsAreDetected(t *testing.T) {
	plugin := file(t, "star.yaml", "format: star\ntool: [star]\nmodels: [someone/star-*]\ngrammar: |\n  call = \"<star>\" ~ json{ \"name\": @name, \"arguments\": @arguments } ~ \"</star>\" .\n")
	for _, o := range []outcome{
		run(t, "", "detect", "--tool-parser-plugin", plugin, "someone/star-7b"),
		run(t, `<star>{"name": "f", "arguments": {"x": 1}}</star>`, "detect", "--tool-parser-plugin", plugin),
	} {
		if o.status != 0 || !strings.HasPrefix(o.out, "--tool-call-parser star\n") {
			t.Errorf("expected star, found status %d, %q, %q", o.status, o.out, o.complaints)
		}
	}
}
