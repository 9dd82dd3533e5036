package parlance

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/parlance-llm/parlance/vocabulary"
)

// plainTemplate is a template with a part replaced.
func plainTemplate(replace ...string) string {
	return strings.NewReplacer(replace...).Replace(`{"start_anchor": "A:", "fields": {
		"thinking": {"open": "<think>", "close": "</think>"},
		"content": {"close": "<end>"},
		"tool_calls": {"open_pattern": "<call (?P<name>\\w+)>", "close": "</call>", "content": "json", "transform": {"function": {"name": "{name}", "arguments": "{content}"}}}}}`)
}

// TestTemplateRefused: each fault of a template is named, with the field it stands in.
func TestTemplateRefused(t *testing.T) {
	field := func(inner string) string {
		return `{"start_anchor": "A:", "fields": {"thinking": {"open": "<t>"}, "tool_calls": ` + inner + `}}`
	}
	for _, c := range []struct{ template, says string }{
		{`[]`, `expected a JSON object, found an array`},
		{`{"a`, `expected a JSON object, found text that is no JSON`},
		{`{"response_template": 3}`, `response_template: expected an object, found 3`},
		{plainTemplate(`"fields"`, `"more": 1, "fields"`), `unknown keys 'more'`},
		{plainTemplate(`"fields"`, `"version": 2, "fields"`), `unsupported version 2; expected 1`},
		{plainTemplate(`"fields"`, `"defaults": [], "fields"`), `defaults: expected an object, found an array`},
		{plainTemplate(`"fields"`, `"defaults": {"name": "x"}, "fields"`), `unsupported defaults 'name'`},
		{`{"start_anchor": "A:"}`, `fields: expected a non-empty object, found nothing`},
		{`{"start_anchor": "A:", "fields": {}}`, `fields: expected a non-empty object, found an empty one`},
		{`{"start_anchor": "A:", "fields": {"thoughts": {}}}`, `unsupported fields 'thoughts'; thinking, content and tool_calls can be served`},
		{`{"fields": {"content": {}}}`, `expected start_anchor or start_anchor_pattern, found neither`},
		{plainTemplate(`"fields"`, `"start_anchor_pattern": "x", "fields"`), `expected one of 'start_anchor' and 'start_anchor_pattern', found both`},
		{plainTemplate(`"start_anchor": "A:"`, `"start_anchor": ""`), `start_anchor: expected literals with characters, found an empty one`},
		{plainTemplate(`"start_anchor": "A:"`, `"start_anchor": []`), `start_anchor: expected at least one literal in the list, found none`},
		{plainTemplate(`"start_anchor": "A:"`, `"start_anchor_pattern": "("`), `start_anchor_pattern: expected a ')' to close the group`},
		{plainTemplate(`"open": "<think>", `, ``), `the fields thinking, content have neither 'open' nor 'open_pattern'; at most one field may be the implicit one`},
		{field(`3`), `field 'tool_calls': expected an object, found 3`},
		{field(`{"opens": "x"}`), `field 'tool_calls': unknown keys 'opens'`},
		{field(`{"open": "x", "open_pattern": "y"}`), `field 'tool_calls': expected one of 'open' and 'open_pattern', found both`},
		{field(`{"open": 3}`), `field 'tool_calls': open: expected a string or a list of strings, found 3`},
		{field(`{"open": ["a", 3]}`), `field 'tool_calls': open: expected strings in the list, found 3`},
		{field(`{"open": [""]}`), `field 'tool_calls': open: expected literals with characters, found an empty one`},
		{field(`{"open_pattern": "a("}`), `field 'tool_calls': open_pattern: expected a ')' to close the group, found the end of the pattern, at character 1 of a(`},
		{field(`{"open": "x", "content": "yaml"}`), `field 'tool_calls': unknown content parser 'yaml'; expected one of bool, float, int, json, kv-lines, text, xml-inline`},
		{field(`{"open": "x", "join": ","}`), `field 'tool_calls': 'join' needs 'repeats': true`},
		{field(`{"open": "x", "join": ",", "repeats": true}`), `field 'tool_calls': 'join' needs values that are strings`},
		{field(`{"open": "x", "transform": {"a": "x {content}"}}`), `field 'tool_calls': transform: the string "x {content}" mixes a placeholder with other text`},
		{field(`{"open": "x", "transform_each": true}`), `field 'tool_calls': 'transform_each' needs a 'transform'`},
		{field(`{"open": "x", "transform_each": 1}`), `field 'tool_calls': transform_each: expected true or false, found 1`},
		{field(`{"open_pattern": "(?P<name>x)"}`), `field 'tool_calls': the groups name are captured and there is no 'transform'`},
		{field(`{"open": "x", "content": "xml-inline", "content_args": {"tag_pattern": "["}}`), `field 'tool_calls': content_args: tag_pattern: expected a ']'`},
		{field(`{"open": "x", "content_args": {"string_delims": [["a"]]}}`), `field 'tool_calls': content_args: string_delims: expected pairs of strings`},
		{field(`{"open": "x", "content": "kv-lines", "content_args": {"value_parser": {"name": "y"}}}`), `field 'tool_calls': content_args: value_parser: unknown content parser 'y'`},
		{plainTemplate(`"close": "<end>"`, `"content": "json"`), `field 'content': expected plain text`},
		{plainTemplate(`"close": "</think>"`, `"transform": "{content}"`), `field 'thinking': expected plain text`},
	} {
		_, err := ParseResponseTemplate([]byte(c.template))
		var e *TemplateError
		if !errors.As(err, &e) || !strings.HasPrefix(err.Error(), "Invalid response_template metadata: "+c.says) && !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s\n expected %s\n found %v", c.template, c.says, err)
		}
	}
	// These are found when a parser is made.
	for _, c := range []struct{ template, says string }{
		{field(`{"open": "x", "content": "json", "transform": {"name": "{content}"}}`), `field 'tool_calls': transform: expected an object with function.name and function.arguments, found no function`},
		{field(`{"open": "x", "content": "json", "transform": {"function": {"name": "f"}}}`), `field 'tool_calls': transform: expected function.arguments, found none`},
		{field(`{"open": "x", "content": "json", "transform": {"function": {"name": "{nme}", "arguments": "{content}"}}}`), `field 'tool_calls': transform: the placeholder {nme} stands for nothing; known are content`},
		{field(`{"content": "json", "transform": {"function": "{content}"}}`), `field 'tool_calls': expected 'open' or 'open_pattern', found neither`},
		{field(`{"open": "x", "content": "xml-inline", "transform": {"function": {"name": "f", "arguments": "{content}"}}}`), `field 'tool_calls': content_args: expected a tag_pattern for xml-inline, found none`},
		{field(`{"open": "x", "content": "xml-inline", "content_args": {"tag_pattern": "<a>"}, "transform": {"function": {"name": "f", "arguments": "{content}"}}}`), `field 'tool_calls': content_args: tag_pattern: expected a group 'key', found none in <a>`},
		{plainTemplate(`<call (?P<name>\\w+)>`, `\\d+(?P<name>\\w+)>`), `field 'tool_calls': open_pattern: nothing tells where a run of characters ends`},
		{plainTemplate(`<call (?P<name>\\w+)>`, `\\d+<(?P<name>\\w+)>`), `field 'tool_calls': open_pattern: expected fixed text at the beginning of`},
		{plainTemplate(`<call (?P<name>\\w+)>`, `<(?P<name>\\w+)(?=>)`), `field 'tool_calls': a look-ahead can only be asked for at the end of a tag_pattern`},
		{plainTemplate(`"close": "</call>"`, `"close_pattern": "</call \\d+>"`), `field 'tool_calls': close_pattern: expected fixed text and white space in the closer of a call, found a run of characters`},
	} {
		parsed, err := ParseResponseTemplate([]byte(c.template))
		if err == nil {
			_, err = LookupTemplate("hf", "hf", parsed)
		}
		var e *TemplateError
		if !errors.As(err, &e) || !strings.HasPrefix(err.Error(), "Invalid response_template metadata: "+c.says) {
			t.Errorf("%s\n expected %s\n found %v", c.template, c.says, err)
		}
	}
}

