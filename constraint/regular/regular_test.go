package regular

import (
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"
)

// The automaton of an expression accepts what Go's regexp package matches, on random texts over a small alphabet.
func TestAgreesWithRegexp(t *testing.T) {
	expressions := []string{"a*b", "(ab|ba)+", "^a.c$", "a{2,4}b?", "[^a-c]+", "(?i)null", `^(\d{2}-)+x$`, "a|^b|c$", "", "(a|b)*abb"}
	random := rand.New(rand.NewPCG(1, 2))
	for _, expression := range expressions {
		found, err := Search(expression)
		if err != nil {
			t.Fatal(err)
		}
		whole, err := Match(expression)
		if err != nil {
			t.Fatal(err)
		}
		not, err := whole.Not()
		if err != nil {
			t.Fatal(err)
		}
		search, match := regexp.MustCompile("(?s)"+expression), regexp.MustCompile("(?s)^(?:"+expression+")$")
		for range 5000 {
			text := randomText(random)
			if got, want := found.Accepts(text), search.MatchString(text); got != want {
				t.Errorf("Search(%q) on %q: %v, want %v", expression, text, got, want)
			}
			want := match.MatchString(text)
			if got := whole.Accepts(text); got != want {
				t.Errorf("Match(%q) on %q: %v, want %v", expression, text, got, want)
			}
			if got := not.Accepts(text); got == want {
				t.Errorf("Not of %q on %q: %v", expression, text, got)
			}
		}
	}
}

func TestWithout(t *testing.T) {
	a, err := Without(Quote("</p>"), Quote("<p="))
	if err != nil {
		t.Fatal(err)
	}
	random := rand.New(rand.NewPCG(3, 4))
	for range 20000 {
		var text strings.Builder
		for range random.IntN(14) {
			text.WriteByte("</p>=a"[random.IntN(6)])
		}
		want := !strings.Contains(text.String(), "</p>") && !strings.Contains(text.String(), "<p=")
		if a.Accepts(text.String()) != want {
			t.Fatalf("%q: want %v", text.String(), want)
		}
	}
	if len(a.States) > 6 {
		t.Errorf("%d states for two markers that share a beginning", len(a.States))
	}
}

func TestTooLarge(t *testing.T) {
	if _, err := Search("(a|b)*a(a|b){14}"); err == nil {
		t.Error("an automaton with 2^15 states was built")
	}
	if _, err := Search(`\bword\b`); err == nil {
		t.Error("word boundaries were taken")
	}
}

func randomText(random *rand.Rand) string {
	var text strings.Builder
	for range random.IntN(9) {
		text.WriteString([]string{"a", "b", "c", "d", "é", "n", "u", "l", "N", "-", "1", "2", "x", "\n"}[random.IntN(14)])
	}
	return text.String()
}

func TestSpelled(t *testing.T) {
	a, err := Match(`a[<>&]*b?`)
	if err != nil {
		t.Fatal(err)
	}
	spelled := a.Spelled(map[rune][]string{'<': {"&lt;"}, '>': {">", "&gt;"}, '&': {"&amp;"}})
	for text, want := range map[string]bool{
		"a": true, "ab": true, "a&lt;&gt;>&amp;b": true, "a<": false, "a&": false, "a&l": false, "a&lt": false, "a&lt;&b": false, "b": false,
	} {
		if spelled.Accepts(text) != want {
			t.Errorf("%q: expected %v", text, want)
		}
	}
}
