package docs

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/parlance-llm/parlance/formats"
	"github.com/parlance-llm/parlance/internal/grammar"
	"github.com/parlance-llm/parlance/internal/program"
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
	for _, place := range []string{"turn: {%s}", "thinking: {%s}", "request: {%s}", "constrain: {%s}", "detect: {%s}", "reasoning: {name: {%s}}"} {
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
		for _, rule := range d.Rules {
			grammar.Walk(rule.Body, func(e grammar.Expression) bool {
				if capture, ok := e.(*grammar.Capture); ok && !strings.Contains(text, "`@"+capture.Name) {
					t.Errorf("notation.md does not name the capture @%s of %s", capture.Name, format)
				}
				return true
			})
		}
	}
}
