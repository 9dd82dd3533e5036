package conformance

import (
	"encoding/json/jsontext"
	"iter"
	"math/rand/v2"
	"strings"

	"github.com/parlance-llm/parlance"
	"github.com/parlance-llm/parlance/internal/explain"
)

// Token is a token of a model's output or prompt. In JSON it is an array of its text and its id: ["Hello", 9707].
type Token parlance.Token

// UnmarshalJSON reads an array of a text and an id.
func (t *Token) UnmarshalJSON(data []byte) error {
	var pair []jsontext.Value
	if jsontext.Value(data).Kind() != '[' || Decode(data, &pair) != nil || len(pair) != 2 ||
		pair[0].Kind() != '"' || Decode(pair[0], &t.Text) != nil || pair[1].Kind() != '0' || Decode(pair[1], &t.ID) != nil {
		return explain.Expected(`expected a token, ["text", id], found %s`, short(string(data), 40))
	}
	return nil
}

// MarshalJSON writes what UnmarshalJSON reads.
func (t Token) MarshalJSON() ([]byte, error) { return Encode([]any{t.Text, t.ID}) }

func tokens(in []Token) []parlance.Token {
	if in == nil {
		return nil
	}
	out := make([]parlance.Token, len(in))
	for i, t := range in {
		out[i] = parlance.Token(t)
	}
	return out
}

// output is what a model wrote: a text, or tokens.
type output struct {
	text    string
	tokens  []parlance.Token
	byToken bool
}

// Written is the text that the model wrote.
func (in *Input) Written() string {
	if in.Text != nil {
		return *in.Text
	}
	var text strings.Builder
	for _, t := range in.Tokens {
		text.WriteString(t.Text)
	}
	return text.String()
}

// Sort runs a prepared input through the library, whole or as a stream in chunks. Of an output that comes as tokens a
// chunk counts the tokens.
func (p *Prepared) Sort(stream bool, chunk Chunk) *parlance.Message {
	switch {
	case stream && p.output.byToken:
		s := p.Parser.TokenStream(p.Request)
		m := collect(s, p.Finish, func(yield func([]parlance.Delta) bool) {
			for some := range chunk.tokens(p.output.tokens) {
				yield(s.WriteTokens(some...))
			}
		})
		m.ReasoningTokens = s.ReasoningTokens()
		return m
	case stream:
		s := p.Parser.Stream(p.Request)
		return collect(s, p.Finish, func(yield func([]parlance.Delta) bool) {
			for piece := range chunk.Pieces(p.output.text) {
				yield(s.WriteString(piece))
			}
		})
	case p.output.byToken:
		return p.Parser.ParseTokens(p.output.tokens, p.Request, p.Finish)
	}
	return p.Parser.Parse(p.output.text, p.Request, p.Finish)
}

func collect(s *parlance.Stream, reason parlance.FinishReason, written iter.Seq[[]parlance.Delta]) *parlance.Message {
	var collector parlance.Collector
	for deltas := range written {
		collector.Add(deltas)
	}
	collector.Add(s.Close(reason))
	return collector.Message()
}

// tokens cuts tokens as the chunk says, a token for a character. Cuts at given bytes do not apply: all comes at once.
func (c Chunk) tokens(all []parlance.Token) iter.Seq[[]parlance.Token] {
	next := func() int { return len(all) }
	switch {
	case c.Random && len(all) > 0:
		random := rand.New(rand.NewPCG(uint64(c.Seed), 0))
		longest := 1 + random.IntN(len(all))
		next = func() int { return 1 + random.IntN(longest) }
	case c.Characters > 0:
		next = func() int { return c.Characters }
	}
	return func(yield func([]parlance.Token) bool) {
		for rest := all; len(rest) > 0; {
			n := min(next(), len(rest))
			if !yield(rest[:n]) {
				return
			}
			rest = rest[n:]
		}
	}
}
