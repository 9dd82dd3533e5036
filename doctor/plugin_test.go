package doctor_test

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/parlance-llm/parlance/doctor"
	"github.com/parlance-llm/parlance/engine"
)

// TestPlugin: a format that a plug-in brings is served, named by recordings, read by /v1/parse, noticed by the alarm and
// known to the doctor.
func TestPlugin(t *testing.T) {
	plugin := filepath.Join(t.TempDir(), "planner.yaml")
	definition := "format: planner\ntool: [planner]\nreasoning: [planner]\nturn: {begin: \"<bot>\", end: \"<end>\"}\ngrammar: |\n" +
		"  output  = thought? { @content | call } .\n  thought = \"<plan>\" @reasoning ( \"</plan>\" | &call ) .\n" +
		"  call    = \"<use \" [tool=@name] \">\" ~ @arguments:json ~ \"</use>\" .\n"
	if err := os.WriteFile(plugin, []byte(definition), 0o600); err != nil {
		t.Fatal(err)
	}
	const text = `<plan>Look it up.</plan><use tool="get_weather">{"city": "Paris"}</use>`
	recorded := engine.RecordedModel{ToolCallParser: "planner", ReasoningParser: "planner", Recordings: []engine.Recording{{Text: text}},
		Transcript: &engine.Transcript{Roles: map[string][2]string{"user": {"<user>", "<end>"}, "assistant": {"<bot>", "<end>"}}, Tools: [2]string{"<tools>", "</tools>"}, Generation: "<bot>"}}
	folder := record(t, recorded)
	url := serve(t, "--replay", folder, "--tool-parser-plugin", plugin)
	body := `{"text": "<use tool=\"f\">{}</use>", "tool_call_parser": "planner"}`
	answer, err := http.Post(url+"/v1/parse", "application/json", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		t.Errorf("/v1/parse with the parser of a plug-in: status %d", answer.StatusCode)
	}
	for _, o := range []doctor.Options{{}, {ToolCallParser: "planner", ReasoningParser: "planner"}} {
		o.URL, o.Plugins = url, []string{plugin}
		r := examine(t, o)
		if r.ToolCallParser != "planner" || r.ReasoningParser != "planner" || len(r.Whole.Calls) != 1 || r.Whole.Reasoning != "Look it up." {
			t.Errorf("expected a call read by planner, found %+v by %q and %q", r.Whole, r.ToolCallParser, r.ReasoningParser)
		}
	}
	other := serve(t, "--replay", folder, "--tool-parser-plugin", plugin, "--enable-auto-tool-choice", "--tool-call-parser", "hermes")
	if r := examine(t, doctor.Options{URL: other, Plugins: []string{plugin}}); !r.Wrong() || !strings.Contains(r.Findings[0].Change, "planner") {
		t.Errorf("expected the verdict to name planner, found %+v", r.Findings)
	}
}

// TestOthersOnce: no two of the other parsers are shown with the same reading.
func TestOthersOnce(t *testing.T) {
	r := examine(t, doctor.Options{URL: serve(t), Model: "deepseek-v4"})
	for i, o := range r.Others {
		for _, p := range r.Others[:i] {
			if (o.Tool == "") == (p.Tool == "") && o.Read.Content == p.Read.Content && o.Read.Reasoning == p.Read.Reasoning && len(o.Read.Calls) == len(p.Read.Calls) {
				t.Errorf("%s%s and %s%s make the same of it, and stand apart", p.Tool, p.Reasoning, o.Tool, o.Reasoning)
			}
		}
	}
	if len(r.Others) == 0 {
		t.Error("expected other parsers, found none")
	}
}
