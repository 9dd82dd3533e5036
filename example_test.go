package parlance_test

import (
	"errors"
	"fmt"
	"log"
	"strings"
	"testing/fstest"

	"github.com/parlance-llm/parlance"
	"github.com/parlance-llm/parlance/vocabulary"
)

// lookup is Lookup for names that are known.
func lookup(tool, reasoning string) *parlance.Parser {
	p, err := parlance.Lookup(tool, reasoning)
	if err != nil {
		log.Fatal(err)
	}
	return p
}

// weather are the tools of the examples.
func weather() *parlance.Tools {
	tools, err := parlance.ParseTools([]byte(`[{"type": "function", "function": {"name": "get_weather", "parameters": {
		"type": "object", "properties": {"city": {"type": "string"}, "days": {"type": "integer"}}}}}]`))
	if err != nil {
		log.Fatal(err)
	}
	return tools
}

// A whole text is sorted at once.
func Example() {
	p, err := parlance.Lookup("hermes", "qwen3")
	if err != nil {
		log.Fatal(err)
	}
	m := p.Parse(`<think>Oslo, then.</think>One moment.
<tool_call>
{"name": "get_weather", "arguments": {"city": "Oslo"}}
</tool_call>`, parlance.Request{}, parlance.FinishStop)
	fmt.Println("reasoning:", m.Reasoning)
	fmt.Println("content:  ", m.Content)
	for _, call := range m.Calls {
		fmt.Println("call:     ", call.Name, call.Arguments)
	}
	// Output:
	// reasoning: Oslo, then.
	// content:   One moment.
	// call:      get_weather {"city": "Oslo"}
}

// A stream takes pieces, cut anywhere, and answers what has become certain. The marker that is cut in two shows nowhere.
func ExampleParser_Stream() {
	s := lookup("hermes", "").Stream(parlance.Request{})
	show := func(deltas []parlance.Delta) {
		for _, d := range deltas {
			switch d.Kind {
			case parlance.Content:
				fmt.Printf("content   %q\n", d.Text)
			case parlance.ToolCall:
				fmt.Printf("call %d    %s\n", d.Call, d.Name)
			case parlance.Arguments:
				fmt.Printf("arguments %q\n", d.Text)
			case parlance.ToolCallEnd:
				fmt.Println("end")
			}
		}
	}
	for _, piece := range []string{"One mo", "ment.<tool", `_call>{"name": "get_`, `weather", "arguments": {"city": `, `"Oslo"}}</tool_call>`} {
		show(s.WriteString(piece))
	}
	show(s.Close(parlance.FinishStop))
	// Output:
	// content   "One mo"
	// content   "ment."
	// call 0    get_weather
	// arguments "{\"city\": "
	// arguments "\"Oslo\"}"
	// end
}

// A Collector puts the deltas of a stream together to a message.
func ExampleCollector() {
	s := lookup("", "deepseek_r1").Stream(parlance.Request{})
	var c parlance.Collector
	for piece := range strings.SplitSeq("It is noon, |so lunch.</thi|nk>Lunch!", "|") {
		c.Add(s.WriteString(piece))
	}
	c.Add(s.Close(parlance.FinishStop))
	m := c.Message()
	fmt.Printf("%q %q\n", m.Reasoning, m.Content)
	// Output:
	// "It is noon, so lunch." "Lunch!"
}

// The schema of a tool says what a value is that is written without a type.
func ExampleParseTools() {
	const text = `<tool_call>
<function=get_weather>
<parameter=city>
2024
</parameter>
<parameter=days>
3
</parameter>
</function>
</tool_call>`
	p := lookup("qwen3_coder", "")
	m := p.Parse(text, parlance.Request{Tools: weather()}, parlance.FinishStop)
	fmt.Println(m.Calls[0].Arguments)
	m = p.Parse(text, parlance.Request{}, parlance.FinishStop)
	fmt.Println(m.Calls[0].Arguments, "(without tools)")

	_, err := parlance.ParseTools([]byte(`[{"type": "function", "function": {"name": ""}}]`))
	fmt.Println(err)
	// Output:
	// {"city": "2024", "days": 3}
	// {"city": "2024", "days": "3"} (without tools)
	// tools[0]: function.name: expected a name, found ""
}

