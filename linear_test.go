package parlance

import (
	"math/rand"
	"reflect"
	"runtime"
	"strings"
	"sync"
	"testing"
)

// repeated are texts that make a parser work hard: markers, halves of markers and pieces of calls, over and over.
func repeated(s sample, others []sample, times int) (out []string) {
	markers := s.parser.markersFor(&s.request)
	for _, marker := range markers {
		out = append(out, strings.Repeat(marker, times), strings.Repeat(marker+" ", times), strings.Repeat(marker[:(len(marker)+1)/2], times))
	}
	for _, first := range markers {
		for _, second := range []string{"{", "[", "\"", "x", "\n", "'", "\\", "(", ",", "="} {
			out = append(out, strings.Repeat(first+second, times), first+strings.Repeat(second, times))
		}
	}
	for k := range min(len(others), 3) {
		text := others[k].text
		for _, part := range []int{1, 2, 3} {
			out = append(out, strings.Repeat(text[:len(text)*part/3], times))
		}
	}
	return out
}

// steps counts the steps of a text's reading in pieces of four bytes.
func steps(s sample, text string) int {
	stream := s.parser.Stream(s.request)
	for rest := text; len(rest) > 0; {
		n := min(4, len(rest))
		stream.WriteString(rest[:n])
		rest = rest[n:]
	}
	stream.Close(FinishStop)
	return stream.m.Steps()
}

// TestWorkIsLinear: the third hundred of repetitions takes no more steps than the second (contract 4). The first may take
// fewer, until what is held has reached its limit.
func TestWorkIsLinear(t *testing.T) {
	groups := byParser(corpus())
	for _, others := range groups {
		s := others[0]
		one, two, three := repeated(s, others, 100), repeated(s, others, 200), repeated(s, others, 300)
		for i := range one {
			a, b, c := steps(s, one[i]), steps(s, two[i]), steps(s, three[i])
			if 2*(c-b) > 3*(b-a)+1000 && c > 3*len(three[i]) {
				t.Errorf("tool %q reasoning %q: %d, %d and %d bytes of %.60q… take %d, %d and %d steps", s.parser.tool, s.parser.reasoning, len(one[i]), len(two[i]), len(three[i]), one[i], a, b, c)
			}
			if c > 40*len(three[i])+1000 {
				t.Errorf("tool %q reasoning %q: %d bytes of %.60q… take %d steps", s.parser.tool, s.parser.reasoning, len(three[i]), three[i], c)
			}
		}
	}
}

// TestHeldIsBounded: what is held of a large call that streams stays small (contract 4).
func TestHeldIsBounded(t *testing.T) {
	for _, c := range []struct{ tool, before, unit, after string }{
		{"hermes", `<tool_call>{"name": "f", "arguments": {"a": "`, `some text with a \" quote and a \n break, `, `"}}</tool_call>`},
		{"qwen3_coder", "<tool_call>\n<function=f>\n<parameter=a>\n", "some text with a < sign and a </par in it\n", "\n</parameter>\n</function>\n</tool_call>"},
		{"glm47", "<tool_call>f<arg_key>a</arg_key><arg_value>", "some text with a < sign and a </arg in it\n", "</arg_value></tool_call>"},
		{"kimi_k2", "<|tool_calls_section_begin|><|tool_call_begin|>functions.f:0<|tool_call_argument_begin|>{\"a\": [", `{"b": [1, 2.5, "x"]}, `, `1]}<|tool_call_end|><|tool_calls_section_end|>`},
		{"pythonic", "[f(a='", "some text with a \\' quote and a \\n break ", "')]"},
		{"gemma4", `<|tool_call>call:f{a:<|"|>`, "some text, with <| and { in it\n", `<|"|>}<tool_call|>`},
		{"minimax_m3", "]<]minimax[>[<tool_call>]<]minimax[>[<invoke name=\"f\">]<]minimax[>[<a>", "some text with ]<]mini in it\n", "]<]minimax[>[</a>]<]minimax[>[</invoke>]<]minimax[>[</tool_call>"},
	} {
		p := must(Lookup(c.tool, ""))
		tools, err := ParseTools([]byte(`[{"type": "function", "function": {"name": "f", "parameters": {"type": "object", "properties": {"a": {"type": "string"}}}}}]`))
		if err != nil {
			t.Fatal(err)
		}
		if c.tool == "kimi_k2" {
			tools = nil
		}
		stream := p.Stream(Request{Tools: tools})
		most, given := 0, 0
		write := func(text string) {
			for len(text) > 0 {
				n := min(5, len(text))
				for _, d := range stream.WriteString(text[:n]) {
					if d.Kind == Arguments {
						given += len(d.Text)
					}
				}
				most = max(most, stream.Held())
				text = text[n:]
			}
		}
		write(c.before)
		var before, after runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		size := 10 << 20
		if testing.Short() {
			size = 1 << 20
		}
		for n := 0; n < size; n += len(c.unit) {
			write(c.unit)
		}
		runtime.GC()
		runtime.ReadMemStats(&after)
		write(c.after)
		if most > 64<<10 {
			t.Errorf("%s: %d bytes were held", c.tool, most)
		}
		if grown := int64(after.HeapAlloc) - int64(before.HeapAlloc); grown > 64<<10 {
			t.Errorf("%s: the stream has grown by %d bytes", c.tool, grown)
		}
		if given < size*9/10 {
			t.Errorf("%s: %d bytes of arguments have come", c.tool, given)
		}
		t.Logf("%s: at most %d bytes were held of %d", c.tool, most, given)
	}
}

