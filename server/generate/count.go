package generate

import (
	"math"

	"github.com/parlance-llm/parlance/engine"
)

// counter counts the tokens of one choice.
type counter struct {
	told   *engine.Usage
	prompt int // guessed from its length
	tokens int // ids, or log probabilities, that have come
	// before is how many tokens of the answer an earlier request has made, and the later one has as part of its prompt.
	before int
}

func newCounter(r *engine.Request) counter {
	if len(r.Prompt.Tokens) > 0 {
		return counter{prompt: len(r.Prompt.Tokens)}
	}
	length := len(r.Prompt.Text)
	if c := r.Conversation; c != nil {
		length = len(c.Messages) + len(c.Tools)
	}
	return counter{prompt: guess(length)}
}

// guess is how many tokens a text of so many bytes may be.
func guess(length int) int { return (length + bytesPerToken - 1) / bytesPerToken }

// thought ends a request that has made a thought, and gives the number of its tokens: those that came, else a guess.
func (c *counter) thought(text string) int {
	if c.told != nil {
		c.before = c.told.CompletionTokens
	}
	if c.before = max(c.before, c.tokens); c.before == 0 {
		c.before = guess(len(text))
	}
	c.told, c.tokens = nil, 0
	return c.before
}

func (c *counter) add(p engine.Piece) {
	if p.Usage != nil {
		c.told = p.Usage
	}
	c.tokens += max(len(p.Tokens), len(p.Logprobs))
}

// bytesPerToken is what a token is taken to hold where nobody counts; common vocabularies are near it in English.
const bytesPerToken = 4

// usage is the count so far. How many tokens became reasoning no engine tells: they have the share of the tokens that
// the reasoning has of the text.
func (c *counter) usage(s *sorter) (u Usage) {
	switch {
	case c.told != nil:
		u = Usage{Prompt: c.told.PromptTokens, Completion: max(c.told.CompletionTokens, c.tokens), Cached: c.told.CachedTokens, Estimated: c.told.Estimated}
	case c.tokens > 0:
		u = Usage{Prompt: c.prompt, Completion: c.tokens, Estimated: true}
	default:
		u = Usage{Prompt: c.prompt, Completion: guess(s.bytes), Estimated: true}
	}
	if c.before > 0 {
		u.Completion, u.Estimated = u.Completion+c.before, true
		switch {
		case c.told != nil:
			u.Prompt = max(0, u.Prompt-c.before)
		case c.tokens == 0:
			u.Completion -= c.before // the guess is of all the text
		}
	}
	if s.reasoning > 0 && s.bytes > 0 {
		u.Reasoning = min(u.Completion, max(1, int(math.Round(float64(u.Completion)*float64(s.reasoning)/float64(s.bytes)))))
	}
	return u
}