// Segments are what was written, in its order.
func ExampleMessage_segments() {
	m := lookup("mistral", "mistral").Parse(`First this.[TOOL_CALLS]get_weather[ARGS]{"city": "Oslo"} Then that.`, parlance.Request{}, parlance.FinishStop)
	for _, segment := range m.Segments {
		switch segment.Kind {
		case parlance.ToolCall:
			fmt.Println("call", m.Calls[segment.Call].Name)
		default:
			fmt.Printf("%v %q\n", segment.Kind, segment.Text)
		}
	}
	// Output:
	// content "First this."
	// call get_weather
	// content " Then that."
}

// The end of the prompt, or else the arguments of the chat template, tells whether the output begins in a thought.
func ExampleParser_PromptState() {
	p := lookup("qwen3_coder", "qwen3")
	for _, r := range []parlance.Request{
		{Prompt: "<|im_start|>assistant\n<think>\n"},
		{Prompt: "<|im_start|>assistant\n<think>\n\n</think>\n\n"},
		{ChatTemplateKwargs: map[string]any{"enable_thinking": false}},
		{},
	} {
		state := p.PromptState(r)
		m := p.Parse("Six times seven.", r, parlance.FinishStop)
		fmt.Printf("%-6v inside: %-5v reasoning %q, content %q\n", state.Prompt, state.Inside, m.Reasoning, m.Content)
	}
	// Output:
	// open   inside: true  reasoning "Six times seven.", content ""
	// closed inside: false reasoning "", content "Six times seven."
	// silent inside: false reasoning "", content "Six times seven."
	// silent inside: true  reasoning "Six times seven.", content ""
}

// A tool choice says which calls are meant.
func ExampleToolChoice() {
	p := lookup("hermes", "")
	const call = `<tool_call>{"name": "get_weather", "arguments": {"city": "Oslo"}}</tool_call>`
	m := p.Parse(call, parlance.Request{ToolChoice: parlance.ToolChoice{Mode: "none"}}, parlance.FinishStop)
	fmt.Println(len(m.Calls), "calls with none")

	// A forced call may come as the bare argument object.
	choice, err := parlance.ParseToolChoice([]byte(`{"type": "function", "function": {"name": "get_weather"}}`))
	if err != nil {
		log.Fatal(err)
	}
	m = p.Parse(`{"city": "Oslo"}`, parlance.Request{Tools: weather(), ToolChoice: choice}, parlance.FinishStop)
	fmt.Println(m.Calls[0].Name, m.Calls[0].Arguments)
	// Output:
	// 0 calls with none
	// get_weather {"city": "Oslo"}
}

// Validated calls of a stream are given out when they are whole and valid; one that is broken stays text.
func ExampleRequest_validated() {
	const broken = `<tool_call>{"name": "get_weather", "arguments": {"city": Oslo}}</tool_call>`
	p := lookup("hermes", "")
	for _, validated := range []bool{false, true} {
		s := p.Stream(parlance.Request{Validated: validated})
		var c parlance.Collector
		c.Add(s.WriteString(broken))
		c.Add(s.Close(parlance.FinishStop))
		m := c.Message()
		fmt.Println("validated:", validated, "calls:", len(m.Calls), "malformed:", m.Malformed)
	}
	// Output:
	// validated: false calls: 1 malformed: true
	// validated: true calls: 0 malformed: false
}

// A trace tells what became of each byte.
func ExampleRequest_trace() {
	const text = `Hm.<tool_call>{"name": "now", "arguments": {}}</tool_call>`
	m := lookup("hermes", "").Parse(text, parlance.Request{Trace: true}, parlance.FinishStop)
	for _, span := range m.Trace {
		fmt.Printf("%-9s %q\n", span.Became, text[span.Start:span.End])
	}
	// Output:
	// content   "Hm."
	// markup    "<tool_call>{\"name\": \"now\", \"arguments\": "
	// arguments "{}"
	// markup    "}</tool_call>"
}

