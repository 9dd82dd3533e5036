package parlance_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/parlance-llm/parlance/internal/formatpages"
)

// TestFormatPagesAreCurrent holds that docs/formats is what the definitions say.
func TestFormatPagesAreCurrent(t *testing.T) {
	pages, err := formatpages.Pages(os.DirFS("conformance/cases"))
	if err != nil {
		t.Fatal(err)
	}
	folder := filepath.Join("docs", "formats")
	for name, want := range pages {
		if have, err := os.ReadFile(filepath.Join(folder, name)); err != nil || string(have) != want {
			t.Errorf("%s is not what its definition says: run go generate ./...", filepath.Join(folder, name))
		}
	}
	entries, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range entries {
		if _, ok := pages[entry.Name()]; !ok {
			t.Errorf("%s belongs to no format: run go generate ./...", filepath.Join(folder, entry.Name()))
		}
	}
}
