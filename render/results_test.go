package render_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/parlance-llm/parlance"
	"github.com/parlance-llm/parlance/render"
	"github.com/parlance-llm/parlance/vocabulary"
)

func rendererFor(t *testing.T, tool, reasoning string) *render.Renderer {
	t.Helper()
	r, err := render.For(tool, reasoning)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func call(id, name string) parlance.Call { return parlance.Call{ID: id, Name: name, Arguments: "{}"} }

func asked(calls ...parlance.Call) *parlance.Message { return &parlance.Message{Calls: calls} }

func TestResults(t *testing.T) {
	object := render.Result{Value: []byte(` {"b":[1 ,2.50], "a" :"\u0061<x>"}`)}
	for name, c := range map[string]struct {
		tool, reasoning, variant string
		answered                 *parlance.Message
		results                  []render.Result
		earlier                  int
		want                     string
	}{
		"none":                        {"hermes", "", "", asked(call("", "f")), nil, 0, ""},
		"by the id of the call":       {"hermes", "", "", asked(call("1", "f"), call("2", "g")), []render.Result{{ID: "2", Content: "x"}}, 0, "<|im_end|>\n<|im_start|>tool\n<tool_response>\n{\"name\": \"g\", \"content\": \"x\"}\n</tool_response><|im_end|>\n<|im_start|>assistant\n"},
		"the call's name counts":      {"hermes", "", "", asked(call("1", "f")), []render.Result{{ID: "1", Name: "other", Content: "x"}}, 0, "<|im_end|>\n<|im_start|>tool\n<tool_response>\n{\"name\": \"f\", \"content\": \"x\"}\n</tool_response><|im_end|>\n<|im_start|>assistant\n"},
		"by the place, without ids":   {"olmo3", "", "", asked(call("", "f"), call("", "g")), []render.Result{{Content: "x"}, {ID: "made up", Content: "y"}}, 0, "<|im_end|>\n<|im_start|>tool\nFunction f returned:\nx<|im_end|>\n<|im_start|>tool\nFunction g returned:\ny<|im_end|>\n<|im_start|>assistant\n"},
		"no call is known":            {"hermes", "", "", nil, []render.Result{{ID: "1", Name: "f", Content: "x"}}, 0, "<|im_end|>\n<|im_start|>tool\n<tool_response>\n{\"name\": \"f\", \"content\": \"x\"}\n</tool_response><|im_end|>\n<|im_start|>assistant\n"},
		"no name, where it may lack":  {"hermes", "", "", nil, []render.Result{{Content: "x"}}, 0, "<|im_end|>\n<|im_start|>tool\n<tool_response>\n{\"content\": \"x\"}\n</tool_response><|im_end|>\n<|im_start|>assistant\n"},
		"another word for no name":    {"gemma4", "", "", nil, []render.Result{{Content: "x"}}, 0, `<|tool_response>response:unknown{value:<|"|>x<|"|>}<tool_response|>`},
		"the id as the call shows it": {"kimi_k2", "", "", asked(call("call_abc", "f")), []render.Result{{ID: "call_abc", Content: "x"}}, 3, "<|im_end|><|im_system|>tool<|im_middle|>## Return of functions.f:3\nx<|im_end|><|im_assistant|>assistant<|im_middle|>"},
		"the id of an unknown call":   {"kimi_k2", "", "", nil, []render.Result{{ID: "functions.f:9", Content: "x"}}, 0, "<|im_end|><|im_system|>tool<|im_middle|>## Return of functions.f:9\nx<|im_end|><|im_assistant|>assistant<|im_middle|>"},
		"numbers from 1, in a tag":    {"kimi_k3", "", "", asked(call("1", "f"), call("2", `g"&<`)), []render.Result{{ID: "2", Content: "x"}}, 0, `<|end_of_msg|><|open|>message role="tool" tool="g&quot;&amp;&lt;" index="2"<|sep|>x<|close|>message<|sep|><|end_of_msg|><|open|>message role="assistant"<|sep|>`},
		"no attribute without a call": {"kimi_k3", "", "", nil, []render.Result{{Name: "f", Content: "x"}}, 0, `<|end_of_msg|><|open|>message role="tool" tool="f"<|sep|>x<|close|>message<|sep|><|end_of_msg|><|open|>message role="assistant"<|sep|>`},
		"text as a JSON string":       {"llama4_json", "", "", asked(call("", "f")), []render.Result{{Content: "a\n\"é\" \x01<|eot|>"}}, 0, "<|eot|><|header_start|>ipython<|header_end|>\n\n\"a\\n\\\"é\\\" \\u0001<|eot|>\"<|eom|><|header_start|>assistant<|header_end|>\n\n"},
		"JSON as text":                {"qwen3_json", "", "", asked(call("", "f")), []render.Result{object}, 0, "<|im_end|>\n<|im_start|>user\n<tool_response>\n{\"b\": [1, 2.50], \"a\": \"a<x>\"}\n</tool_response><|im_end|>\n<|im_start|>assistant\n"},
		"JSON in an envelope":         {"llama3_json", "", "", asked(call("", "f")), []render.Result{object}, 0, "<|eot_id|><|start_header_id|>ipython<|end_header_id|>\n\n{\"output\": {\"b\": [1, 2.50], \"a\": \"a<x>\"}}<|eot_id|><|start_header_id|>assistant<|end_header_id|>\n\n"},
		"a JSON string is its text":   {"qwen3_json", "", "", asked(call("", "f")), []render.Result{{Value: []byte(`"a\nb"`)}}, 0, "<|im_end|>\n<|im_start|>user\n<tool_response>\na\nb\n</tool_response><|im_end|>\n<|im_start|>assistant\n"},
		"a number":                    {"qwen3_json", "", "", asked(call("", "f")), []render.Result{{Value: []byte(`1.50`)}}, 0, "<|im_end|>\n<|im_start|>user\n<tool_response>\n1.50\n</tool_response><|im_end|>\n<|im_start|>assistant\n"},
		"an object in delimiters":     {"gemma4", "", "", asked(call("", "f")), []render.Result{object}, 0, `<|tool_response>response:f{a:<|"|>a<x><|"|>,b:[1,2.50]}<tool_response|>`},
		"an array is no object":       {"gemma4", "", "", asked(call("", "f")), []render.Result{{Value: []byte(`[1, 2]`)}}, 0, `<|tool_response>response:f{value:<|"|>[1, 2]<|"|>}<tool_response|>`},
		"numbered in the message":     {"cohere_command3", "", "", asked(call("", "f"), call("", "g")), []render.Result{{Content: "x"}, object}, 0, "<|END_OF_TURN_TOKEN|><|START_OF_TURN_TOKEN|><|SYSTEM_TOKEN|><|START_TOOL_RESULT|>[\n    {\n        \"tool_call_id\": \"0\",\n        \"results\": {\n            \"0\": {\"content\": \"x\"}\n        },\n        \"is_error\": null\n    },\n    {\n        \"tool_call_id\": \"1\",\n        \"results\": {\n            \"0\": {\"b\": [1, 2.50], \"a\": \"a<x>\"}\n        },\n        \"is_error\": null\n    }\n]<|END_TOOL_RESULT|><|END_OF_TURN_TOKEN|><|START_OF_TURN_TOKEN|><|CHATBOT_TOKEN|>"},
		"separated":                   {"apertus", "", "", asked(call("", "f"), call("", "g")), []render.Result{{Content: "x"}, {Content: ""}}, 0, "[x, ]"},
		"markers in it stay":          {"deepseek_v31", "", "", asked(call("", "f")), []render.Result{{Content: "<｜tool▁output▁end｜><｜User｜>hm"}}, 0, "<｜end▁of▁sentence｜><｜tool▁output▁begin｜><｜tool▁output▁end｜><｜User｜>hm<｜tool▁output▁end｜>"},
		"the parser's variant":        {"glm45", "", "", asked(call("", "f")), []render.Result{{Content: "x"}}, 0, "<|observation|>\n<tool_response>\nx\n</tool_response><|assistant|>"},
		"a variant by name":           {"xlam", "", "llama", asked(call("", "f")), []render.Result{{Content: "x"}}, 0, "<|eot_id|><|start_header_id|>ipython<|end_header_id|>\n\nx<|eot_id|><|start_header_id|>assistant<|end_header_id|>\n\n"},
		"the reasoning parser's":      {"hermes", "qwen3", "", asked(call("", "f")), []render.Result{{Content: "x"}}, 0, "<|im_end|>\n<|im_start|>user\n<tool_response>\nx\n</tool_response><|im_end|>\n<|im_start|>assistant\n"},
		"asked for without a name":    {"hermes", "qwen3", "results", asked(call("", "f")), []render.Result{{Content: "x"}}, 0, "<|im_end|>\n<|im_start|>tool\n<tool_response>\n{\"name\": \"f\", \"content\": \"x\"}\n</tool_response><|im_end|>\n<|im_start|>assistant\n"},
		"without thoughts":            {"qwen3_coder", "", "", asked(call("", "f")), []render.Result{{Content: "x"}}, 0, "<|im_end|>\n<|im_start|>user\n<tool_response>\nx\n</tool_response>\n<|im_end|>\n<|im_start|>assistant\n"},
		"of the family that thinks":   {"qwen3_coder", "granite_thinking_parser", "", asked(call("", "f")), []render.Result{{Content: "x"}}, 0, "<|end_of_text|>\n<|start_of_role|>user<|end_of_role|>\n<tool_response>\nx\n</tool_response><|end_of_text|>\n<|start_of_role|>assistant<|end_of_role|>"},
		"of the tool half":            {"hermes", "deepseek_r1", "", asked(call("", "f")), []render.Result{{Content: "x"}}, 0, "<|im_end|>\n<|im_start|>tool\n<tool_response>\n{\"name\": \"f\", \"content\": \"x\"}\n</tool_response><|im_end|>\n<|im_start|>assistant\n"},
		"of the tool half, again":     {"hermes", "ernie45", "", asked(call("", "f")), []render.Result{{Content: "x"}}, 0, "<|im_end|>\n<|im_start|>tool\n<tool_response>\n{\"name\": \"f\", \"content\": \"x\"}\n</tool_response><|im_end|>\n<|im_start|>assistant\n"},
	} {
		t.Run(name, func(t *testing.T) {
			r := rendererFor(t, c.tool, c.reasoning)
			got, err := r.Results(c.answered, c.results, render.Options{EarlierCalls: c.earlier, Results: c.variant})
			if err != nil || got != c.want {
				t.Errorf("expected %q\nfound    %q, %v", c.want, got, err)
			}
		})
	}
}

func TestResultsRefused(t *testing.T) {
	for name, c := range map[string]struct {
		tool, reasoning, variant string
		answered                 *parlance.Message
		result                   render.Result
		reason                   render.Reason
		want                     string
	}{
		"none are known":       {"dots", "", "", asked(call("", "f")), render.Result{}, render.ReasonResults, "dots cannot carry the message (results): the definition dots does not say how tool results are written: no chat template of the family is known"},
		"no such variant":      {"xlam", "", "qwen", asked(call("", "f")), render.Result{}, render.ReasonResults, `xlam cannot carry the message (results): the definition xlam has no variant "qwen" for tool results; its variants: llama`},
		"no variants":          {"jamba", "", "qwen", asked(call("", "f")), render.Result{}, render.ReasonResults, `jamba cannot carry the message (results): the definition jamba has no variant "qwen" for tool results; its variants: none`},
		"no tool half":         {"", "qwen3", "", asked(), render.Result{}, render.ReasonCalls, "qwen3_coder cannot carry the message (calls): expected no tool results, since no tool parser is chosen"},
		"no name":              {"openai", "", "", asked(call("1", "f")), render.Result{ID: "2"}, render.ReasonResult, "openai cannot carry the message (result): expected the name of the function for tool result 0, since the format writes it"},
		"no id":                {"kimi_k2", "", "", nil, render.Result{}, render.ReasonResult, "kimi_k2 cannot carry the message (result): expected the id of the call for tool result 0, since the format writes it"},
		"an id that cannot be": {"mistral_v11", "", "", asked(call("call_1", "f")), render.Result{ID: "call_1"}, render.ReasonResult, `mistral_v11 cannot carry the message (result of call 0): expected an id of nine letters or digits for tool result 0, since the format writes it, found "call_1"`},
		"no JSON":              {"hermes", "", "", asked(call("", "f")), render.Result{Value: []byte(`{a`)}, render.ReasonResult, `hermes cannot carry the message (result of call 0): expected JSON as the value of the result, found "{a"`},
		"a broken string":      {"hermes", "", "", asked(call("", "f")), render.Result{Value: []byte(`"a`)}, render.ReasonResult, `hermes cannot carry the message (result of call 0): expected JSON as the value of the result, found "\"a"`},
		"nothing like JSON":    {"hermes", "", "", asked(call("", "f")), render.Result{Value: []byte(`?`)}, render.ReasonResult, `hermes cannot carry the message (result of call 0): expected JSON as the value of the result, found "?"`},
		"calls that cannot":    {"kimi_k2", "", "", asked(parlance.Call{Name: "two words", Arguments: "{}"}), render.Result{}, render.ReasonName, "kimi_k2 cannot carry the message (name of call 0): "},
		"the delimiter":        {"gemma4", "", "", asked(call("", "f")), render.Result{Value: []byte(`{"a": "<|\"|>"}`)}, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			r := rendererFor(t, strings.TrimSuffix(c.tool, "_v11"), c.reasoning)
			if f, ok := parlance.Format(c.tool); ok && c.tool != f.ToolNames[0] {
				r = rendererOf(t, &f) // a dialect that shares its name
			}
			_, err := r.Results(c.answered, []render.Result{c.result}, render.Options{Results: c.variant})
			if c.reason == "" {
				if err != nil {
					t.Errorf("expected the text that the object is, found %v", err)
				}
				return
			}
			var refused *render.Error
			if !errors.As(err, &refused) || refused.Reason != c.reason || !strings.HasPrefix(err.Error(), c.want) {
				t.Errorf("expected %s\nfound    %v", c.want, err)
			}
		})
	}
}