// TestTemplateNames: which names go together, and what is said if they do not, or if the template is missing.
func TestTemplateNames(t *testing.T) {
	whole, err := ParseResponseTemplate([]byte(plainTemplate()))
	if err != nil {
		t.Fatal(err)
	}
	bare, err := ParseResponseTemplate([]byte(`{"start_anchor": "A:", "fields": {"content": {}}}`))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		tool, reasoning string
		template        *ResponseTemplate
		says            string
	}{
		{"hf", "hf", whole, ""}, {"hf", "", whole, ""}, {"", "hf", whole, ""}, {"beam", "beam", whole, ""},
		{"hermes", "qwen3", whole, ""}, {"hermes", "", nil, ""},
		{"hf", "hf", nil, "`--reasoning-parser hf --tool-call-parser hf` requires `response_template` metadata in the tokenizer configuration"},
		{"beam", "", nil, "`--tool-call-parser beam` requires `response_template` metadata in the tokenizer configuration"},
		{"", "hf", nil, "`--reasoning-parser hf` requires `response_template` metadata in the tokenizer configuration"},
		{"hf", "hf", bare, "`--reasoning-parser hf` requires a response_template with a thinking field"},
		{"hf", "", bare, "`--tool-call-parser hf` requires a response_template with a tool_calls field"},
		{"hf", "beam", whole, "--reasoning-parser beam and --tool-call-parser hf cannot be combined"},
		{"hermes", "hf", whole, "--reasoning-parser hf and --tool-call-parser hermes cannot be combined"},
		{"hf", "qwen3", nil, "--reasoning-parser qwen3 and --tool-call-parser hf cannot be combined"},
		{"openai", "beam", whole, "--reasoning-parser beam and --tool-call-parser openai cannot be combined"},
		{"hff", "", whole, "invalid tool call parser: hff"},
	} {
		p, err := LookupTemplate(c.tool, c.reasoning, c.template)
		switch {
		case c.says == "" && err != nil, c.says != "" && (err == nil || !strings.HasPrefix(err.Error(), c.says)):
			t.Errorf("%q %q: expected %q, found %v", c.tool, c.reasoning, c.says, err)
		case c.says == "":
			again, err := LookupTemplate(c.tool, c.reasoning, c.template)
			if err != nil || again != p {
				t.Errorf("%q %q: another parser the second time: %v", c.tool, c.reasoning, err)
			}
		}
	}
	for _, name := range append(ToolNames(), "") {
		if _, err := LookupTemplate(name, "hf", whole); (err == nil) != (name == "hf" || name == "") {
			t.Errorf("%q with hf: %v", name, err)
		}
	}
}

