package metrics

import (
	"os"
	"regexp"
	"slices"
	"testing"
	"time"

	"github.com/parlance-llm/parlance/detect"
	"github.com/parlance-llm/parlance/server/generate"
)

// TestDocumented: the page of the server lists each metric that there is, and no others.
func TestDocumented(t *testing.T) {
	r := New(true)
	q := &generate.Request{Model: generate.Model{Name: "m"}}
	r.Invoked(q, true)
	r.Flagged(q, "undeclared")
	r.Alarmed(q, detect.Alarm{Kind: detect.OtherFormat})
	r.Began(q, time.Second)
	r.Widened(q, []string{"a note"})
	r.Finished(q, generate.Finish{}, generate.Usage{Completion: 1})
	r.Answered("GET /health", 200, time.Second)
	families, err := r.registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile("../../docs/server.md")
	if err != nil {
		t.Fatal(err)
	}
	ours := regexp.MustCompile(`^(vllm:|parlance_)`)
	var listed []string
	for _, m := range regexp.MustCompile("`((?:vllm:|parlance_)[a-z_]+)`").FindAllStringSubmatch(string(text), -1) {
		listed = append(listed, m[1])
	}
	var there []string
	for _, family := range families {
		if !ours.MatchString(family.GetName()) {
			continue
		}
		there = append(there, family.GetName())
		if !slices.Contains(listed, family.GetName()) {
			t.Errorf("docs/server.md does not list %s", family.GetName())
		}
	}
	for _, name := range listed {
		if !slices.Contains(there, name) {
			t.Errorf("docs/server.md lists %s, which is not there", name)
		}
	}
	if len(there) < 10 {
		t.Errorf("only %q were gathered", there)
	}
}
