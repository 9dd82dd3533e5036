package roundtrip

import (
	"encoding/json"
	"math/rand/v2"
	"os"
	"testing"

	"github.com/parlance-llm/parlance"
	"github.com/parlance-llm/parlance/render"
)

// TestResponseTemplates is the same for the formats that come with a checkpoint, by the templates of their cases.
func TestResponseTemplates(t *testing.T) {
	trips := 0
	for _, name := range []string{"hf", "beam"} {
		var cases []struct {
			ID        string          `json:"id"`
			Tool      string          `json:"tool_parser"`
			Reasoning string          `json:"reasoning_parser"`
			Template  json.RawMessage `json:"response_template"`
		}
		data, err := os.ReadFile("../../conformance/cases/" + name + ".json")
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(data, &cases); err != nil {
			t.Fatal(err)
		}
		seen := map[string]bool{}
		for _, c := range cases {
			if key := c.Tool + c.Reasoning + string(c.Template); seen[key] || c.Template == nil {
				continue
			} else {
				seen[key] = true
			}
			template, err := parlance.ParseResponseTemplate(c.Template)
			if err != nil {
				continue // one that is refused
			}
			p, err := parlance.LookupTemplate(c.Tool, c.Reasoning, template)
			if err != nil {
				continue // one that cannot be read
			}
			trip := Trip{Format: c.ID, Renderer: render.New(p), Calls: c.Tool != "", Thoughts: c.Reasoning != ""}
			trips++
			t.Run(c.ID, func(t *testing.T) {
				g, random := NewGenerator(1, nil), rand.New(rand.NewPCG(2, 2))
				exceptions, carried := map[string]int{}, 0
				for k := range 100 {
					m := g.Message(&trip)
					if k%3 == 0 {
						g.Segments(m)
					}
					exception, err := trip.Check(m, g.Tools, 3, random)
					switch {
					case err != nil:
						t.Errorf("message %d: %v", k, err)
					case exception != nil:
						exceptions[string(exception.Reason)]++
					default:
						carried++
					}
				}
				t.Logf("%d carried, exceptions %v", carried, exceptions)
			})
		}
	}
	if trips < 10 {
		t.Errorf("%d templates could be used, expected ten and more", trips)
	}
}
