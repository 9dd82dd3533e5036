package plugins

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/parlance-llm/parlance"
	"github.com/parlance-llm/parlance/conformance"
	"github.com/parlance-llm/parlance/formats"
)

// folder writes files to a folder.
func folder(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

const star = "format: star\ntool: [star]\nreasoning: [star]\ngrammar: |\n  thought = \"<hmm>\" @reasoning \"</hmm>\" .\n  call = \"<call>\" ~ json{ \"name\": @name, \"arguments\": @arguments } ~ \"</call>\" .\n"

func TestRegistry(t *testing.T) {
	dir := folder(t, map[string]string{
		"one/star.yaml":    star,
		"two/planet.yaml":  "format: planet\nextends: star\ntool: [planet]\n",
		"two/moon.yaml":    "format: moon\nextends: planet\nreasoning: [moon]\n",
		"two/not-read.txt": "x",
	})
	file := filepath.Join(dir, "one", "star.yaml")
	r, err := (&Flags{Tool: []string{file, filepath.Join(dir, "two")}, Reasoning: []string{dir + "/two/../one/star.yaml"}}).Registry()
	if err != nil {
		t.Fatal(err)
	}
	for _, names := range [][2]string{{"star", "moon"}, {"planet", "qwen3"}, {"hermes", "star"}} {
		if _, err := r.Lookup(names[0], names[1]); err != nil {
			t.Error(err)
		}
	}
	if r, err := (&Flags{}).Registry(); err != nil || r != parlance.Default() {
		t.Errorf("without plug-ins: %v", err)
	}
}

// TestBroken: what is wrong with a plug-in is told with file, line, what was expected and what was found (W30).
func TestBroken(t *testing.T) {
	dir := folder(t, map[string]string{
		"broken.yaml":     "format: broken\ntool: [broken]\ngrammar: |\n  call = \"<c>\" @name ~ json{ .\n",
		"sub/hermes.yaml": strings.ReplaceAll(star, "star", "hermes"),
		"empty/x.txt":     "",
		"vllm.py":         "import vllm",
		"notes.json":      "{}",
	})
	for path, want := range map[string]string{
		"broken.yaml":     "/broken.yaml:4:30: expected the key of a member as a literal, found '.'",
		"sub":             "/sub/hermes.yaml:1:9: expected a name for the format that is not taken, found hermes, which is formats/hermes.yaml",
		"sub/hermes.yaml": "/sub/hermes.yaml:1:9: expected a name for the format that is not taken",
		"empty":           "empty: expected definitions of formats (*.yaml) in the folder, found none",
		"missing.yaml":    "no such file or directory",
		"missing/":        "no such file or directory",
		"vllm.py":         "a Python plug-in: formats are data here, and docs/writing-a-format.md tells how to write one",
		"notes.json":      "expected the definition of a format, a file *.yaml or a folder of them, found ",
	} {
		_, err := (&Flags{Tool: []string{dir + "/" + path}}).Registry()
		if err == nil || !strings.HasPrefix(err.Error(), "--tool-parser-plugin: ") || !strings.Contains(err.Error(), want) {
			t.Errorf("%s\nexpected %s\nfound    %v", path, want, err)
		}
		if broken := (*parlance.DefinitionError)(nil); strings.Contains(want, ".yaml:") && !errors.As(err, &broken) {
			t.Errorf("%s: %T", path, err)
		}
	}
	_, err := (&Flags{Reasoning: []string{"vllm.reasoning.mine"}}).Registry()
	if err == nil || !strings.Contains(err.Error(), "--reasoning-parser-plugin: ") || !strings.Contains(err.Error(), "found vllm.reasoning.mine, a Python plug-in") {
		t.Error(err)
	}
	if _, err := (&Flags{Tool: []string{dir + "/sub"}, Override: true}).Registry(); err != nil {
		t.Error(err)
	}
}

// TestBuiltinsAsPlugins: every built-in definition also loads from a file as a plug-in, in place of the built-in one, and
// passes its cases. A plug-in can do what a built-in can.
func TestBuiltinsAsPlugins(t *testing.T) {
	cases, err := conformance.Load("../../conformance/cases")
	if err != nil {
		t.Fatal(err)
	}
	names, err := fs.Glob(formats.Files, "*.yaml")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	ran := map[string]bool{}
	for _, name := range names {
		data, err := formats.Files.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		file := filepath.Join(dir, name)
		if err := os.WriteFile(file, data, 0o666); err != nil {
			t.Fatal(err)
		}
		r, err := (&Flags{Tool: []string{file}, Override: true}).Registry()
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		info, _ := r.Format(strings.TrimSuffix(name, ".yaml"))
		var own []*conformance.Case
		for _, c := range cases {
			if slices.Contains(info.ToolNames, c.ToolParser) || slices.Contains(info.ReasoningNames, c.ReasoningParser) {
				own = append(own, c)
				ran[c.ID] = true
			}
		}
		conformance.Run(conformance.Library{Environment: &conformance.Environment{Registry: r}}, own, 1, func(o *conformance.Outcome) {
			if !o.Passed() {
				t.Errorf("%s as a plug-in: %v", name, o)
			}
		})
	}
	for _, c := range cases {
		known := slices.Contains(parlance.ToolNames(), c.ToolParser) || slices.Contains(parlance.ReasoningNames(), c.ReasoningParser)
		if known && !ran[c.ID] {
			t.Errorf("the case %s was run with no plug-in", c.ID)
		}
	}
}
