package docs

import (
	"encoding/json/jsontext"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/parlance-llm/parlance"
	"github.com/parlance-llm/parlance/formats"
	"github.com/parlance-llm/parlance/internal/grammar"
	"github.com/parlance-llm/parlance/internal/program"
	"github.com/parlance-llm/parlance/render"
)

func page(t *testing.T, name string) string {
	t.Helper()
	data, err := Files.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// blocks are the fenced blocks of a language.
func blocks(page, language string) (found []string) {
	for _, part := range strings.Split("\n"+page, "\n```"+language+"\n")[1:] {
		text, _, _ := strings.Cut(part, "\n```")
		found = append(found, text+"\n")
	}
	return found
}

// compile reads and compiles a definition beside those that come with the library, one of which may have its name.
func compile(definition string) error {
	builtin, err := grammar.NewLibrary(formats.Files, "formats/")
	if err != nil {
		return err
	}
	name, _, _ := strings.Cut(strings.TrimPrefix(definition, "format: "), "\n")
	library, err := builtin.Over(fstest.MapFS{name + ".yaml": {Data: []byte(definition)}}, "", true)
	if err != nil {
		return err
	}
	d, err := library.Definition(name)
	if err != nil {
		return err
	}
	o := program.Options{}
	if len(d.Tool) > 0 {
		o.Tool = d
	}
	if len(d.Reasoning) > 0 {
		o.Reasoning, o.Name = d, &d.Reasoning[0]
	}
	_, err = program.Compile(o)
	return err
}

// grammarOf makes a definition of a grammar.
func grammarOf(text string) string {
	return "format: example\ntool: [example]\nreasoning: [example]\ngrammar: |\n  " + strings.ReplaceAll(strings.TrimSpace(text), "\n", "\n  ") + "\n"
}

// TestExamplesCompile holds that each example of a definition, and of a grammar, is one that compiles, and that those
// that are to be refused are refused with the words that stand below.
func TestExamplesCompile(t *testing.T) {
	for _, name := range []string{"notation.md", "writing-a-format.md", "../CONTRIBUTING.md"} {
		text := ""
		if outside, ok := strings.CutPrefix(name, "../"); ok {
			text = repository(t, outside)
		} else {
			text = page(t, name)
		}
		text = regexp.MustCompile(`(?m)^ {3}`).ReplaceAllString(text, "") // an example in a list
		examples := 0
		for _, definition := range blocks(text, "yaml") {
			if !strings.HasPrefix(definition, "format: ") {
				continue
			}
			examples++
			if err := compile(definition); err != nil {
				t.Errorf("%s: %v in\n%s", name, err, definition)
			}
		}
		for _, text := range blocks(text, "grammar") {
			examples++
			if err := compile(grammarOf(text)); err != nil {
				t.Errorf("%s: %v in\n%s", name, err, text)
			}
		}
		for _, refused := range blocks(text, "refused") {
			examples++
			err := compile(grammarOf(refused))
			if err == nil {
				t.Errorf("%s: this compiles:\n%s", name, refused)
				continue
			}
			_, says, _ := strings.Cut(err.Error(), ": ")
			if !strings.Contains(text, says) {
				t.Errorf("%s: does not show the error %q", name, says)
			}
		}
		if examples == 0 {
			t.Errorf("%s: no examples were found", name)
		}
	}
}

// TestExamplesWrite holds that the page shows what the definitions on it write.
func TestExamplesWrite(t *testing.T) {
	text := page(t, "notation.md")
	definitions := map[string]string{}
	for _, definition := range blocks(text, "yaml") {
		_, title, _ := strings.Cut(definition, "\ntitle: ")
		title, _, _ = strings.Cut(title, "\n")
		definitions[title] = definition
	}
	renderer := func(title string) *render.Renderer {
		registry := parlance.NewRegistry()
		if err := registry.Register(fstest.MapFS{"example.yaml": {Data: []byte(definitions[title])}}, parlance.Registration{}); err != nil {
			t.Fatalf("%s: %v", title, err)
		}
		p, err := registry.Lookup("example", "")
		if err != nil {
			t.Fatalf("%s: %v", title, err)
		}
		return render.New(p)
	}
	shown := func(title, written string, err error) {
		t.Helper()
		if err != nil {
			t.Errorf("%s: %v", title, err)
		} else if !strings.Contains(text, "\n```\n"+written+"\n```\n") {
			t.Errorf("%s: notation.md does not show what is written:\n%s", title, written)
		}
	}
	answered := &parlance.Message{Calls: []parlance.Call{{ID: "c1", Name: "forecast"}, {ID: "c2", Name: "clock"}}}
	results := []render.Result{{ID: "c1", Value: jsontext.Value(`{"rain":true}`)}, {ID: "c2", Content: "12:30"}}
	for _, title := range []string{"Results in a turn of the tools", "Results in the turn that called"} {
		written, err := renderer(title).Results(answered, results, render.Options{})
		shown(title, written, err)
	}
	title := "Parameters in the order of their names, spelled as Python does"
	tools, err := parlance.ParseTools([]byte(`[{"type": "function", "function": {"name": "forecast", "parameters": {"type": "object", "properties": {"cities": {"type": "array"}, "brief": {"type": "boolean"}}}}}]`))
	if err != nil {
		t.Fatal(err)
	}
	call := &parlance.Message{Calls: []parlance.Call{{Name: "forecast", Arguments: `{"cities": ["Oslo"], "brief": true}`}}}
	written, err := renderer(title).Render(call, render.Options{Request: parlance.Request{Tools: tools}})
	shown(title, written, err)
}

var expectedKeys = regexp.MustCompile(`unknown key "\?"; expected one of (.*)$`)

// keys are the keys that a definition may have in a place, which an unknown key there makes the reader list.
func keys(t *testing.T, place string) []string {
	t.Helper()
	_, err := grammar.Read("example.yaml", fmt.Appendf(nil, place, `"?": 1`))
	var fault *grammar.Error
	if !errors.As(err, &fault) {
		t.Fatalf("%s: %v", place, err)
	}
	m := expectedKeys.FindStringSubmatch(fault.Message)
	if m == nil {
		t.Fatalf("%s: %v", place, err)
	}
	return strings.Split(m[1], ", ")
}

// TestNotationIsComplete holds that the page names all that a definition may say.
func TestNotationIsComplete(t *testing.T) {
	text := page(t, "notation.md")
	named := func(what, name string) {
		if !strings.Contains(text, "`"+name+"`") && !strings.Contains(text, "`"+name+"(") && !strings.Contains(text, "`"+name+": ") {
			t.Errorf("notation.md does not name the %s %s", what, name)
		}
	}
	for _, key := range keys(t, "%s") {
		if !strings.Contains(text, "\n| `"+key+"` |") {
			t.Errorf("notation.md has no line for the key %s", key)
		}
	}
	for _, place := range []string{"turn: {%s}", "thinking: {%s}", "request: {%s}", "constrain: {%s}", "detect: {%s}", "written: {%s}", "results: {%s}", "reasoning: {name: {%s}}"} {
		for _, key := range keys(t, place) {
			named("key", key)
		}
	}
	for _, role := range grammar.Roles {
		if !strings.Contains(text, "\n| `"+string(role)+"` |") {
			t.Errorf("notation.md has no line for the role %s", role)
		}
	}
	for _, codec := range grammar.Codecs {
		named("codec", codec)
	}
	library, err := grammar.NewLibrary(formats.Files, "formats/")
	if err != nil {
		t.Fatal(err)
	}
	for _, format := range library.Formats() {
		d, err := library.Definition(format)
		if err != nil {
			t.Fatal(err)
		}
		rules := d.Rules
		if d.Results != nil {
			rules = slices.Concat(rules, d.Results.Rules)
		}
		for _, rule := range rules {
			grammar.Walk(rule.Body, func(e grammar.Expression) bool {
				if capture, ok := e.(*grammar.Capture); ok && !strings.Contains(text, "`@"+capture.Name) {
					t.Errorf("notation.md does not name the capture @%s of %s", capture.Name, format)
				}
				return true
			})
		}
	}
}
