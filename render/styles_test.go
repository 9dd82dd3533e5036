package render_test

// difference is what is written otherwise than the chat template does, and why.
type difference struct {
	reason     string
	situations []string
}

// onlyCalls are the situations with calls and neither reasoning nor prose.
var onlyCalls = []string{"one call", "parallel calls", "empty arguments", "nested values", "unicode", "boolean", "quotes", "empty values"}

// allCalls are all situations with calls.
var allCalls = append([]string{"prose and call", "prose and calls", "reasoning and call", "reasoning and calls", "reasoning, prose and call"}, onlyCalls...)

// formatDifferences are the known differences to testdata/turns.json, templateDifferences those to our own templates, and
// publicDifferences those to templates of the families.
var (
	formatDifferences = map[string][]difference{
		"hermes": {{
			"the template of Hermes 2 Pro has the arguments before the name and blanks of its own; the checkpoints after it, and all others that write this format, have the name first",
			onlyCalls,
		}},
	}
	publicDifferences = map[string][]difference{
		"DeepSeek-V4.1-Flash": {{
			"a call without arguments has an empty line in this template; in those of V3.2 and V4 it has none",
			[]string{"empty arguments", "parallel calls", "prose and calls", "reasoning and calls"},
		}},
		"NVIDIA-Nemotron-3-Super": {{
			"calls are read, and written, by another definition than thoughts: qwen3_coder has no line break behind the last call and two before the first",
			allCalls,
		}},
		"gemma-4-26B-A4B-it-UD-Q8_K_XL": {{
			"the opener of the results, which the template writes behind the calls, is written with the results; and null is None, for the template prints it as Python does",
			allCalls,
		}},
		"gpt-oss-20b-Q8_0": {{
			"the last answer of a conversation ends with the token that ends generation, those before it, as here, with the end of a message",
			[]string{"content"},
		}},
		"laguna": {{
			"Laguna XS, as which the format is written, has line breaks between the parts; Laguna S, of which this is, has none",
			append([]string{"content", "reasoning and content"}, allCalls...),
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