// TestTemplateOfATokenizer: the template is read from a whole configuration, and from a model's folder.
func TestTemplateOfATokenizer(t *testing.T) {
	folder := t.TempDir()
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	if found, err := LoadResponseTemplate(folder); found != nil || err != nil {
		t.Errorf("no files: %v %v", found, err)
	}
	write("tokenizer_config.json", `{"chat_template": "x", "added_tokens_decoder": {}}`)
	if found, err := LoadResponseTemplate(folder); found != nil || err != nil {
		t.Errorf("no template: %v %v", found, err)
	}
	write("processor_config.json", `{"tokenizer": {"response_template": `+plainTemplate()+`}}`)
	if found, err := LoadResponseTemplate(folder); found == nil || err != nil {
		t.Errorf("a processor's template: %v %v", found, err)
	}
	write("tokenizer_config.json", `{"response_template": {"start_anchor": "A:"}}`)
	if _, err := LoadResponseTemplate(folder); err == nil {
		t.Error("a broken template: no error")
	}
	write("tokenizer_config.json", `{"chat_template": "x", "response_template": `+plainTemplate()+`}`)
	found, err := LoadResponseTemplate(folder)
	if err != nil {
		t.Fatal(err)
	}
	p := must(LookupTemplate("hf", "hf", found))
	m := p.Parse(`<think>hm</think>Yes.<call f>{"a": 1}</call><end>`, Request{Prompt: "A:"}, FinishStop)
	if m.Reasoning != "hm" || m.Content != "Yes." || len(m.Calls) != 1 || m.Calls[0].Name != "f" || m.Calls[0].Arguments != `{"a": 1}` {
		t.Error(describe(m))
	}
	if p.ResponseTemplate() != found {
		t.Error("the parser does not tell its template")
	}
}