// With token ids a marker counts only as its token: characters that merely spell it are text.
func ExampleParser_TokenStream() {
	v := vocabulary.New("example", map[string]int{"<tool_call>": 151657, "</tool_call>": 151658})
	p, err := lookup("hermes", "").Bind(v)
	if err != nil {
		log.Fatal(err)
	}
	s := p.TokenStream(parlance.Request{})
	var c parlance.Collector
	for _, token := range []parlance.Token{
		{Text: "Write ", ID: 7985}, {Text: "<tool", ID: 27}, {Text: "_call>", ID: 13429}, {Text: " like so:", ID: 1075},
		{Text: "<tool_call>", ID: 151657}, {Text: `{"name": "now", "arguments": {}}`, ID: 4913}, {Text: "</tool_call>", ID: 151658},
	} {
		c.Add(s.WriteTokens(token))
	}
	c.Add(s.Close(parlance.FinishStop))
	m := c.Message()
	fmt.Printf("%q and %d call\n", m.Content, len(m.Calls))
	// Output:
	// "Write <tool_call> like so:" and 1 call
}

// A parser can be used with a vocabulary only if that has the tokens that the format needs.
func ExampleParser_Bind() {
	_, err := lookup("jamba", "").Bind(vocabulary.New("someone/model", map[string]int{"<|eom|>": 7}))
	var lacks *parlance.VocabularyError
	if errors.As(err, &lacks) {
		fmt.Println(lacks.Model, "lacks", lacks.Missing)
	}
	// Output:
	// someone/model lacks [<tool_calls> </tool_calls>]
}

// An unknown name comes with those that are like it.
func ExampleLookup() {
	_, err := parlance.Lookup("quen3_coder", "")
	var unknown *parlance.NameError
	if errors.As(err, &unknown) {
		fmt.Println(err)
	}
	// Output:
	// invalid tool call parser: quen3_coder (did you mean qwen3_coder?)
}

// Formats of your own are definitions in the same notation; this one is a dialect of a format that is there.
func ExampleRegistry_Register() {
	files := fstest.MapFS{"example.yaml": {Data: []byte(`
format: example
title: The calls of Hermes in other tags
extends: hermes
tool: [example]
respell: {"<tool_call>": "<call>", "</tool_call>": "</call>"}
`)}}
	r := parlance.NewRegistry()
	if err := r.Register(files, parlance.Registration{}); err != nil {
		log.Fatal(err)
	}
	p, err := r.Lookup("example", "")
	if err != nil {
		log.Fatal(err)
	}
	m := p.Parse(`<call>{"name": "now", "arguments": {}}</call>`, parlance.Request{}, parlance.FinishStop)
	fmt.Println(m.Calls[0].Name)

	files["example.yaml"].Data = []byte("format: example\ntool: [example]\ngrammar: |\n  call = \"<call>\" @name\n")
	fmt.Println(parlance.NewRegistry().Register(files, parlance.Registration{Where: "my-formats/"}))
	// Output:
	// now
	// my-formats/example.yaml:5:3: expected '.' at the end of the rule call, found the end of the grammar
}

// Formats are listed without being compiled.
func ExampleFormat() {
	info, ok := parlance.Format("seed_oss")
	if !ok {
		log.Fatal("no such format")
	}
	fmt.Println(info.Title)
	fmt.Println("a dialect of", info.Extends, "for", strings.Join(info.Models, ", "))
	fmt.Println("on by default:", info.Thinking["seed_oss"].OnByDefault)
	// Output:
	// XML parameters between seed tags
	// a dialect of qwen3_coder for ByteDance-Seed/Seed-OSS-36B-*
	// on by default: true
}
