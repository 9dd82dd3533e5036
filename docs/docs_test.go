package docs

import (
	"io/fs"
	"os"
	"path"
	"strings"
	"testing"
)

// TestDependencies holds that dependencies.md has a line for each module that go.mod asks for directly, and no others.
func TestDependencies(t *testing.T) {
	module, err := os.ReadFile("../go.mod")
	if err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile("dependencies.md")
	if err != nil {
		t.Fatal(err)
	}
	wanted := map[string]bool{}
	for line := range strings.Lines(string(module)) {
		fields := strings.Fields(strings.TrimPrefix(strings.TrimSpace(line), "require "))
		if len(fields) >= 2 && strings.Contains(fields[0], ".") && !strings.Contains(line, "// indirect") {
			wanted[fields[0]] = true
		}
	}
	if len(wanted) == 0 {
		t.Fatal("no requirement was found in go.mod")
	}
	for line := range strings.Lines(string(page)) {
		name, ok := strings.CutPrefix(line, "| `")
		if !ok {
			continue
		}
		name, _, _ = strings.Cut(name, "`")
		if !wanted[name] {
			t.Errorf("dependencies.md lists %s, which go.mod does not ask for directly", name)
		}
		delete(wanted, name)
	}
	for name := range wanted {
		t.Errorf("dependencies.md does not tell what %s is for", name)
	}
}

// TestFilesHoldEverything holds that what a program serves is what the folder holds: each page, and each picture that a
// page shows.
func TestFilesHoldEverything(t *testing.T) {
	err := fs.WalkDir(os.DirFS("."), ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || path.Ext(name) == ".go" {
			return err
		}
		if _, err := fs.Stat(Files, name); err != nil {
			t.Errorf("%s is not embedded: %v", name, err)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
