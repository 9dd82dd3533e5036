package detect

import (
	"bufio"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/parlance-llm/parlance"
)

// label is what templates of a name are.
type label struct {
	pattern          string
	tools, reasoning []string
}

func labels(t *testing.T) (out []label) {
	file, err := os.Open("testdata/templates.tsv")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	for scanner := bufio.NewScanner(file); scanner.Scan(); {
		line := scanner.Text()
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		fields := strings.Split(line, "\t")
		if len(fields) != 3 {
			t.Fatalf("expected three fields: %q", line)
		}
		out = append(out, label{fields[0], strings.Split(fields[1], ","), strings.Split(fields[2], ",")})
	}
	return out
}

// TestPublicTemplates detects the formats of public chat templates, which lie, not committed, in the folders that
// PARLANCE_TEMPLATES names: the right family comes first in 95 % of them, and none is sure and wrong.
func TestPublicTemplates(t *testing.T) {
	folders := os.Getenv("PARLANCE_TEMPLATES")
	if folders == "" {
		t.Skip("PARLANCE_TEMPLATES names no folder")
	}
	known := labels(t)
	templates, asked, right := 0, 0, 0
	seen := map[string]bool{}
	for _, folder := range filepath.SplitList(folders) {
		files, err := filepath.Glob(filepath.Join(folder, "*.jinja"))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			name := filepath.Base(file)
			i := slices.IndexFunc(known, func(l label) bool { ok, _ := path.Match(l.pattern, name); return ok })
			if i < 0 || seen[name] {
				continue
			}
			seen[name] = true
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			templates++
			r := Template(string(data))
			for _, half := range []struct {
				name    string
				guesses []Guess
				want    []string
			}{{"tools", r.Tools, known[i].tools}, {"reasoning", r.Reasoning, known[i].reasoning}} {
				if half.want[0] == "*" { // nobody can say, but nobody may be sure either
					continue
				}
				asked++
				found, sure := "-", false
				if len(half.guesses) > 0 {
					found, sure = half.guesses[0].Format, half.guesses[0].Sure
				}
				if slices.Contains(half.want, found) || half.want[0] == "-" && !sure {
					right++
					continue
				}
				t.Logf("%s: %s: %s, want %s", name, half.name, found, strings.Join(half.want, " or "))
				if sure {
					t.Errorf("%s: sure and wrong: %s is %s", name, half.name, found)
				}
			}
		}
	}
	t.Logf("%d templates, %d of %d halves right (%.1f %%)", templates, right, asked, 100*float64(right)/float64(max(asked, 1)))
	if templates < 40 || right*100 < asked*95 {
		t.Error("fewer than 40 templates, or less than 95 % right")
	}
}

// TestOwnTemplates: our own templates are recognised as their families'.
func TestOwnTemplates(t *testing.T) {
	for file, want := range map[string]string{
		"hermes": "hermes", "deepseek_v3": "deepseek_v3", "deepseek_v31": "deepseek_v31", "deepseek_v32": "deepseek_v32", "gemma4": "gemma4",
		"functiongemma": "functiongemma", "kimi_k3": "kimi_k3", "llama3_json": "llama3_json", "phi4_mini": "phi4_mini_json", "hunyuan_a13b": "hunyuan_a13b",
		"inkling": "inkling", "mistral": "mistral_v7", "internlm2_tool": "internlm",
	} {
		data, err := os.ReadFile("../templates/" + file + ".jinja")
		if err != nil {
			t.Fatal(err)
		}
		r := Template(string(data))
		if file == "deepseek_v31" && (len(r.Reasoning) == 0 || r.Reasoning[0].Name != "deepseek_v3" || !r.Reasoning[0].Sure) {
			t.Errorf("%s: thinking is off by default: %+v", file, r.Reasoning)
		}
		if len(r.Tools) == 0 || r.Tools[0].Format != want && !slices.Contains(r.Tools[0].Like, want) {
			t.Errorf("%s: %v, want %s", file, r.Tools, want)
		}
	}
}

// TestChangedTemplates changes a marker or a word all through our templates: where the calls that such a template renders are no
// longer read by the format that comes first, it is not sure.
func TestChangedTemplates(t *testing.T) {
	files, err := filepath.Glob("../templates/*.jinja")
	if err != nil || len(files) == 0 {
		t.Fatal("no templates", err)
	}
	changed, sure := 0, 0
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, change := range [][2]string{
			{"<tool_call>", "<my_call>"}, {"</tool_call>", "</my_call>"}, {"tool_call", "toolcall"}, {"TOOL_CALLS", "TOOLS"}, {`"name"`, `"function"`},
			{`"arguments"`, `"params"`}, {"<|", "<#"}, {"｜", "|"}, {"▁", "_"}, {"function", "fn"}, {"<think>", "<thought>"}, {"</think>", "</thought>"},
			{"invoke", "call"}, {"parameter", "param"}, {"call:", "do:"}, {"functools", "tools"}, {"action_start", "act"}, {"<escape>", "<quote>"},
		} {
			source := strings.ReplaceAll(string(data), change[0], change[1])
			if source == string(data) {
				continue
			}
			changed++
			r := Template(source)
			if len(r.Tools) == 0 || !r.Tools[0].Sure {
				continue
			}
			sure++
			x := inspect(source)
			p, err := parlance.Lookup(r.Tools[0].Name, "")
			if err != nil {
				t.Fatal(err)
			}
			if _, _, _, read := x.readProbe(standard().markers, p, nil); x.rendersCall() && !read && r.Tools[0].Format == r.Tools[0].Name {
				t.Errorf("%s with %q for %q: sure of %s, which does not read %q", filepath.Base(file), change[1], change[0], r.Tools[0].Name, x.calls)
			}
		}
	}
	t.Logf("%d changed templates, sure of %d", changed, sure)
}

