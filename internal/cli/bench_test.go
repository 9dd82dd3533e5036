package cli

import (
	"encoding/json/v2"
	"strings"
	"testing"

	"github.com/parlance-llm/parlance/conformance"
)

func TestBench(t *testing.T) {
	work := file(t, "work.json", `[
 {"name": "a call", "tool_parser": "hermes", "chunk": 4, "prefix": "<tool_call>{\"name\": \"f\", \"arguments\": {\"t\": \"", "unit": "word ", "repeat": 500, "suffix": "\"}}</tool_call>"},
 {"name": "a thought", "reasoning_parser": "deepseek_r1", "text": "thinking about it", "chunk": 3}]`)
	contains(t, good(t, "", "bench", work), "ns/chunk", "allocs/chunk", "  a call\n", "  a thought\n")
	var measures []measure
	if err := json.Unmarshal([]byte(good(t, "", "bench", "--json", "--only", "call", work)), &measures); err != nil {
		t.Fatal(err)
	}
	m := measures[0]
	if len(measures) != 1 || m.Name != "a call" || m.Bytes != 2560 || m.Chunks != 640 || m.NsPerChunk <= 0 || m.MBPerSecond <= 0 || m.WholeMBPerSecond <= 0 || m.AllocsPerChunk < 0 {
		t.Errorf("%+v", measures)
	}
}

func TestBenchNamesTheWorkload(t *testing.T) {
	for text, says := range map[string]string{
		`[]`:                        "work.json: expected workloads, found none",
		`[{"name":"x"}]`:            "workload 1 (x): expected text, or unit with repeat, found neither",
		`[{"name":"x","unit":"a"}]`: "workload 1 (x): expected text, or unit with repeat, found neither",
		`[{"name":"x","text":"a"}]`: "workload 1 (x): expected the name of a tool parser or of a reasoning parser, found neither",
		`[{"name":"x","text":"","tool_parser":"hermes"}]`:                           "workload 1 (x): text: expected some text, found none",
		`[{"name":"x","text":"a","unit":"b","repeat":2,"tool_parser":"hermes"}]`:    "workload 1 (x): expected text or unit, found both",
		`[{"name":"x","text":"a","tool_parser":"hermes"},{"name":"y","chunk":"z"}]`: "workload 2 (y): chunk: expected a number of characters",
	} {
		o := run(t, "", "bench", file(t, "work.json", text))
		if o.status != 1 || !strings.Contains(o.complaints, says) {
			t.Errorf("%s: status %d, %s", text, o.status, o.complaints)
		}
	}
}

func TestShippedWorkloads(t *testing.T) {
	workloads, err := loadWorkloads("../../bench/workloads.json", &conformance.Environment{})
	if err != nil {
		t.Fatal(err)
	}
	sizes := map[string][]int{}
	for _, w := range workloads {
		name := w.ToolParser + w.ReasoningParser
		sizes[name] = append(sizes[name], len(*w.Text))
		m := w.prepared.Parser.Parse(*w.Text, w.prepared.Request, w.prepared.Finish)
		if strings.HasPrefix(w.Name, "call ") && (len(m.Calls) != 1 || m.Content != "" || len(m.Calls[0].Arguments) < len(*w.Text)*9/10) {
			t.Errorf("%s: expected one call, found %d and %.80q", w.Name, len(m.Calls), m.Content)
		}
	}
	for name, list := range sizes {
		t.Log(name, list)
	}
}
