package generate

import (
	"net/http"
	"strconv"
	"strings"
	"testing"
)

// TestManyWarnings: however many warnings there are and however long, a header stays as short as clients and proxies
// take it, and says that some are left out.
func TestManyWarnings(t *testing.T) {
	for name, notes := range map[string]func(i int) string{
		"many":  func(i int) string { return "warning " + strconv.Itoa(i) },
		"long":  func(i int) string { return strings.Repeat("x", 1000) + strconv.Itoa(i) },
		"huge":  func(i int) string { return strings.Repeat("x", 100_000) + strconv.Itoa(i) },
		"mixed": func(i int) string { return strings.Repeat("é", i*37%2000) + strconv.Itoa(i) },
	} {
		header := http.Header{}
		for i := range 300 {
			AddWarnings(header, notes(i))
		}
		warnings := header.Values(WarningHeader)
		if length := len(strings.Join(warnings, "")); len(warnings) > mostWarnings+1 || length > mostWarningBytes+len(unsaid) {
			t.Errorf("%s: %d warnings, %d bytes", name, len(warnings), length)
		}
		if count := strings.Count(strings.Join(warnings, "\n"), unsaid); count != 1 {
			t.Errorf("%s: %d times it is said that some are left out", name, count)
		}
	}
	header := http.Header{}
	AddWarnings(header, "one", "two")
	if got := header.Values(WarningHeader); len(got) != 2 || got[1] != "two" {
		t.Errorf("found %q", got)
	}
}
