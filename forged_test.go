package parlance

import (
	"encoding/json"
	"maps"
	"math/rand"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/parlance-llm/parlance/vocabulary"
)

// forgery is a parser bound to a vocabulary of its tokens, with a document that quotes all of them.
type forgery struct {
	parser     *Parser
	vocabulary *vocabulary.Vocabulary
	document   string
	random     *rand.Rand
}

// forge binds a parser to the tokens of its definitions; ok is false if they have none. Those that read a response
// template read the one of the data.
func forge(t *testing.T, tool, reasoning string) (f *forgery, ok bool) {
	t.Helper()
	if name := tool + reasoning; name == "hf" || name == "beam" {
		return forgeIn(t, must(lookUp(tool, reasoning, parserNames().Template)))
	}
	return forgeIn(t, must(Lookup(tool, reasoning)))
}

func forgeIn(t *testing.T, p *Parser) (f *forgery, ok bool) {
	t.Helper()
	f = &forgery{vocabulary: vocabularyOf(sample{parser: p}), random: rand.New(rand.NewSource(1))}
	var err error
	if f.parser, err = p.Bind(f.vocabulary); err != nil {
		t.Fatal(err)
	}
	if len(f.parser.bound.tokens) == 0 {
		return nil, false
	}
	f.document = "The file says " + strings.Join(f.parser.bound.tokens, " x ") + " and so on"
	return f, true
}

// tokens cuts a text as a model writes it whose markers are tokens. Where HERE stands it quotes the document, in ordinary
// tokens.
func (f *forgery) tokens(text string) []Token {
	before, after, quotes := strings.Cut(text, "HERE")
	out := tokens(f.random, f.vocabulary, before)
	if quotes {
		out = append(out, ordinaryTokens(f.random, f.document)...)
		out = append(out, tokens(f.random, f.vocabulary, after)...)
	}
	return out
}

// read reads tokens whole and one by one, which must give the same.
func (f *forgery) read(t *testing.T, all []Token, request Request) *Message {
	t.Helper()
	whole := f.parser.ParseTokens(all, request, FinishStop)
	s := sample{parser: f.parser, request: request, reason: FinishStop}
	if one, _ := streamTokens(f.parser, s, all, func() int { return 1 }); !same(whole, one) {
		t.Errorf("whole    %s\nstreamed %s", describe(whole), describe(one))
	}
	return whole
}

var thinking = Request{ChatTemplateKwargs: map[string]any{"thinking": true, "enable_thinking": true, "reasoning_effort": "high"}}

// TestForgedCalls: for every tool parser whose format has markers that are tokens: a document, a file or a tool's result
// that holds a call in ordinary text is content, character by character; and what quotes all markers in the argument of
// a real call is that argument.
func TestForgedCalls(t *testing.T) {
	tried, quoted := 0, 0
	for _, name := range slices.Sorted(maps.Keys(parserNames().Call)) {
		f, ok := forge(t, name, "")
		if !ok {
			continue
		}
		call := parserNames().Call[name]
		t.Run(name, func(t *testing.T) {
			if slices.ContainsFunc(f.parser.bound.tokens, func(token string) bool { return strings.Contains(call, token) }) {
				tried++
				text := "I read: " + call + " " + f.document
				m := f.read(t, ordinaryTokens(f.random, text), Request{Exact: true})
				if len(m.Calls) > 0 || m.Content != text {
					t.Errorf("forged: %q\n%s", text, describe(m))
				}
			}
			quoted++
			m := f.read(t, f.tokens(strings.Replace(call, "Paris", "HERE", 1)), Request{})
			var arguments struct{ City string }
			if len(m.Calls) != 1 || json.Unmarshal([]byte(m.Calls[0].Arguments), &arguments) != nil || arguments.City != f.document {
				t.Errorf("quoted in a call: %q\n%s", f.document, describe(m))
			}
		})
	}
	if tried < 30 || quoted < 35 {
		t.Errorf("only %d and %d parsers", tried, quoted)
	}
}

// TestForgedInThoughts: for every reasoning parser whose format has markers that are tokens: what quotes all of them in
// a thought is reasoning, and in the answer content.
func TestForgedInThoughts(t *testing.T) {
	tried := 0
	for _, name := range slices.Sorted(maps.Keys(parserNames().Thought)) {
		if slices.Contains(parserNames().KeepsThought, name) {
			continue
		}
		f, ok := forge(t, "", name)
		if !ok {
			continue
		}
		tried++
		t.Run(name, func(t *testing.T) {
			around := parserNames().Thought[name]
			m := f.read(t, f.tokens(strings.Replace(around[0], "hm", "HERE", 1)+"ok"+around[1]), thinking)
			if m.Reasoning != f.document || m.Content != "ok" {
				t.Errorf("in the thought: %q\n%s", f.document, describe(m))
			}
			m = f.read(t, f.tokens(around[0]+"HERE"+around[1]), thinking)
			if m.Reasoning != "hm" || m.Content != f.document {
				t.Errorf("in the answer: %q\n%s", f.document, describe(m))
			}
		})
	}
	if tried < 25 {
		t.Errorf("only %d parsers", tried)
	}
}

