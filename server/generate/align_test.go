package generate

import (
	"strings"
	"testing"

	"github.com/parlance-llm/parlance"
	"github.com/parlance-llm/parlance/vocabulary"
)

// TestAlign holds which of the same characters are a special token and which are quoted. In what comes out special tokens
// stand in brackets.
func TestAlign(t *testing.T) {
	words := vocabulary.New("m", map[string]int{"<call>": 1, "</call>": 2, "<end>": 3})
	type piece struct {
		text string
		ids  []int
	}
	for name, test := range map[string]struct {
		pieces []piece
		want   string
	}{
		"one token a piece":                 {[]piece{{"a", []int{9}}, {"<call>", []int{1}}, {"b", []int{9}}, {"</call>", []int{2}}}, "a[<call>]b[</call>]"},
		"quoted":                            {[]piece{{"a <call> b", []int{9, 9, 9}}}, "a <call> b"},
		"quoted in pieces":                  {[]piece{{"a <ca", []int{9, 9}}, {"ll> b", []int{9, 9}}}, "a <call> b"},
		"all at once":                       {[]piece{{"a<call>b</call>", []int{9, 1, 9, 2}}}, "a[<call>]b[</call>]"},
		"quoted before the token":           {[]piece{{"<call> and <call>", []int{9, 9, 1}}}, "<call> and [<call>]"},
		"quoted behind the token":           {[]piece{{"<call> and <call>", []int{1, 9, 9}}}, "[<call>] and <call>"},
		"the text comes later":              {[]piece{{"a", []int{9, 1}}, {"b<ca", []int{9}}, {"ll>c", []int{9}}}, "ab[<call>]c"},
		"the end of the turn has no text":   {[]piece{{"a", []int{9}}, {"", []int{3}}}, "a"},
		"a token whose text is not shown":   {[]piece{{"a", []int{9, 1}}, {"b</call>", []int{9, 2}}}, "ab[<call>][</call>]"},
		"the beginning of one at the end":   {[]piece{{"a", []int{1}}, {"<ca", []int{9}}}, "a<ca"},
		"half of the text of another token": {[]piece{{"</", []int{9, 1}}, {"x<call>", []int{9}}}, "</x[<call>]"},
	} {
		var out strings.Builder
		a := &aligner{words: words}
		text := func(text string) { out.WriteString(text) }
		for _, p := range test.pieces {
			a.write(p.text, p.ids, text, func(token parlance.Token) { out.WriteString("[" + token.Text + "]") })
		}
		a.finish(text)
		if out.String() != test.want {
			t.Errorf("%s: expected %q, found %q", name, test.want, out.String())
		}
	}
}
