package parlance

import (
	"encoding/json"
	"fmt"
	"math/rand"
	"os"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"
)

// rounds is how many mutated texts each sample is tried with; PARLANCE_ROUNDS makes it more.
func rounds() int {
	if n, err := strconv.Atoi(os.Getenv("PARLANCE_ROUNDS")); err == nil {
		return n
	}
	if testing.Short() {
		return 1
	}
	return 4
}

// check holds one text against the contract of the parser (design §2), as far as a text alone can show it.
func check(t testing.TB, s sample, text string, random *rand.Rand) {
	t.Helper()
	fail := func(format string, arguments ...any) {
		t.Helper()
		t.Fatalf("%s\n tool %q reasoning %q prompt %q finish %q\n text %q\n %s", s.id, s.parser.tool, s.parser.reasoning, s.request.Prompt, s.reason, text, fmt.Sprintf(format, arguments...))
	}
	defer func() {
		if r := recover(); r != nil {
			t.Logf("%s tool %q reasoning %q prompt %q text %q", s.id, s.parser.tool, s.parser.reasoning, s.request.Prompt, text)
			panic(r)
		}
	}()
	// 1: how the text is cut makes no difference.
	one := streamed(t, s, text, func() int { return len(text) })
	for _, cut := range []struct { // in a fixed order, so that a seed always makes the same texts
		name  string
		piece func() int
	}{{"byte by byte", func() int { return 1 }}, {"randomly", func() int { return 1 + random.Intn(9) }}, {"coarsely", func() int { return 1 + random.Intn(60) }}} {
		name, piece := cut.name, cut.piece
		if other := streamed(t, s, text, piece); !reflect.DeepEqual(one, other) {
			fail("cut %s:\n  %s\n in one:\n  %s", name, describe(other), describe(one))
		}
	}
	// Without a trace there are shorter ways.
	if other := untraced(s, text, random); !same(one, other) || !reflect.DeepEqual(one.Segments, other.Segments) {
		fail("without a trace:\n  %s\n with one:\n  %s", describe(other), describe(one))
	}
	// 2: nothing is lost.
	if problem := accounted(one, text); problem != "" {
		fail("%s\n  %s", problem, describe(one))
	}
	exact := s
	exact.request.Exact = true
	forced := s.request.ChatTemplateKwargs["force_nonempty_content"] == true
	if m := streamed(t, exact, text, func() int { return 1 + random.Intn(30) }); s.parser.thoughtsStayContent() || s.parser.escapesNewlines() || forced {
		// What is put back, decoded or doubled is not in the input.
	} else if problem := exactly(m, text); problem != "" {
		fail("exact: %s\n  %s", problem, describe(m))
	}
	// 5: arguments are JSON.
	whole := s.parser.Parse(text, traced(s.request), s.reason)
	for _, m := range []*Message{one, whole} {
		for _, call := range m.Calls {
			if !call.Malformed && !call.Cut && utf8.ValidString(text) && !isObject(call.Arguments) {
				fail("arguments %q of %s are no object\n  %s", call.Arguments, call.Name, describe(m))
			}
		}
	}
	// Whole and streamed agree unless a call is malformed (rulings 1, 34).
	if !one.Malformed && !same(one, whole) && !forced {
		fail("whole:\n  %s\n streamed:\n  %s", describe(whole), describe(one))
	}
	if problem := accounted(whole, text); problem != "" {
		fail("whole: %s\n  %s", problem, describe(whole))
	}
	validated := s
	validated.request.Validated = true
	if m := streamed(t, validated, text, func() int { return 1 + random.Intn(20) }); !same(m, whole) && !forced {
		fail("validated:\n  %s\n whole:\n  %s", describe(m), describe(whole))
	}
}

// untraced reads a text in pieces of a token's size, without a trace.
func untraced(s sample, text string, random *rand.Rand) *Message {
	stream := s.parser.Stream(s.request)
	var c Collector
	for len(text) > 0 {
		n := min(1+random.Intn(6), len(text))
		c.Add(stream.WriteString(text[:n]))
		text = text[n:]
	}
	c.Add(stream.Close(s.reason))
	return c.Message()
}

