package parlance

import (
	"maps"
	"math/rand"
	"os"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"unicode"

	"github.com/parlance-llm/parlance/internal/grammar"
)

// pairSamples are the samples of each tool format, by the name of the format: texts with the requests they answer.
var pairSamples = sync.OnceValue(func() map[string][]sample {
	out := map[string][]sample{}
	for _, s := range corpus() {
		if s.parser.tool != "" && s.parser.template == nil && s.request.ToolChoice.Mode != "none" {
			out[s.parser.toolHalf.Format] = append(out[s.parser.toolHalf.Format], s)
		}
	}
	return out
})

// TestToolFormatsInPairs: a tool format reads its own cases, and texts made from them, as well beside any reasoning format
// as it does alone: where the text holds none of the other format's markers, the calls and the content are the same, whole
// and streamed.
//
// Of the pairs a part is tried, other ones by each PARLANCE_SEED; PARLANCE_PAIRS=all tries all.
func TestToolFormatsInPairs(t *testing.T) {
	all, seed := os.Getenv("PARLANCE_PAIRS") == "all", 1
	if n, err := strconv.Atoi(os.Getenv("PARLANCE_SEED")); err == nil {
		seed = n
	}
	random := rand.New(rand.NewSource(int64(seed)))
	reasonings := slices.DeleteFunc(slices.Sorted(maps.Keys(parserNames().Thought)), func(name string) bool { return name == "hf" || name == "beam" })
	tried, texts := 0, 0
	for _, format := range slices.Sorted(maps.Keys(pairSamples())) {
		for _, reasoning := range reasonings {
			if !all && random.Intn(40) != 0 {
				continue
			}
			n := pair(t, random, format, reasoning)
			if texts += n; n > 0 {
				tried++
			}
		}
	}
	t.Logf("%d pairs, %d texts", tried, texts)
	if tried == 0 || texts < 5*tried {
		t.Errorf("only %d texts in %d pairs", texts, tried)
	}
}

// pair tries the samples of a tool format beside a reasoning parser; it answers how many could be tried.
func pair(t *testing.T, random *rand.Rand, format, reasoning string) (tried int) {
	t.Helper()
	own := pairSamples()[format]
	tries := slices.Clone(own)
	for _, s := range own {
		if random.Intn(2) == 0 {
			s.reason = FinishLength
		}
		s.text = mutate(random, s, own)
		tries = append(tries, s)
		s.text = soup(random, s, own)
		tries = append(tries, s)
	}
	var beside *Parser
	for _, s := range tries {
		alone := must(Lookup(s.parser.tool, ""))
		if alone.toolHalf.Alone {
			return 0
		}
		if beside == nil || beside.tool != alone.tool {
			var err error
			// Parsers that are looked up are kept; made anew they are not.
			if beside, err = newParser(&lookup{library: Default().library(), tool: alone.tool, reasoning: reasoning}); err != nil {
				t.Fatal(err)
			}
			if beside.toolHalf == beside.reasoningHalf {
				return 0
			}
		}
		text, request := s.text, s.request
		request.Exact = os.Getenv("EX") != ""
		if foreign(beside, s) {
			continue
		}
		if !beside.closeThought(&request) {
			t.Errorf("%s: nothing closes the thought of %q", s.id, reasoning)
			continue
		}
		tried++
		one := sample{id: s.id, parser: alone, text: text, request: request, reason: s.reason}
		two := one
		two.parser = beside
		for way, read := range map[string]func(sample) *Message{
			"whole":    func(s sample) *Message { return s.parser.Parse(text, traced(s.request), s.reason) },
			"streamed": func(s sample) *Message { return streamed(t, s, text, func() int { return 1 }) },
		} {
			if want, found := read(one), read(two); found.Content != want.Content || found.Reasoning != "" || !reflect.DeepEqual(found.Calls, want.Calls) {
				t.Errorf("%s, %q beside %q, %s: prompt %q\n text %q\n alone  %s\n beside %s", s.id, s.parser.tool, reasoning, way, request.Prompt, text, describe(want), describe(found))
			}
		}
	}
	return tried
}

// closeThought makes a request whose answer does not begin in a thought: by the prompt, or by the switch.
func (p *Parser) closeThought(r *Request) bool {
	if !p.PromptState(*r).Inside {
		return true
	}
	prompt := r.Prompt
	for _, d := range p.halves() {
		info, _ := Format(d.Format)
		for _, marker := range info.ThoughtMarkers {
			r.Prompt = prompt + p.filled(marker, p.suffix(r))
			if !p.PromptState(*r).Inside {
				return true
			}
		}
	}
	return false
}

// foreign tells whether a text, or what is known of the prompt, holds any of the markers of a parser's reasoning half.
func foreign(p *Parser, s sample) bool {
	own := markers(p.reasoningHalf, grammar.Output, grammar.Thought, grammar.Frame, grammar.Message, grammar.Citation, grammar.Skip, "")
	return slices.ContainsFunc(own, func(marker string) bool {
		marker = p.filled(marker, p.suffix(&s.request))
		return strings.ContainsFunc(marker, unicode.IsLetter) && (strings.Contains(s.text, marker) || strings.Contains(s.request.Prompt, marker))
	})
}