// TestTemplateTokens: with token ids a marker that is an added token of the vocabulary counts only as that token.
func TestTemplateTokens(t *testing.T) {
	parsed, err := ParseResponseTemplate([]byte(plainTemplate()))
	if err != nil {
		t.Fatal(err)
	}
	p, err := must(LookupTemplate("hf", "hf", parsed)).Bind(vocabulary.New("m", map[string]int{"<think>": 1, "</think>": 2, "</call>": 3, "<call ": 4, "<pad>": 5}))
	if err != nil {
		t.Fatal(err)
	}
	text := func(s string) Token { return Token{Text: s, ID: 100} }
	marker := func(id int) Token { return Token{Text: "?", ID: id} }
	m := p.ParseTokens([]Token{marker(1), text("a "), text("</think>"), text(" b"), marker(2), text("<call f>{} "), marker(4), text("g>"), text(`{"a": "`), text("</call>"), text(`"}`), marker(3), text("ok")}, Request{Prompt: "A:"}, FinishStop)
	if m.Reasoning != "a </think> b" || m.Content != "<call f>{} ok" || len(m.Calls) != 1 || m.Calls[0].Name != "g" || m.Calls[0].Arguments != `{"a": "</call>"}` {
		t.Error(describe(m))
	}
}

// TestTemplatesOfCasesStream: the name of a call is out before its arguments have ended.
func TestTemplatesOfCasesStream(t *testing.T) {
	for _, s := range corpus() {
		if s.parser.template == nil || !strings.HasPrefix(s.id, "hf/") && !strings.HasPrefix(s.id, "beam/") {
			continue
		}
		whole := s.parser.Parse(s.text, s.request, s.reason)
		if len(whole.Calls) == 0 || len(whole.Calls[0].Arguments) < 10 {
			continue
		}
		stream := s.parser.Stream(s.request)
		early := false
		for i := range len(s.text) {
			for _, d := range stream.Write([]byte(s.text[i : i+1])) {
				early = early || d.Kind == Arguments && !json.Valid(d.Text)
			}
		}
		if !early {
			t.Errorf("%s: no part of the arguments came before all of them", s.id)
		}
	}
}

// TestRegionsOfTemplatesAreLinear: what a region that is read whole costs grows with its length (contract 4): openers of
// strings that nothing closes, quotes beside delimiters, and many keys.
func TestRegionsOfTemplatesAreLinear(t *testing.T) {
	regions := map[string]struct{ before, unit string }{
		"response_templates/json-two-delimiters":           {"<c f>{a:«x", "«%d "},
		"response_templates/json-quotes-beside-delimiters": {`<c f>{"c`, `"%d`},
		"response_templates/kv-value-with-separator":       {"<c f>", "key%d: x\n"},
		"response_templates/xml-merge":                     {"<c f>", "<p k%d>x</p>"},
	}
	tried := 0
	for _, s := range corpus() {
		region, ok := regions[s.id]
		if !ok {
			continue
		}
		tried++
		var taken [2]time.Duration
		for i, size := range []int{100_000, 1_600_000} {
			var text strings.Builder
			text.WriteString(region.before)
			for k := 0; text.Len() < size; k++ {
				fmt.Fprintf(&text, region.unit, k)
			}
			start := time.Now()
			s.parser.Parse(text.String()+"</c>", s.request, FinishStop)
			taken[i] = time.Since(start)
		}
		if taken[1] > 120*taken[0] && taken[1] > time.Second {
			t.Errorf("%s: %v, and %v for 16 times the text", s.id, taken[0], taken[1])
		}
	}
	if tried != len(regions) {
		t.Errorf("only %d of %d regions were tried", tried, len(regions))
	}
}
