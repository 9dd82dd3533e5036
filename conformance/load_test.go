package conformance

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

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

const goodCase = `{"id": "a/one", "text": "x", "tool_parser": null, "tools": "std", "want": {"content": "x"}, "other": 1}`

func TestLoad(t *testing.T) {
	dir := folder(t, map[string]string{
		"tools.json":       `{"std": [{"type": "function", "function": {"name": "f"}}]}`,
		"b.json":           `[` + goodCase + `]`,
		"deeper/a.json":    `[{"id": "c", "text": "", "tools": [], "want": {"tool_calls": [{"name": "f", "arguments": "{"}]}}]`,
		"deeper/notes.txt": `no case file`,
	})
	cases, err := Load(dir, filepath.Join(dir, "b.json"))
	if err != nil {
		t.Fatal(err)
	}
	var ids []string
	for _, c := range cases {
		ids = append(ids, c.ID+" "+filepath.Base(c.File)+" "+string(c.Tools))
	}
	want := `a/one b.json [{"type": "function", "function": {"name": "f"}}]; c a.json []; a/one b.json [{"type": "function", "function": {"name": "f"}}]`
	if got := strings.Join(ids, "; "); got != want {
		t.Errorf("expected %s\nfound %s", want, got)
	}
}

func TestLoadNamesFileAndCase(t *testing.T) {
	for text, want := range map[string]string{
		`[`:              `f.json: cases: expected JSON: it ends too early, at byte 1`,
		`{"cases": []}`:  `f.json: cases: expected an array, found an object`,
		`[3]`:            `f.json: case 1: expected an object, found a number`,
		`[{"text": ""}]`: `f.json: case 1: id: expected a string, found nothing`,
		`[` + goodCase + `, {"id": "a/two", "want": {}}]`:                                  `f.json: case 2 (a/two): text: expected a string, found nothing`,
		`[{"id": "a", "text": 3, "want": {}}]`:                                             `f.json: case 1 (a): text: expected a string, found a number`,
		`[{"id": "a", "text": "x"}]`:                                                       `f.json: case 1 (a): want: expected an object, found nothing`,
		`[{"id": "a", "text": "x", "want": "y"}]`:                                          `f.json: case 1 (a): want: expected an object, found a string`,
		`[{"id": "a", "text": "x", "want": {"content": 1}}]`:                               `f.json: case 1 (a): want.content: expected a string, found a number`,
		`[{"id": "a", "text": "x", "want": {"tool_calls": [{"name": "f"}]}}]`:              `f.json: case 1 (a): want.tool_calls[0].arguments: expected an object or a string, found nothing`,
		`[{"id": "a", "text": "x", "want": {"tool_calls": [{"arguments": {}}]}}]`:          `f.json: case 1 (a): want.tool_calls[0].name: expected a name, found nothing`,
		`[{"id": "a", "text": "x", "want_stream": {"tool_calls": [{}]}, "want": {}}]`:      `f.json: case 1 (a): want_stream.tool_calls[0].name: expected a name, found nothing`,
		`[{"id": "a", "text": "x", "want": {}, "tool_parser": ["hermes"]}]`:                `f.json: case 1 (a): tool_parser: expected a string, found an array`,
		`[{"id": "a", "text": "x", "want": {}, "tools": "big"}]`:                           `tools.json (std), found "big"`,
		`[{"id": "a", "text": "x", "want": {}, "tools": 3}]`:                               `f.json: case 1 (a): tools: expected an array of tools or the name of a set, found a number`,
		`[` + goodCase + `,` + goodCase + `]`:                                              `f.json: case 2 (a/one): id: expected an id of its own, found the one of case 1`,
		`[{"id": "a", "text": "x", "want": {}, "special_tokens": [1]}]`:                    `f.json: case 1 (a): special_tokens[0]: expected a string, found a number`,
		`[{"id": "a", "text": "x", "want": {"tool_calls": [{"name":"f","arguments":3}]}}]`: `f.json: case 1 (a): want.tool_calls[0].arguments: expected an object or a string, found a number`,
	} {
		dir := folder(t, map[string]string{"tools.json": `{"std": []}`, "f.json": text})
		_, err := Load(dir)
		if err == nil || !strings.HasSuffix(err.Error(), want) {
			t.Errorf("%s\nexpected …%s\nfound %v", text, want, err)
		}
	}
}

func TestLoadRefusesWhatHoldsNoCases(t *testing.T) {
	dir := folder(t, map[string]string{"tools.json": `{}`})
	for path, want := range map[string]string{
		dir:                                `expected case files (*.json) in the folder, found none`,
		filepath.Join(dir, "tools.json"):   `expected a case file, found the tool sets of case files`,
		filepath.Join(dir, "missing.json"): `no such file or directory`,
	} {
		if _, err := Load(path); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", path, err)
		}
	}
	named := folder(t, map[string]string{"f.json": `[` + goodCase + `]`})
	if _, err := Load(named); err == nil || !strings.Contains(err.Error(), `tools: the set "std": open `) {
		t.Error(err)
	}
}
