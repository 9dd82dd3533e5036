// Package templates holds chat templates of our own, for model families whose checkpoints need one: because theirs does
// not show tools, writes calls that no parser can read back, or because there is none at all.
//
// Each is written from the description of its family's wire format, and shows tools and calls so that the parser of that
// format reads them. A template is chosen by its name wherever a chat template is asked for: parlance serve
// --chat-template hermes.
package templates

import (
	"embed"
	"path"
	"slices"
	"strings"
)

//go:embed *.jinja
var files embed.FS

// variants are templates that are others with a variable set.
var variants = map[string]struct{ base, set string }{
	"mistral_parallel": {"mistral", "{%- set parallel = true -%}"},
}

// aliases are further names: those of the example templates of vLLM, and spellings of the parsers.
var aliases = map[string]string{
	"llama3.1_json":     "llama3_json",
	"llama3.2_json":     "llama3_json",
	"llama3.2_pythonic": "llama3_pythonic",
	"deepseekv3":        "deepseek_v3",
	"deepseekr1":        "deepseek_r1",
	"deepseekv31":       "deepseek_v31",
	"deepseekv32":       "deepseek_v32",
	"granite-20b-fc":    "granite_20b_fc",
	"internlm":          "internlm2_tool",
	"phi4_mini_json":    "phi4_mini",
}

// Names are the names of all templates, sorted, without their further names.
func Names() []string {
	entries, err := files.ReadDir(".")
	if err != nil {
		panic(err) // an embedded folder can be read
	}
	var names []string
	for _, entry := range entries {
		names = append(names, strings.TrimSuffix(entry.Name(), ".jinja"))
	}
	for name := range variants {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// Source gives the source of a template by its name, or by a further one: a name of an example template of vLLM, with or
// without its path, tool_chat_template_ and .jinja. It answers false if there is none.
func Source(name string) (string, bool) {
	name = strings.TrimPrefix(strings.TrimSuffix(path.Base(name), ".jinja"), "tool_chat_template_")
	if other, ok := aliases[name]; ok {
		name = other
	}
	if variant, ok := variants[name]; ok {
		source, ok := Source(variant.base)
		return variant.set + source, ok
	}
	source, err := files.ReadFile(name + ".jinja")
	return string(source), err == nil
}
