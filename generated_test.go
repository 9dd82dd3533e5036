package parlance_test

import (
	"os"
	"testing"

	"github.com/parlance-llm/parlance/internal/formatpages"
	"github.com/parlance-llm/parlance/internal/pages"
)

//go:generate go run ./internal/cmd/formatpages
//go:generate go run ./internal/cmd/commandpages

// TestFormatPagesAreCurrent holds that docs/formats is what the definitions say.
func TestFormatPagesAreCurrent(t *testing.T) {
	made, err := formatpages.Pages(os.DirFS("conformance/cases"))
	if err != nil {
		t.Fatal(err)
	}
	for _, difference := range pages.Differences("docs/formats", made) {
		t.Error(difference)
	}
}
