package render_test

import (
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/parlance-llm/parlance"
	"github.com/parlance-llm/parlance/chattemplate"
	"github.com/parlance-llm/parlance/internal/roundtrip"
	"github.com/parlance-llm/parlance/render"
)

// publicFormats are the formats of chat templates that were published with checkpoints. The Jinja library has them among
// its tests, from where they are read.
var publicFormats = map[string]struct{ format, tool, reasoning string }{
	"DeepSeek-V4-Flash":                  {"deepseek_v4", "deepseek_v4", "deepseek_v4"},
	"DeepSeek-V4.1-Flash":                {"deepseek_v41", "deepseek_v41", "deepseek_v41"},
	"GLM-5.2":                            {"glm47", "glm47", "glm47"},
	"Kimi-K3":                            {"kimi_k3", "kimi_k3", "kimi_k3"},
	"LFM2.5-VL-1.6B-Q8_0":                {"lfm2", "lfm2", ""},
	"Llama-3.2-1B-Instruct-GGUF":         {"llama3_json", "llama3_json", ""},
	"Ministral-3-14B-Instruct-2512-Q4_0": {"mistral", "mistral", "mistral"},
	"Mistral-Medium-3.5-128B-GGUF":       {"mistral", "mistral", "mistral"},
	"NVIDIA-Nemotron-3-Super":            {"qwen3_coder", "qwen3_coder", "nemotron_v3"},
	"Qwen3-8B-Q8_0":                      {"qwen3_json", "qwen3_json", "qwen3"},
	"Qwen3-VL-30B-A3B-Instruct-Q8_0":     {"qwen3_json", "qwen3_json", ""},
	"Qwen3.5-35B-A3B-Q8_0":               {"qwen3_coder", "qwen3_coder", "qwen3"},
	"Qwen3.6-35B-A3B-UD-Q4_K_M":          {"qwen3_coder", "qwen3_coder", "qwen3"},
	"gemma-4-26B-A4B-it-UD-Q8_K_XL":      {"gemma4", "gemma4", "gemma4"},
	"gpt-oss-20b-Q8_0":                   {"openai", "openai", "openai_gptoss"},
	"laguna":                             {"poolside_v1", "poolside_v1", "poolside_v1"},
}

// TestPublicTemplates: what is written for a message is what a template of the family itself writes.
func TestPublicTemplates(t *testing.T) {
	const module = "github.com/ardanlabs/jinja"
	folder, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", module).Output()
	if err != nil {
		t.Fatalf("expected the folder of the module %s: %v", module, err)
	}
	file, tools := readTurns(t)
	for _, name := range slices.Sorted(maps.Keys(publicFormats)) {
		source, err := os.ReadFile(filepath.Join(strings.TrimSpace(string(folder)), "testdata", "templates", name+".jinja"))
		if err != nil {
			t.Fatal(err)
		}
		template, err := chattemplate.Parse(name, string(source))
		if err != nil {
			t.Fatal(err)
		}
		f := publicFormats[name]
		trip, err := roundtrip.NewTrip(f.format, f.tool, f.reasoning)
		if err != nil {
			t.Fatal(err)
		}
		s := &styles{t: t, name: name, listed: publicDifferences[name], hit: map[string]bool{}}
		for _, situation := range slices.Sorted(maps.Keys(file.Messages)) {
			s.template(template, &trip, situation, file.Messages[situation], tools)
		}
		s.report()
	}
}

// template compares with what a template writes for a message, if it shows the message at all.
func (s *styles) template(template *chattemplate.Template, trip *roundtrip.Trip, situation string, written turnMessage, tools *parlance.Tools) {
	prompt, want, err := templateTurn(template, trip, written)
	request := parlance.Request{Tools: tools, Prompt: prompt}
	if err != nil || trip.Difference(written.message(), trip.Renderer.Parser().Parse(want, request, parlance.FinishStop)) != "" {
		s.hidden++
		return
	}
	got, err := trip.Renderer.Render(written.message(), render.Options{Request: request})
	if err != nil {
		got = err.Error()
	}
	s.compare(situation, want, got)
}