// TestLimitsAtAnyCut: a candidate reaches the limit at the same byte however the text is cut (contract 1, ruling 41).
func TestLimitsAtAnyCut(t *testing.T) {
	for _, c := range []struct{ tool, reasoning, before, after string }{
		{"xlam", "musespark1x", `[{"name": "`, ` to=f<|message|>x<|eom|>`},
		{"olmo3", "", "<function_calls>\nf(", "=1)\n</function_calls>"},
		{"cohere_command3", "cohere_command3", "<|START_RESPONSE|>It is <co>warm</co: ", ":[1]> today<|END_RESPONSE|>"},
		{"lfm2", "", "<|tool_call_start|>[f(a=1), ", ", g(b=2)]<|tool_call_end|>"},
	} {
		p := must(Lookup(c.tool, c.reasoning))
		for n := 20; n < 80; n++ {
			s := sample{parser: p, request: Request{HeldLimit: 60}, reason: FinishStop}
			text := c.before + strings.Repeat("k", n) + c.after + " end"
			one := streamed(t, s, text, func() int { return len(text) })
			if other := streamed(t, s, text, func() int { return 1 }); !reflect.DeepEqual(one, other) {
				t.Errorf("%q\nin one       %s\nbyte by byte %s", text, describe(one), describe(other))
			}
		}
	}
}

// TestWhatIsNothingIsNotHeld: what may still become a call, and never does, is held up to the limit only (ruling 41): behind
// an element of a list, and where a block may be written a second time.
func TestWhatIsNothingIsNotHeld(t *testing.T) {
	for _, c := range []struct{ tool, before, unit string }{
		{"hunyuan_a13b", `<tool_calls>[{"name": "f", "arguments": {}}, {"na`, "{"},
		{"hunyuan_a13b", `<tool_calls>[{"name": "f", "arguments": {}}, `, `{"x`},
		{"llama4_pythonic", "<|python_start|>[f(a=1), g", "x,"},
		{"xlam", `[{"name": "f", "arguments": {}}, `, "{x"},
		{"lfm2", "<|tool_call_start|>[f(a=1)]<|tool_call_end|>[", " "},
		{"lfm2", "<|tool_call_start|>[f(a=1)]<|tool_call_end|>[f(a=", "\n"},
	} {
		stream := must(Lookup(c.tool, "")).Stream(Request{})
		stream.WriteString(c.before)
		for range 10 {
			stream.WriteString(strings.Repeat(c.unit, 5000))
			if held := stream.Held(); held > 3*4096 {
				t.Errorf("%s: %d bytes are held behind %q and many of %q", c.tool, held, c.before, c.unit)
				break
			}
		}
	}
}

// TestLongPartsAtAnyCut: a part of a text that is longer than what is held at most, white space above all, makes no
// difference to how the text may be cut (contract 1, ruling 41).
func TestLongPartsAtAnyCut(t *testing.T) {
	random := rand.New(rand.NewSource(1))
	for k, s := range corpus() {
		if testing.Short() && k%10 != 0 || len(s.text) == 0 {
			continue
		}
		s.request.Exact = random.Intn(3) == 0
		s.request.HeldLimit, s.request.ArgumentLimit = []int{0, 16, 200}[random.Intn(3)], []int{0, 50, 5000}[random.Intn(3)]
		at := random.Intn(len(s.text))
		filler := []string{" ", "\n", "\t\n", "k", "{", "é", "x, ", "\""}[random.Intn(8)]
		text := s.text[:at] + strings.Repeat(filler, (4000+random.Intn(6000))/len(filler)) + s.text[at:]
		one := streamed(t, s, text, func() int { return len(text) })
		for _, cut := range []int{1, 4097} {
			if other := streamed(t, s, text, func() int { return cut }); !reflect.DeepEqual(one, other) {
				t.Errorf("%s: limits %d and %d, %q from byte %d on, in pieces of %d:\n %.300s\n in one:\n %.300s", s.id, s.request.HeldLimit, s.request.ArgumentLimit, filler, at, cut, describe(other), describe(one))
			}
		}
	}
}

