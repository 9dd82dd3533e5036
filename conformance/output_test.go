package conformance

import (
	"slices"
	"strings"
	"testing"

	"github.com/parlance-llm/parlance"
)

func TestTokensInJSON(t *testing.T) {
	var in Input
	if err := Decode([]byte(`{"tokens": [["a", 1], ["", 0]], "prompt_tokens": [["b", -1]]}`), &in); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(in.Tokens, []Token{{"a", 1}, {"", 0}}) || !slices.Equal(in.PromptTokens, []Token{{"b", -1}}) {
		t.Errorf("%v %v", in.Tokens, in.PromptTokens)
	}
	if data, err := Encode(in); err != nil || string(data) != `{"tokens":[["a",1],["",0]],"prompt_tokens":[["b",-1]]}` {
		t.Errorf("%s %v", data, err)
	}
	for text, want := range map[string]string{
		`{"tokens": "x"}`:                    `tokens: expected an array, found a string`,
		`{"tokens": ["x"]}`:                  `tokens[0]: expected a token, ["text", id], found "x"`,
		`{"tokens": [["x", 1], ["x"]]}`:      `tokens[1]: expected a token, ["text", id], found ["x"]`,
		`{"tokens": [["x", "1"]]}`:           `tokens[0]: expected a token, ["text", id], found ["x", "1"]`,
		`{"tokens": [["x", 1.5]]}`:           `tokens[0]: expected a token, ["text", id], found ["x", 1.5]`,
		`{"tokens": [[null, 1]]}`:            `tokens[0]: expected a token, ["text", id], found [null, 1]`,
		`{"tokens": [["x", 1]], "text": ""}`: `tokens: expected them in place of text, found both`,
		`{}`:                                 `text: expected a string, found nothing`,
	} {
		var in Input
		err := Decode([]byte(text), &in)
		if err == nil {
			_, err = in.Prepare(&Environment{})
		}
		if err == nil || err.Error() != want {
			t.Errorf("%s\nexpected %s\nfound    %v", text, want, err)
		}
	}
}

func TestTokenChunkings(t *testing.T) {
	c := &Case{ID: "x", Input: Input{Tokens: []Token{{"<a>", 1}, {"b", 2}, {"c", 3}}}}
	var names []string
	for _, k := range Chunkings(c, 1, true) {
		names = append(names, k.String())
	}
	if got, want := strings.Join(names[:5], "; "), "whole; streamed, all at once; streamed, 1 token at a time; streamed, 3 tokens at a time; streamed, 7 tokens at a time"; got != want || len(names) != 6 {
		t.Errorf("expected %s and a random one, found %q", want, names)
	}
	all := tokens(c.Tokens)
	for _, chunk := range []Chunk{{}, {Characters: 1}, {Characters: 2}, {Random: true, Seed: 1}, {Random: true, Seed: 2}} {
		var out []parlance.Token
		pieces := 0
		for some := range chunk.tokens(all) {
			if pieces++; len(some) == 0 || chunk.Characters > 0 && len(some) > chunk.Characters {
				t.Errorf("%v: a piece of %d tokens", chunk, len(some))
			}
			out = append(out, some...)
		}
		if !slices.Equal(out, all) || !chunk.Random && chunk.Characters == 0 && pieces != 1 {
			t.Errorf("%v: %v in %d pieces", chunk, out, pieces)
		}
	}
	for range (Chunk{Random: true}).tokens(nil) {
		t.Error("no tokens have a piece")
	}
}