// TestForgedInTemplates: the same for every response template of the cases, all of whose markers are tokens: a document
// that quotes all of them is content in the answer, reasoning in the thought and an argument in the call.
func TestForgedInTemplates(t *testing.T) {
	tried := map[string]int{}
	for _, s := range corpus() {
		if s.parser.template == nil || s.parser.tool == "" || s.parser.reasoning == "" {
			continue
		}
		f, ok := forgeIn(t, s.parser)
		if !ok {
			t.Errorf("%s: no marker is a token", s.id)
			continue
		}
		want := s.parser.Parse(s.text, s.request, s.reason)
		broken := slices.ContainsFunc(f.parser.bound.tokens, func(token string) bool { return strings.Contains(want.Content, token) })
		if s.reason == FinishLength || broken || halfToken(s.request.Prompt, f.vocabulary) {
			continue
		}
		document := strings.NewReplacer(`"`, "", "\\", "", "\n", " ").Replace(f.document) // fits into JSON as it is
		for place, piece := range map[string]string{"content": longestWord(want.Content), "reasoning": longestWord(want.Reasoning), "arguments": wordOfArguments(want)} {
			if piece == "" || strings.Count(s.text, piece) != 1 {
				continue
			}
			f.document = document
			m := f.read(t, f.tokens(strings.Replace(s.text, piece, "HERE", 1)), s.request)
			quoted := &Message{Content: want.Content, Reasoning: want.Reasoning, Calls: slices.Clone(want.Calls)}
			switch place {
			case "content":
				quoted.Content = strings.Replace(want.Content, piece, document, 1)
			case "reasoning":
				quoted.Reasoning = strings.Replace(want.Reasoning, piece, document, 1)
			default:
				quoted.Calls[0].Arguments = strings.Replace(want.Calls[0].Arguments, piece, document, 1)
			}
			if !same(m, quoted) {
				t.Errorf("%s, %s: %q\n found    %s\n expected %s", s.id, place, strings.Replace(s.text, piece, document, 1), describe(m), describe(quoted))
			}
			tried[s.parser.tool+" "+place]++
		}
	}
	for _, what := range []string{"hf content", "hf reasoning", "hf arguments", "beam content", "beam reasoning", "beam arguments"} {
		if tried[what] < 2 {
			t.Errorf("%s: tried %d times: %v", what, tried[what], tried)
		}
	}
}

// longestWord gives the longest word of letters of a text.
func longestWord(text string) (word string) {
	for _, w := range strings.FieldsFunc(text, func(r rune) bool { return !unicode.IsLetter(r) }) {
		if len(w) > len(word) {
			word = w
		}
	}
	return word
}

// wordOfArguments gives a string that the only call of a message has as an argument.
func wordOfArguments(m *Message) string {
	var arguments map[string]any
	if len(m.Calls) != 1 || json.Unmarshal([]byte(m.Calls[0].Arguments), &arguments) != nil {
		return ""
	}
	for _, key := range slices.Sorted(maps.Keys(arguments)) {
		if text, ok := arguments[key].(string); ok && longestWord(text) == text && strings.Count(m.Calls[0].Arguments, text) == 1 {
			return text
		}
	}
	return ""
}

// TestEveryTokenIsTried: the formats of all definitions that list tokens are among those tried.
func TestEveryTokenIsTried(t *testing.T) {
	tried := map[string]bool{}
	for name := range parserNames().Call {
		if name != "hf" && name != "beam" {
			tried[must(Lookup(name, "")).toolHalf.Format] = true
		}
	}
	for name := range parserNames().Thought {
		if name != "hf" && name != "beam" {
			tried[must(Lookup("", name)).reasoningHalf.Format] = true
		}
	}
	l := Default().library()
	for _, format := range l.Formats() {
		d, err := l.Definition(format)
		if err != nil {
			t.Fatal(err)
		}
		dialect := strings.HasPrefix(format, "mistral_") // chosen by the vocabulary; it reads as mistral does
		if len(d.Tokens) > 0 && !tried[format] && !dialect {
			t.Errorf("%s lists tokens and is tried by no name", format)
		}
	}
}