// TestResultsOfAPlugin holds that a user's definition can do what a built-in can, and that one that says nothing of results
// is told so.
func TestResultsOfAPlugin(t *testing.T) {
	const plugin = `format: mine
tool: [mine]
holes: {s: ["<call{s}>"]}
turn: {begin: "<model{s}>", end: "<end>"}
grammar: |
  output = { @content | call } .
  call   = "<call{s}>" ~ json{ "name": @name, "arguments": @arguments } ~ "</call{s}>" .
`
	for name, c := range map[string]struct{ results, want, refused string }{
		"with results":    {"results: |\n  results = \"<end>\" { \"<r{s}>\" @name:json json{ \"kind\": \"result\", \"n\": @index } @content \"</r{s}>\" } turn .\n", `<end><r:v2>"f"{"kind": "result", "n": "0"}x</r:v2><model:v2>`, ""},
		"without results": {"", "", "mine cannot carry the message (results): the definition mine does not say how tool results are written"},
	} {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "mine.yaml")
			if err := os.WriteFile(file, []byte(plugin+c.results), 0o600); err != nil {
				t.Fatal(err)
			}
			registry := parlance.NewRegistry()
			if err := registry.Register(os.DirFS(filepath.Dir(file)), parlance.Registration{}); err != nil {
				t.Fatal(err)
			}
			p, err := registry.Lookup("mine", "")
			if err != nil {
				t.Fatal(err)
			}
			o := render.Options{Request: parlance.Request{Prompt: "<call:v2>"}}
			got, err := render.New(p).Results(asked(call("", "f")), []render.Result{{Content: "x"}}, o)
			if c.refused != "" {
				if err == nil || err.Error() != c.refused {
					t.Errorf("expected %s, found %v", c.refused, err)
				}
				return
			}
			if err != nil || got != c.want {
				t.Errorf("expected %q, found %q, %v", c.want, got, err)
			}
		})
	}
}