func TestBrokenTemplatesAreJudgedByTheirSource(t *testing.T) {
	r := Template(`{% for x in %} <minimax:tool_call><invoke name=" ]~b]ai`)
	if len(r.Tools) == 0 || r.Tools[0].Format != "minimax_m2" {
		t.Errorf("%+v", r.Tools)
	}
	if r := Template(""); len(r.Tools)+len(r.Reasoning) > 0 {
		t.Errorf("%+v", r)
	}
}

func TestNames(t *testing.T) {
	for name, want := range map[string][2]string{ // the first guess for each half, by parser name
		"zai-org/GLM-4.6":                      {"glm47", "glm47"},
		"glm-4.6-fp8":                          {"glm47", "glm47"},
		"openai/gpt-oss-20b":                   {"openai", "openai_gptoss"},
		"nobody/knows":                         {"", ""},
		"Qwen/Qwen3-8B":                        {"qwen3_json", "qwen3"},
		"Qwen/Qwen3-30B-A3B-Thinking-2507":     {"qwen3_json", "qwen3"},
		"Qwen/Qwen3-30B-A3B-Instruct-2507":     {"qwen3_json", ""}, // it never thinks: its whole answer would be taken for a thought
		"Qwen/Qwen3-Coder-30B-A3B-Instruct":    {"qwen3_coder", ""},
		"Qwen/Qwen3.5-35B-A3B":                 {"qwen3_coder", "qwen3"},
		"Qwen/QwQ-32B":                         {"qwen3_json", "deepseek_r1"},
		"deepseek-ai/DeepSeek-R1":              {"deepseek_v3", "deepseek_r1"},
		"deepseek-ai/DeepSeek-R1-Distill-8B":   {"", "deepseek_r1"},
		"deepseek-ai/DeepSeek-V3.1":            {"deepseek_v31", "deepseek_v3"}, // it thinks only when asked
		"deepseek-ai/DeepSeek-V3.2":            {"deepseek_v32", "deepseek_v3"},
		"Hcompany/Holo2-8B":                    {"", "holo2"},
		"moonshotai/Kimi-K2-Instruct":          {"kimi_k2", ""},
		"moonshotai/Kimi-K2-Thinking":          {"kimi_k2", "kimi_k2"},
		"allenai/Olmo-3-7B-Instruct":           {"olmo3", ""},
		"allenai/Olmo-3-7B-Think":              {"olmo3", "olmo3"},
		"mistralai/Mistral-7B-Instruct-v0.3":   {"mistral", ""},
		"mistralai/Magistral-Small-2506":       {"mistral", "mistral"},
		"meta-llama/Llama-3.1-8B-Instruct":     {"llama3_json", ""},
		"ibm-granite/granite-4.2-8b-instruct":  {"qwen3_coder", "granite_thinking_parser"},
		"nvidia/NVIDIA-Nemotron-3-Nano-30B-A3": {"qwen3_coder", "nemotron_v3"},
	} {
		r := Name(name)
		found := [2]string{}
		for half, guesses := range [][]Guess{r.Tools, r.Reasoning} {
			if len(guesses) > 0 {
				found[half] = guesses[0].Name
			}
		}
		if found != want {
			t.Errorf("%s: %q, want %q", name, found, want)
		}
	}
}