func traced(r Request) Request {
	r.Trace = true
	return r
}

func isObject(text string) bool {
	return json.Valid([]byte(text)) && strings.HasPrefix(strings.TrimSpace(text), "{")
}

// same compares what a client sees.
func same(a, b *Message) bool {
	return a.Reasoning == b.Reasoning && a.Content == b.Content && reflect.DeepEqual(a.Calls, b.Calls)
}

func describe(m *Message) string {
	var out strings.Builder
	fmt.Fprintf(&out, "R %q C %q", m.Reasoning, m.Content)
	for _, c := range m.Calls {
		fmt.Fprintf(&out, " | %s %s(%s) malformed %v cut %v", c.ID, c.Name, c.Arguments, c.Malformed, c.Cut)
	}
	fmt.Fprintf(&out, "\n   segments %+v\n   trace %v", m.Segments, m.Trace)
	return out.String()
}

// accounted tells what is wrong with a trace: it must cover the text without gaps.
func accounted(m *Message, text string) string {
	at := 0
	for _, span := range m.Trace {
		if span.Start != at || span.End <= span.Start {
			return fmt.Sprintf("the trace has a hole or an overlap at %d: %v", at, span)
		}
		at = span.End
	}
	if at != len(text) {
		return fmt.Sprintf("the trace ends at %d of %d", at, len(text))
	}
	return ""
}

// exactly compares the trays with the spans of the trace, where white space is kept: they must be the same text.
func exactly(m *Message, text string) string {
	if problem := accounted(m, text); problem != "" {
		return problem
	}
	trays := map[string]string{}
	for _, span := range m.Trace {
		trays[span.Became] += text[span.Start:span.End]
	}
	content, reasoning := m.Content, m.Reasoning
	if strings.Contains(text, "<|message|>") { // whole messages are joined by a text of their own
		unjoined := func(s string) string { return strings.ReplaceAll(s, "\n", "") }
		content, reasoning = unjoined(content), unjoined(reasoning)
		trays["content"], trays["reasoning"] = unjoined(trays["content"]), unjoined(trays["reasoning"])
	}
	if trays["content"] != content {
		return fmt.Sprintf("content %q, by the trace %q", m.Content, trays["content"])
	}
	if trays["reasoning"] != reasoning {
		return fmt.Sprintf("reasoning %q, by the trace %q", m.Reasoning, trays["reasoning"])
	}
	return ""
}

func TestContractOnCases(t *testing.T) {
	random := rand.New(rand.NewSource(1))
	for _, s := range corpus() {
		check(t, s, s.text, random)
	}
}

func TestContractOnMutations(t *testing.T) {
	seed := int64(1)
	if n, err := strconv.Atoi(os.Getenv("PARLANCE_SEED")); err == nil {
		seed = int64(n)
	}
	random := rand.New(rand.NewSource(seed))
	groups := byParser(corpus())
	for _, s := range corpus() {
		for range rounds() {
			m := s
			if random.Intn(2) == 0 {
				m.reason = []FinishReason{FinishStop, FinishLength}[random.Intn(2)]
			}
			if random.Intn(3) == 0 {
				m.request.Prompt = prompt(random, s, groups[s.parser])
			}
			if random.Intn(6) == 0 { // small ones, so that they are met (ruling 41)
				m.request.HeldLimit, m.request.ArgumentLimit = 1+random.Intn(40), random.Intn(60)
			}
			check(t, m, mutate(random, s, groups[s.parser]), random)
			check(t, m, soup(random, s, groups[s.parser]), random)
		}
	}
}

// prompt is the end of a prompt with anything in it, behind a turn boundary or not.
func prompt(random *rand.Rand, s sample, others []sample) string {
	text := mutate(random, s, others)
	if random.Intn(2) == 0 {
		text = soup(random, s, others)
	}
	if begin := s.parser.halves()[0].Turn.Begin; random.Intn(3) > 0 {
		return begin + text
	}
	return text
}