// TestArgumentLimit: the limit of a request bounds the values that must be read whole in every syntax of arguments
// (ruling 41); a value behind it is text.
func TestArgumentLimit(t *testing.T) {
	tools, err := ParseTools([]byte(`[{"type": "function", "function": {"name": "f", "parameters": {"type": "object", "properties": {"a": {"type": "integer"}}}}}]`))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ tool, before, after string }{
		{"qwen3_coder", "<tool_call>\n<function=f>\n<parameter=a>\n", "\n</parameter>\n</function>\n</tool_call>"},
		{"pythonic", "[f(a=(", "))]"},
		{"gemma4", "<|tool_call>call:f{a:", "}<tool_call|>"},
	} {
		p := must(Lookup(c.tool, ""))
		for _, limit := range []int{0, 100} {
			s := sample{id: c.tool, parser: p, request: Request{Tools: tools, ArgumentLimit: limit}, reason: FinishStop}
			text := c.before + strings.Repeat("7", 200) + c.after
			check(t, s, text, rand.New(rand.NewSource(1)))
			m := p.Parse(text, s.request, FinishStop)
			if len(m.Calls) != 1 || strings.Contains(m.Calls[0].Arguments, `"a": "`) != (limit > 0) {
				t.Errorf("%s, limit %d: %s", c.tool, limit, describe(m))
			}
		}
	}
}

// TestManyGoroutines: a parser is shared; each goroutine has its own stream.
func TestManyGoroutines(t *testing.T) {
	all := corpus()
	want := make([]*Message, len(all))
	for i, s := range all {
		want[i] = s.parser.Parse(s.text, s.request, s.reason)
	}
	var group sync.WaitGroup
	for worker := range 8 {
		group.Go(func() {
			for i := range all {
				i := (i + worker*100) % len(all)
				s := all[i]
				p := must(LookupTemplate(s.parser.tool, s.parser.reasoning, s.parser.template))
				if got := p.Parse(s.text, s.request, s.reason); !same(got, want[i]) {
					t.Errorf("%s: %s\n alone: %s", s.id, describe(got), describe(want[i]))
					return
				}
			}
		})
	}
	group.Wait()
}

// TestDeepNesting: ten thousand levels are no problem (contract 6).
func TestDeepNesting(t *testing.T) {
	const depth = 9990 // with what stands around it just under what the checker of JSON takes
	open, shut := strings.Repeat("[", depth), strings.Repeat("]", depth)
	for _, c := range []struct{ tool, text string }{
		{"hermes", `<tool_call>{"name": "f", "arguments": {"a": ` + open + shut + `}}</tool_call>`},
		{"hermes", `<tool_call>{"x": ` + open + shut + `, "name": "f", "arguments": {"a": 1}}</tool_call>`},
		{"hermes", `<tool_call>{"name": "f", "arguments": ` + strings.Repeat(`{"a": `, depth) + "1" + strings.Repeat("}", depth) + `}</tool_call>`},
		{"llama3_json", `{"name": "f", "parameters": {"a": ` + open + shut + `}}`},
		{"pythonic", "[f(a=" + open + shut + ")]"},
		{"pythonic", "[f(a=" + strings.Repeat("{'k': ", depth) + "1" + strings.Repeat("}", depth) + ")]"},
		{"gemma4", "<|tool_call>call:f{a:" + open + shut + "}<tool_call|>"},
		{"gemma4", "<|tool_call>call:f{a:" + strings.Repeat("{b:", depth) + "1" + strings.Repeat("}", depth) + "}<tool_call|>"},
		{"qwen3_coder", "<tool_call><function=f><parameter=a>" + open + shut + "</parameter></function></tool_call>"},
		{"minimax_m3", "]<]minimax[>[<tool_call>]<]minimax[>[<invoke name=\"f\">" + strings.Repeat("]<]minimax[>[<a>", depth) + "x" + strings.Repeat("]<]minimax[>[</a>", depth) + "]<]minimax[>[</invoke>]<]minimax[>[</tool_call>"},
	} {
		tools, err := ParseTools([]byte(`[{"type": "function", "function": {"name": "f", "parameters": {"type": "object", "properties": {"a": {"type": ["array", "object"]}}}}}]`))
		if err != nil {
			t.Fatal(err)
		}
		for _, text := range []string{c.text, c.text[:len(c.text)/2]} {
			s := sample{id: "nested", parser: must(Lookup(c.tool, "")), reason: FinishStop, request: Request{Tools: tools}}
			check(t, s, text, rand.New(rand.NewSource(1)))
		}
		if m := must(Lookup(c.tool, "")).Parse(c.text, Request{Tools: tools}, FinishStop); len(m.Calls) != 1 {
			t.Errorf("%s: %d calls in %.60q…", c.tool, len(m.Calls), c.text)
		}
	}
}
