package parlance

import (
	"encoding/json"
	"errors"
	"math/rand"
	"strings"
	"testing"
)

// randomPattern makes a pattern that may or may not be one, and may or may not be matched while text arrives.
func randomPattern(r *rand.Rand, groups ...string) string {
	atoms := []string{"<a>", "<", ">", "call", " ", `\s*`, `\s+`, `\w+`, `[a-z]`, `[^>]*`, `\d{1,2}`, "(?:x|yy)", "(?:x|xy)?", `\n?`, "::", "é", `.*?`, `(?:<b>)*`, "(?i:ab)", `"`, "{", "[", `\[`}
	var out strings.Builder
	if r.Intn(3) > 0 {
		out.WriteString([]string{"<a>", "<call ", `\s*<c>`, "[T]", "@", "(?:^|A:)<a>", "^<q>", "(?:<c>|<d>)", "<eom>", "<c"}[r.Intn(10)])
	}
	for range r.Intn(4) {
		out.WriteString(atoms[r.Intn(len(atoms))])
	}
	for _, g := range groups {
		out.WriteString("(?P<" + g + ">" + []string{`\w+`, `[\w.-]+`, `[^>\n]+`, `.*?`, `[A-Z]\w*`, `.+?`, `\w+(?:\.\w+)*`}[r.Intn(7)] + ")")
		out.WriteString([]string{">", "", `\n`, "</v>", ` *:`, `">`, `\s*`}[r.Intn(7)])
	}
	return strings.Replace(out.String(), "[T]", `\[T\]`, 1)
}

// randomDelimiter gives a field an opener or a closer.
func randomDelimiter(r *rand.Rand, f map[string]any, key string, groups ...string) {
	lits := []string{"<a>", "</a>", "<a>>", "<eom>", "<eom>A:", "\n", "[X]", "[/X]", "x", "}", "</c>", "<c>", "\"", " ", "é", "<q>", "<"}
	switch r.Intn(4) {
	case 0:
		f[key] = lits[r.Intn(len(lits))]
	case 1:
		f[key] = []string{lits[r.Intn(len(lits))], lits[r.Intn(len(lits))]}
	default:
		f[key+"_pattern"] = randomPattern(r, groups...)
	}
}

// randomTemplate makes a template of parts that may or may not go together.
func randomTemplate(r *rand.Rand) string {
	fields := map[string]any{}
	text := func() map[string]any {
		f := map[string]any{}
		if r.Intn(5) > 0 {
			randomDelimiter(r, f, "open")
		}
		if r.Intn(5) > 0 {
			randomDelimiter(r, f, "close")
		}
		return f
	}
	fields["thinking"] = text()
	if r.Intn(3) > 0 {
		fields["content"] = text()
	}
	if r.Intn(2) > 0 {
		fields["content"] = map[string]any{}
	}
	f := map[string]any{}
	if r.Intn(4) > 0 {
		if r.Intn(2) > 0 {
			f["open_pattern"] = "<call (?P<name>[\\w.-]+)>"
		} else {
			f["open_pattern"] = randomPattern(r, "name")
		}
	} else {
		randomDelimiter(r, f, "open")
	}
	if r.Intn(5) > 0 {
		randomDelimiter(r, f, "close")
	}
	f["content"] = []string{"json", "json", "xml-inline", "kv-lines", "text", "int", "bool", "float"}[r.Intn(8)]
	args := map[string]any{}
	if f["content"] == "xml-inline" {
		args["tag_pattern"] = []string{`<p (?P<key>\w+)>(?P<value>.*?)</p>`, randomPattern(r, "key", "value"), randomPattern(r, "key", "value")}[r.Intn(3)]
	}
	if r.Intn(3) == 0 {
		args["value_parser"] = map[string]any{"name": []string{"json", "text", "int", "kv-lines"}[r.Intn(4)]}
	}
	if r.Intn(4) == 0 {
		args["unquoted_keys"] = true
	}
	if r.Intn(4) == 0 {
		args["string_delims"] = [][]string{{"<q>", "<q>"}}
	}
	if r.Intn(4) == 0 {
		args["kv_sep"], args["line_sep"] = []string{"=", ":", "<v>"}[r.Intn(3)], []string{";", "\n", "</v>"}[r.Intn(3)]
	}
	if r.Intn(6) == 0 {
		args["merge_duplicates"] = true
	}
	f["content_args"] = args
	transforms := []string{`{"function":{"name":"{name}","arguments":"{content}"}}`, `{"function":"{content}"}`, `{"function":{"name":"{content.n}","arguments":"{content.a}"}}`, `{"function":{"name":"f","arguments":{"x":"{content}","n":"{name}"}}}`}
	switch r.Intn(6) {
	case 0:
		f["transform"], f["transform_each"] = json.RawMessage(`{"function":{"name":"{name}","arguments":"{arguments}"}}`), true
	default:
		f["transform"] = json.RawMessage(transforms[r.Intn(len(transforms))])
	}
	fields["tool_calls"] = f
	out, err := json.Marshal(map[string]any{"start_anchor": "A:", "fields": fields})
	if err != nil {
		panic(err)
	}
	return string(out)
}

// TestRandomTemplates: a template is refused with a reason, or holds to the contract on whatever text.
func TestRandomTemplates(t *testing.T) {
	made := 0
	for seed := range 200 * rounds() {
		random := rand.New(rand.NewSource(int64(seed)))
		source := randomTemplate(random)
		parsed, err := ParseResponseTemplate([]byte(source))
		var p *Parser
		if err == nil {
			p, err = LookupTemplate("hf", "hf", parsed)
		}
		if err != nil {
			var e *TemplateError
			if !errors.As(err, &e) {
				t.Fatalf("%T %v\n%s", err, err, source)
			}
			continue
		}
		made++
		s := sample{id: source, parser: p, request: Request{Prompt: "A:"}}
		others := []sample{{text: `<call f>{"a": 1}</c><a>x</a><p k>v</p>k=v;[{"name": "f", "arguments": {}}]<eom>A:`}}
		for range 10 {
			s.reason = []FinishReason{FinishStop, FinishLength}[random.Intn(2)]
			check(t, s, []string{"", `<call f>{"a": 1}</c>`}[random.Intn(2)]+soup(random, s, others), random)
		}
	}
	if made < 50*rounds() {
		t.Errorf("only %d templates could be read", made)
	}
}