// TestResultsOfResponseTemplates holds that the formats whose grammar comes with the checkpoint refuse results with the
// reason.
func TestResultsOfResponseTemplates(t *testing.T) {
	template, err := parlance.ParseResponseTemplate([]byte(`{"start_anchor": "A:", "fields": {"thinking": {"open": "<t>", "close": "</t>"}, "tool_calls": {"open_pattern": "<c (?P<name>\\w+)>", "close": "</c>", "content": "json", "transform": {"type": "function", "function": {"name": "{name}", "arguments": "{content}"}}}}}`))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"hf", "beam"} {
		p, err := parlance.LookupTemplate(name, name, template)
		if err != nil {
			t.Fatal(err)
		}
		_, err = render.New(p).Results(nil, []render.Result{{Content: "x"}}, render.Options{})
		var refused *render.Error
		if !errors.As(err, &refused) || refused.Reason != render.ReasonResults || !strings.Contains(err.Error(), "the chat template of the checkpoint writes them") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestResultsAreToldOf holds that every built-in format with calls says how results are written, or why it does not.
func TestResultsAreToldOf(t *testing.T) {
	for _, f := range parlance.Formats() {
		if len(f.ToolNames) > 0 && (f.Results == "") == (f.NoResults == "") {
			t.Errorf("%s: expected the key results, with rules or the reason why there are none", f.Name)
		}
	}
}

func TestOutlineResults(t *testing.T) {
	answered := asked(call("1", "f"), call("2", "g"))
	text, parts, err := rendererFor(t, "openai", "").OutlineResults(answered, []render.Result{{ID: "2", Content: "<|end|>"}, {ID: "1", Content: ""}}, render.Options{})
	if err != nil {
		t.Fatal(err)
	}
	want := []render.Part{
		{Kind: render.PartMarkup, Call: 1}, {Kind: render.PartName, Call: 1}, {Kind: render.PartMarkup, Call: 1}, {Kind: render.PartContent, Call: 1}, {Kind: render.PartMarkup, Call: 1},
		{Kind: render.PartMarkup, Call: 0}, {Kind: render.PartName, Call: 0}, {Kind: render.PartMarkup, Call: 0},
		{Kind: render.PartMarkup, Call: -1},
	}
	at := 0
	for k, part := range parts {
		if part.Start != at || k >= len(want) || part.Kind != want[k].Kind || part.Call != want[k].Call {
			t.Fatalf("part %d of %d: %+v %q in %q", k, len(parts), part, text[part.Start:part.End], text)
		}
		at = part.End
		if part.Kind == render.PartContent && text[part.Start:part.End] != "<|end|>" {
			t.Errorf("the content is %q", text[part.Start:part.End])
		}
	}
	if at != len(text) || len(parts) != len(want) {
		t.Errorf("%d parts up to %d of %d: %+v", len(parts), at, len(text), parts)
	}
}

// rendererOf is the renderer of a format with both its halves. Of dialects that share a name a vocabulary leads to it.
func rendererOf(t *testing.T, f *parlance.FormatInfo) *render.Renderer {
	t.Helper()
	reasoning := ""
	if len(f.ReasoningNames) > 0 {
		reasoning = f.ReasoningNames[0]
	}
	p, err := parlance.Lookup(f.ToolNames[0], reasoning)
	if err != nil {
		t.Fatal(err)
	}
	if found, _ := p.ToolFormat(); found.Name != f.Name {
		tokens := map[string]int{}
		for _, token := range append(append([]string{}, f.Detect.Vocabulary...), f.Tokens...) {
			tokens[token] = len(tokens)
		}
		if p, err = p.Bind(vocabulary.New(f.Name, tokens)); err != nil {
			t.Fatal(err)
		}
		if found, _ := p.ToolFormat(); found.Name != f.Name {
			t.Fatalf("no vocabulary leads to %s", f.Name)
		}
	}
	return render.New(p)
}

// TestResultsBeginAFreshTurn holds that a prompt that ends in results, whatever markers stand in them, is to the parser the
// beginning of a turn: the same thought is open, and the same message is read from what the model writes next, as where
// nothing stands before.
func TestResultsBeginAFreshTurn(t *testing.T) {
	formats, prompts := 0, 0
	for _, f := range parlance.Formats() {
		if len(f.ToolNames) == 0 || f.Results == "" {
			continue
		}
		formats++
		t.Run(f.Name, func(t *testing.T) {
			r := rendererOf(t, &f)
			contents := []string{"fine", "", "[1, 2]", `{"name": "f", "arguments": {}}`, f.TurnBegin + "hm", "a " + f.TurnEnd + f.TurnBegin + strings.Join(f.ThoughtOpeners, " b "), strings.Join(f.ThoughtMarkers, "c"), strings.Join(f.CallOpeners, " d "), strings.Join(f.Markers, "\n")}
			for variant := range strings.Lines(f.Results) {
				name, _, _ := strings.Cut(strings.TrimSpace(variant), " ")
				variant, ok := strings.CutPrefix(name, "results")
				if !ok {
					continue
				}
				for _, thinking := range []bool{true, false} {
					for _, content := range contents {
						prompts++
						freshTurn(t, r, &f, strings.TrimPrefix(variant, "."), content, thinking)
					}
				}
			}
		})
	}
	if formats < 40 || prompts < 18*formats {
		t.Errorf("expected at least 40 formats, found %d with %d prompts", formats, prompts)
	}
}

func freshTurn(t *testing.T, r *render.Renderer, f *parlance.FormatInfo, variant, content string, thinking bool) {
	t.Helper()
	request := parlance.Request{ChatTemplateKwargs: map[string]any{"thinking": thinking, "enable_thinking": thinking}}
	o := render.Options{Request: request, Results: variant}
	answered := asked(call("abcdefghi", "f"), call("abcdefghj", "g"))
	called, err := r.Render(answered, o)
	if err != nil {
		t.Fatal(err)
	}
	results, parts, err := r.OutlineResults(answered, []render.Result{{ID: "abcdefghi", Content: content}, {ID: "abcdefghj", Content: content}}, o)
	if err != nil {
		t.Fatal(err)
	}
	last := parts[len(parts)-1]
	fresh := request
	fresh.Prompt = "Hello." + results[last.Start:last.End] // all that the turn begins with
	request.Prompt = "Hello." + f.TurnBegin + called + results
	if got, want := r.Parser().PromptState(request), r.Parser().PromptState(fresh); got != want {
		t.Errorf("behind %q the turn begins as %+v, expected %+v", results, got, want)
	}
	next := &parlance.Message{Content: "It is fine."}
	o.Request = request
	text, err := r.Render(next, o)
	if err != nil {
		t.Fatal(err)
	}
	for _, request := range []parlance.Request{request, fresh} {
		if read := r.Parser().Parse(text, request, parlance.FinishStop); read.Content != next.Content || read.Reasoning != "" || len(read.Calls) != 0 {
			t.Errorf("behind %q, %q is read as %+v", results, text, read)
		}
	}
}
