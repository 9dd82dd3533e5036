package parlance

import (
	"errors"
	"strings"
	"testing"
	"testing/fstest"
)

// definitions is a file system of definition files.
func definitions(files map[string]string) fstest.MapFS {
	out := fstest.MapFS{}
	for name, text := range files {
		out[name] = &fstest.MapFile{Data: []byte(text)}
	}
	return out
}

const starFormat = `format: star
tool: [star]
reasoning: [star]
models: [example/star-*]
grammar: |
  thought = "<hmm>" @reasoning "</hmm>" .
  call    = "<call>" ~ json{ "name": @name, "arguments": @arguments } ~ "</call>" .
`

const starCall = `<hmm>why</hmm>so <call>{"name": "f", "arguments": {"a": 1}}</call>`

func TestRegister(t *testing.T) {
	r := NewRegistry()
	if err := r.Register(definitions(map[string]string{
		"star.yaml":    starFormat,
		"planet.yaml":  "format: planet\nextends: star\ntool: [planet]\nrespell: {\"<call>\": \"<orbit>\", \"</call>\": \"</orbit>\"}\n",
		"coder.yaml":   "format: coder\nextends: qwen3_coder\nreasoning: [coder]\n",
		"ignored.json": "{",
	}), Registration{}); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ tool, reasoning, text, want string }{
		{"star", "star", starCall, `R "why" C "so" |  f({"a": 1})`},
		{"planet", "", strings.ReplaceAll(starCall, "call>", "orbit>"), `R "" C "<hmm>why</hmm>so" |  f({"a": 1})`},
		{"hermes", "star", `<hmm>why</hmm><tool_call>{"name": "f", "arguments": {"a": 1}}</tool_call>`, `R "why" C "" |  f({"a": 1})`},
		{"star", "qwen3", strings.ReplaceAll(starCall, "hmm>", "think>"), `R "why" C "so" |  f({"a": 1})`},
		{"qwen3_coder", "coder", `<think>why</think>so`, `R "why" C "so"`},
	} {
		p, err := r.Lookup(c.tool, c.reasoning)
		if err != nil {
			t.Fatal(err)
		}
		if got := describe(p.Parse(c.text, Request{}, FinishStop)); !strings.HasPrefix(got, c.want) {
			t.Errorf("%s, %s: expected %s, found %s", c.tool, c.reasoning, c.want, got)
		}
	}
	if info, ok := r.Format("planet"); !ok || info.Extends != "star" || info.Respell["<call>"] != "<orbit>" || len(info.ToolNames) != 1 {
		t.Errorf("%+v %v", info, ok)
	}
	if _, ok := Default().Format("star"); ok {
		t.Error("a format registered in one registry is in another")
	}
	if n, all := len(ToolNames()), len(r.ToolNames()); all != n+2 {
		t.Errorf("expected %d tool names, found %d", n+2, all)
	}
}

// TestRegisterOverrides: a name that is taken is given up only when asked; who looked it up before, and formats that
// extend the old one, keep what they had.
func TestRegisterOverrides(t *testing.T) {
	r := NewRegistry()
	old, err := r.Lookup("hermes", "")
	if err != nil {
		t.Fatal(err)
	}
	files := definitions(map[string]string{"hermes.yaml": "format: hermes\nextends: hermes\ntool: [hermes]\nrespell: {\"<tool_call>\": \"<do>\", \"</tool_call>\": \"</do>\"}\n"})
	err = r.Register(files, Registration{Where: "plug/"})
	var broken *DefinitionError
	if !errors.As(err, &broken) || broken.File != "plug/hermes.yaml" || !strings.Contains(broken.Message, "expected a name for the format that is not taken, found hermes, which is formats/hermes.yaml") {
		t.Errorf("%v", err)
	}
	for _, names := range []string{"tool: [hermes]", "reasoning: [qwen3]"} {
		err := r.Register(definitions(map[string]string{"mine.yaml": "format: mine\nextends: qwen3_coder\n" + names + "\n"}), Registration{})
		if !errors.As(err, &broken) || !strings.Contains(broken.Message, "expected a parser name that is not taken, found ") {
			t.Errorf("%s: %v", names, err)
		}
	}
	if p, err := r.Lookup("hermes", ""); err != nil || p != old {
		t.Errorf("a registration that failed changed the registry: %v", err)
	}
	if err := r.Register(files, Registration{Override: true}); err != nil {
		t.Fatal(err)
	}
	call := `{"name": "f", "arguments": {}}`
	for tool, text := range map[string]string{"hermes": "<do>" + call + "</do>", "qwen3_json": "<tool_call>" + call + "</tool_call>", "granite4": "<tool_call>" + call + "</tool_call>"} {
		p, err := r.Lookup(tool, "")
		if err != nil {
			t.Fatal(err)
		}
		if m := p.Parse(text, Request{}, FinishStop); len(m.Calls) != 1 || m.Content != "" {
			t.Errorf("%s: %s", tool, describe(m))
		}
	}
	if m := old.Parse("<do>"+call+"</do>", Request{}, FinishStop); len(m.Calls) != 0 {
		t.Errorf("the parser from before: %s", describe(m))
	}
	// A format may take the name of a parser and leave the format that had it.
	if err := r.Register(definitions(map[string]string{"mine.yaml": "format: mine\nextends: star\ntool: [mistral]\n", "star.yaml": starFormat}), Registration{Override: true}); err != nil {
		t.Fatal(err)
	}
	if p, err := r.Lookup("mistral", ""); err != nil || len(p.Parse(starCall, Request{}, FinishStop).Calls) != 1 {
		t.Errorf("mistral: %v", err)
	}
	if info, _ := r.Format("mistral"); len(info.ToolNames) != 0 || len(info.ReasoningNames) != 1 {
		t.Errorf("mistral: %v %v", info.ToolNames, info.ReasoningNames)
	}
}

// TestRegisterRefusesBroken: a broken definition is refused with its place, and none of its files is added.
func TestRegisterRefusesBroken(t *testing.T) {
	for text, want := range map[string]string{
		"":                              "bad.yaml:1:1: expected a definition, found an empty file",
		"format: other\ntool: [bad]\n":  "bad.yaml:1:9: expected format: bad, the name of the file, found other",
		"format: bad\ntool: bad\n":      `bad.yaml:2:7: expected a list of texts, found "bad"`,
		"format: bad\nextends: worse\n": "bad.yaml:2:10: extends: there is no format worse",
		"format: bad\nextends: bad\n":   "bad.yaml:2:10: extends: bad extends itself",
		"format: bad\nsize: 3\n":        `bad.yaml:2:1: unknown key "size"; expected one of `,
		"format: bad\n\tx: 3\n":         "bad.yaml:2:1: found ",
		starFormat + "tool: [x]\n":      `the key "tool" is given twice`,
		"format: bad\ntool: [bad]\ngrammar: |\n  call = \"<c>\" @name .\n  other = \"x\" .\n": "the rule other is used nowhere",
	} {
		r := NewRegistry()
		err := r.Register(definitions(map[string]string{"bad.yaml": text, "star.yaml": starFormat}), Registration{})
		var broken *DefinitionError
		if !errors.As(err, &broken) || !strings.Contains(err.Error(), want) {
			t.Errorf("%q\nexpected %s\nfound    %v", text, want, err)
		}
		if _, err := r.Lookup("star", ""); err == nil {
			t.Errorf("%q: the other file was added", text)
		}
	}
}
