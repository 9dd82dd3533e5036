package templates_test

import (
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/parlance-llm/parlance/chattemplate"
	"github.com/parlance-llm/parlance/templates"
)

var update = flag.Bool("update", false, "write the expected prompts anew; the stage templates compares them with transformers")

// moment is the time that the expected prompts show.
var moment = time.Date(2026, 3, 4, 9, 5, 7, 0, time.UTC)

// conversation is what a template is rendered with.
type conversation struct {
	name    string
	request chattemplate.Request
}

func conversations(t *testing.T) (all []conversation) {
	t.Helper()
	data, err := os.ReadFile("testdata/conversations.json")
	if err != nil {
		t.Fatal(err)
	}
	var read map[string]map[string]json.RawMessage
	if err := json.Unmarshal(data, &read); err != nil {
		t.Fatal(err)
	}
	for name, members := range read {
		variables := map[string]json.RawMessage{}
		for key, value := range members {
			if !slices.Contains([]string{"messages", "tools", "documents", "add_generation_prompt"}, key) {
				variables[key] = value
			}
		}
		encoded, err := json.Marshal(variables)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, conversation{name, chattemplate.Request{
			Messages: members["messages"], Tools: members["tools"], Documents: members["documents"],
			AddGenerationPrompt: string(members["add_generation_prompt"]) == "true", Variables: encoded, Now: moment,
		}})
	}
	slices.SortFunc(all, func(a, b conversation) int { return strings.Compare(a.name, b.name) })
	return all
}

// TestGolden renders every template with every conversation and compares with the prompts that are kept. A prompt stands
// between a line with the name of its conversation and the next such line; a refusal is kept as its message.
func TestGolden(t *testing.T) {
	all := conversations(t)
	if len(all) < 8 {
		t.Fatalf("expected at least eight conversations, found %d", len(all))
	}
	for _, name := range templates.Names() {
		t.Run(name, func(t *testing.T) {
			source, _ := templates.Source(name)
			template, err := chattemplate.Parse(name, source)
			if err != nil {
				t.Fatal(err)
			}
			var out strings.Builder
			for _, c := range all {
				prompt, err := template.Render(c.request)
				if err != nil {
					prompt = "refused: " + err.Error()
				}
				out.WriteString("===== " + c.name + " =====\n" + prompt + "\n")
			}
			path := filepath.Join("testdata", name+".golden")
			if *update {
				if err := os.WriteFile(path, []byte(out.String()), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			want, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if got := out.String(); got != string(want) {
				i := 0
				for i < min(len(got), len(want)) && got[i] == want[i] {
					i++
				}
				t.Errorf("the prompts differ at byte %d\nexpected …%q\nfound    …%q", i, string(want)[max(i-40, 0):min(i+60, len(want))], got[max(i-40, 0):min(i+60, len(got))])
			}
		})
	}
}
