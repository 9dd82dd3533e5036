package acceptor_test

import (
	"strings"
	"testing"

	"github.com/parlance-llm/parlance/constraint/acceptor"
	"github.com/parlance-llm/parlance/constraint/language"
	"github.com/parlance-llm/parlance/constraint/regular"
)

func class(first, last rune) language.Node {
	return &language.Class{Ranges: []regular.Range{{First: first, Last: last}}}
}

// Texts that languages of every kind of node accept, and texts that they refuse.
func TestAccepts(t *testing.T) {
	nested := &language.Rule{Name: "nested"}
	nested.Body = language.Any(language.Text("x"), language.Join(language.Text("("), nested, language.Text(")")))
	left := &language.Rule{Name: "left"}
	left.Body = language.Any(language.Text("a"), language.Join(left, language.Text("+"), left))
	empty := &language.Rule{Name: "empty"}
	empty.Body = language.Any(language.Text(""), language.Join(empty, empty))
	without, err := regular.Without("ab")
	if err != nil {
		t.Fatal(err)
	}
	text := &language.Regular{Automaton: without}
	for name, c := range map[string]struct {
		language language.Node
		yes, no  []string
	}{
		"literal":     {language.Text("héllo"), []string{"héllo"}, []string{"", "héll", "hélloo", "hello"}},
		"choice":      {language.Any(language.Text("a"), language.Text("ab")), []string{"a", "ab"}, []string{"b", "abb", ""}},
		"never":       {language.Never(), nil, []string{"", "a"}},
		"counted":     {&language.Repeat{Inner: class('0', '9'), Min: 2, Max: 4}, []string{"12", "123", "1234"}, []string{"1", "12345", ""}},
		"many":        {language.Many(language.Text("ab")), []string{"", "ab", "abab"}, []string{"a", "aba"}},
		"recursion":   {nested, []string{"x", "(x)", "(((x)))"}, []string{"", "(x", "x)", "()", "((x)"}},
		"left":        {left, []string{"a", "a+a", "a+a+a+a"}, []string{"", "a+", "+a"}},
		"empty rules": {language.Join(empty, language.Text("z"), empty), []string{"z"}, []string{"", "zz"}},
		"regular":     {language.Join(text, language.Text("ab")), []string{"ab", "xab", "aab"}, []string{"abab", "a"}},
		"free": {&language.Free{Text: text, Tags: []language.Tag{{Begin: "ab", Rest: language.Text("!")}}},
			[]string{"", "text", "ab!", "x ab! y ab!"}, []string{"ab", "ab?", "x ab! ab"}},
		"free once": {&language.Free{Text: text, Once: true, Tags: []language.Tag{{Begin: "ab", Rest: language.Text("!")}}},
			[]string{"", "text", "x ab!"}, []string{"ab!x", "ab!ab!"}},
	} {
		a := acceptor.New(c.language)
		for _, text := range c.yes {
			if !a.Accepts(text) {
				t.Errorf("%s: refuses %q", name, text)
			}
			for i := range text { // what leads to a text that is right is right so far
				if !a.Begins(text[:i]) {
					t.Errorf("%s: %q is refused before it is over, at %q", name, text, text[:i])
				}
			}
		}
		for _, text := range c.no {
			if a.Accepts(text) {
				t.Errorf("%s: accepts %q", name, text)
			}
		}
	}
}

// Where no text that begins so is right, the reader says so at once, however the text is cut.
func TestReaderStopsAtOnce(t *testing.T) {
	a := acceptor.New(language.Join(language.Text("né"), language.Many(language.Text("a")), language.Text("b")))
	for _, size := range []int{1, 2, 3, 100} {
		r := a.Reader()
		text := "néaaac"
		failed := -1
		for i := 0; i < len(text); i += size {
			if !r.Write(text[i:min(i+size, len(text))]) {
				failed = i
				break
			}
		}
		if want := (len(text) - 1) / size * size; failed != want {
			t.Errorf("in pieces of %d: failed in the piece at %d, want %d", size, failed, want)
		}
	}
	if a.Begins("n\xff") {
		t.Error("what is no UTF-8 is let through")
	}
}

// Long and deeply nested texts are read in the same time for every character.
func TestLongTexts(t *testing.T) {
	nested := &language.Rule{Name: "nested"}
	nested.Body = language.Any(language.Text("x"), language.Join(language.Text("["), nested, language.Text("]")))
	a := acceptor.New(nested)
	deep := 50_000
	if !a.Accepts(strings.Repeat("[", deep) + "x" + strings.Repeat("]", deep)) {
		t.Error("a deeply nested text is refused")
	}
	if a.Accepts(strings.Repeat("[", deep) + "x" + strings.Repeat("]", deep-1)) {
		t.Error("a text that is not closed is accepted")
	}
}
