package parlance

import (
	"encoding/json"
	"maps"
	"math/rand"
	"slices"
	"strings"
	"testing"

	"github.com/parlance-llm/parlance/vocabulary"
)

// forgery is a parser bound to a vocabulary of its tokens, with a document that quotes all of them.
type forgery struct {
	parser     *Parser
	vocabulary *vocabulary.Vocabulary
	document   string
	random     *rand.Rand
}

// forge binds a parser to the tokens of its definitions; ok is false if they have none.
func forge(t *testing.T, tool, reasoning string) (f *forgery, ok bool) {
	t.Helper()
	p := must(Lookup(tool, reasoning))
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
		if name == "hf" || name == "beam" {
			continue // their markers come with a checkpoint; see template_test.go
		}
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
		if name == "hf" || name == "beam" || slices.Contains(parserNames().KeepsThought, name) {
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
