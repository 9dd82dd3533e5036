package doctor_test

import (
	"os"
	"strings"
	"testing"

	"github.com/parlance-llm/parlance/doctor"
)

// TestPageTellsEveryCheck holds that docs/troubleshooting.md has a line for every code, and that no two checks share one.
func TestPageTellsEveryCheck(t *testing.T) {
	page, err := os.ReadFile("../docs/troubleshooting.md")
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, c := range doctor.Checks() {
		if !strings.Contains(string(page), "| `"+c.Code+"` |") {
			t.Errorf("docs/troubleshooting.md has no line for %s", c.Code)
		}
		if seen[c.Code] || c.Title == "" {
			t.Errorf("%s stands twice, or has no title", c.Code)
		}
		seen[c.Code] = true
	}
}
