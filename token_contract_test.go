package parlance

import (
	"math/rand"
	"reflect"
	"testing"

	"github.com/parlance-llm/parlance/vocabulary"
)

// TestContractOnTokens: the contract holds for answers that come as tokens too, whatever the model writes: how the tokens
// arrive makes no difference, nothing is lost, and whole and streamed agree.
func TestContractOnTokens(t *testing.T) {
	random := rand.New(rand.NewSource(1))
	groups := byParser(corpus())
	tokenized(t, func(original sample, p *Parser, v *vocabulary.Vocabulary) {
		for range rounds() {
			s := original
			if random.Intn(3) == 0 {
				s.reason = FinishLength
			}
			if s.text = mutate(random, original, groups[s.parser]); random.Intn(2) == 0 {
				s.text = soup(random, original, groups[s.parser])
			}
			checkTokens(t, s, p, tokens(random, v, s.text))
		}
	})
}

func checkTokens(t *testing.T, s sample, p *Parser, all []Token) {
	t.Helper()
	s.request.Trace = true
	read := func(n int) *Message {
		stream := p.TokenStream(s.request)
		var c Collector
		for rest := all; len(rest) > 0; rest = rest[min(n, len(rest)):] {
			c.Add(stream.WriteTokens(rest[:min(n, len(rest))]...))
		}
		c.Add(stream.Close(s.reason))
		m := c.Message()
		m.Trace = stream.Trace()
		return m
	}
	streamed := read(len(all) + 1)
	if problem := accounted(streamed, s.text); problem != "" {
		t.Errorf("%s: %q: %s\n %s", s.id, s.text, problem, describe(streamed))
	}
	if single := read(1); !reflect.DeepEqual(streamed, single) {
		t.Errorf("%s: %q\n at once    %s\n one by one %s", s.id, s.text, describe(streamed), describe(single))
	}
	whole := p.ParseTokens(all, s.request, s.reason)
	if problem := accounted(whole, s.text); problem != "" {
		t.Errorf("%s: %q: whole: %s\n %s", s.id, s.text, problem, describe(whole))
	}
	if !streamed.Malformed && !same(whole, streamed) && s.request.ChatTemplateKwargs["force_nonempty_content"] != true {
		t.Errorf("%s: %q\n whole    %s\n streamed %s", s.id, s.text, describe(whole), describe(streamed))
	}
}
