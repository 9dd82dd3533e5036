package render_test

// difference is what is written otherwise than the chat template does, and why.
type difference struct {
	reason     string
	situations []string
}

// onlyCalls are the situations with calls and neither reasoning nor prose.
var onlyCalls = []string{"one call", "parallel calls", "empty arguments", "nested values", "unicode", "boolean", "quotes", "empty values"}

// formatDifferences are the known differences to testdata/turns.json, templateDifferences those to our own templates.
var (
	formatDifferences = map[string][]difference{
		"hermes": {{
			"the template of Hermes 2 Pro has the arguments before the name and blanks of its own; the checkpoints after it, and all others that write this format, have the name first",
			onlyCalls,
		}},
	}
	templateDifferences = map[string][]difference{
		"hunyuan_a13b": {{
			"the model answers in an answer frame, which its template takes off when it shows earlier turns",
			append([]string{"content", "prose and call", "prose and calls"}, onlyCalls...),
		}},
		"llama4_json": {{
			"the format is that of Llama 3 too, which has a semicolon between calls; Llama 4 has nothing there",
			[]string{"parallel calls", "prose and calls"},
		}},
	}
)

// templateFormats are the formats of our own templates.
var templateFormats = map[string]struct{ format, tool, reasoning string }{
	"deepseek_r1":      {"deepseek_v3", "deepseek_v3", ""},
	"deepseek_v3":      {"deepseek_v3", "deepseek_v3", ""},
	"deepseek_v31":     {"deepseek_v31", "deepseek_v31", "deepseek_v3"},
	"deepseek_v32":     {"deepseek_v32", "deepseek_v32", "deepseek_v3"},
	"deepseek_v4":      {"deepseek_v4", "deepseek_v4", "deepseek_v4"},
	"deepseek_v41":     {"deepseek_v41", "deepseek_v41", "deepseek_v41"},
	"functiongemma":    {"functiongemma", "functiongemma", ""},
	"gemma3_pythonic":  {"pythonic", "pythonic", ""},
	"gemma4":           {"gemma4", "gemma4", "gemma4"},
	"granite":          {"granite", "granite", "granite"},
	"granite_20b_fc":   {"granite-20b-fc", "granite-20b-fc", ""},
	"hermes":           {"hermes", "hermes", ""},
	"hunyuan_a13b":     {"hunyuan_a13b", "hunyuan_a13b", "hunyuan_a13b"},
	"inkling":          {"inkling", "inkling", "inkling"},
	"internlm2_tool":   {"internlm", "internlm", ""},
	"kimi_k3":          {"kimi_k3", "kimi_k3", "kimi_k3"},
	"llama3_json":      {"llama3_json", "llama3_json", ""},
	"llama3_pythonic":  {"pythonic", "pythonic", ""},
	"llama4_json":      {"llama3_json", "llama3_json", ""},
	"llama4_pythonic":  {"llama4_pythonic", "llama4_pythonic", ""},
	"mistral":          {"mistral_v7", "mistral", "mistral"},
	"mistral_parallel": {"mistral_v7", "mistral", "mistral"},
	"phi4_mini":        {"phi4_mini_json", "phi4_mini_json", ""},
	"xlam_llama":       {"xlam", "xlam", ""},
	"xlam_qwen":        {"xlam", "xlam", ""},
}