// TestNamesOfCopies: a copy in another quantisation is the same model, whoever keeps it; one that somebody has made from it
// may not be, and no guess about it is sure.
func TestNamesOfCopies(t *testing.T) {
	for name, want := range map[string]struct {
		tool, reasoning string
		sure            bool
	}{
		"unsloth/Qwen3-8B-GGUF":                          {"qwen3_json", "qwen3", true},
		"someone/Qwen3-8B-AWQ":                           {"qwen3_json", "qwen3", true},
		"RedHatAI/Qwen3-32B-quantized.w4a16":             {"qwen3_json", "qwen3", true},
		"RedHatAI/Qwen3-32B-FP8-dynamic":                 {"qwen3_json", "qwen3", true},
		"mlx-community/Qwen3-30B-A3B-Thinking-2507-4bit": {"qwen3_json", "qwen3", true},
		"unsloth/Qwen3-30B-A3B-Instruct-2507-GGUF":       {"qwen3_json", "", true},
		"Qwen3-8B-Q4_K_M.gguf":                           {"qwen3_json", "qwen3", true},
		"hf.co/unsloth/Qwen3-8B-GGUF:UD-Q4_K_XL":         {"qwen3_json", "qwen3", true},
		"https://huggingface.co/Qwen/Qwen3-8B":           {"qwen3_json", "qwen3", true},
		"qwen3:8b":                                       {"qwen3_json", "qwen3", true},
		"qwen3:8b-q4_K_M":                                {"qwen3_json", "qwen3", true},
		"gpt-oss:20b":                                    {"openai", "openai_gptoss", true},
		"unsloth/gpt-oss-20b-GGUF":                       {"openai", "openai_gptoss", true},
		"lmstudio-community/gpt-oss-120b-MXFP4-GGUF":     {"openai", "openai_gptoss", true},
		"unsloth/DeepSeek-V3.2-GGUF":                     {"deepseek_v32", "deepseek_v3", true},
		"unsloth/DeepSeek-V3-0324-GGUF":                  {"deepseek_v3", "", true},
		"meta-llama/Meta-Llama-3.1-8B-Instruct":          {"llama3_json", "", true},
		"bartowski/Meta-Llama-3.1-8B-Instruct-GGUF":      {"llama3_json", "", true},
		"unsloth/NVIDIA-Nemotron-3-Nano-30B-A3B-GGUF":    {"qwen3_coder", "nemotron_v3", true},
		"hugging-quants/Llama-3.1-8B-Instruct-AWQ-INT4":  {"llama3_json", "", true},
		"lmstudio-community/GLM-4.7-Flash-GGUF":          {"glm47", "glm47", true},
		"huihui-ai/Qwen3-8B-abliterated":                 {"qwen3_json", "qwen3", false},
		"someone/Qwen3-8B-ReAct-finetune":                {"qwen3_json", "qwen3", false},
		"nvidia/Llama-3.1-Nemotron-Nano-8B-v1":           {"llama3_json", "", false}, // it writes <TOOLCALL>[…]
		"allenai/Llama-3.1-Tulu-3-8B":                    {"llama3_json", "", false},
		"someone/my-Llama-3-finetuned-on-Qwen3-data":     {"", "", false},
		"Qwen/Qwen3-Embedding-8B":                        {"", "", false},
		"Qwen/Qwen3-Reranker-4B":                         {"", "", false},
		"":                                               {"", "", false},
		"/":                                              {"", "", false},
		"GGUF":                                           {"", "", false},
	} {
		r := Name(name)
		tool, reasoning, sure := "", "", false
		if len(r.Tools) > 0 {
			tool, sure = r.Tools[0].Name, r.Tools[0].Sure
		}
		if len(r.Reasoning) > 0 {
			reasoning = r.Reasoning[0].Name
			if r.Reasoning[0].Sure != want.sure {
				t.Errorf("%s: the reasoning parser is sure: %v", name, r.Reasoning[0].Sure)
			}
		}
		if tool != want.tool || reasoning != want.reasoning || sure != want.sure {
			t.Errorf("%s: %q and %q, sure: %v; want %+v", name, tool, reasoning, sure, want)
		}
	}
}

// TestNameAgainstTemplate: a model's name is not enough where its template writes calls that the format does not read.
func TestNameAgainstTemplate(t *testing.T) {
	data, err := os.ReadFile("../templates/hermes.jinja")
	if err != nil {
		t.Fatal(err)
	}
	name := Name("NousResearch/Hermes-3-Llama-3.1-8B")
	if r := Combine(Template(string(data)), name); !r.Tools[0].Sure || r.Tools[0].Name != "hermes" {
		t.Errorf("expected to be sure of hermes, found %+v", r.Tools[0])
	}
	other := Template(strings.NewReplacer("<tool_call>", "<toolcall>", "</tool_call>", "</toolcall>").Replace(string(data)))
	if r := Combine(other, name); r.Tools[0].Sure {
		t.Errorf("expected to be sure of nothing, found %+v", r.Tools[0])
	}
}

func TestFolder(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "model")
	if err := os.MkdirAll(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	if _, err := Folder(folder); err == nil || !strings.Contains(err.Error(), "chat template") {
		t.Errorf("an empty folder: %v", err)
	}
	template, err := os.ReadFile("../templates/deepseek_v31.jinja")
	if err != nil {
		t.Fatal(err)
	}
	write := func(name string, data []byte) {
		if err := os.WriteFile(filepath.Join(folder, name), data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("chat_template.jinja", template)
	write("tokenizer_config.json", []byte(`{"bos_token":"<｜begin▁of▁sentence｜>"}`))
	write("config.json", []byte(`{"_name_or_path":"deepseek-ai/DeepSeek-V3.1"}`))
	r, err := Folder(folder)
	if err != nil || len(r.Tools) == 0 || r.Tools[0].Format != "deepseek_v31" {
		t.Errorf("%+v %v", r.Tools, err)
	}
}
