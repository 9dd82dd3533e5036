package stops

import (
	"math/rand"
	"strings"
	"testing"
)

// The answer does not depend on the pieces, and is what a search of the whole text finds: the stop string that is complete
// first, the longest of those that are complete at once.
func TestAnySplitting(t *testing.T) {
	random := rand.New(rand.NewSource(1))
	letters := func(n int) string {
		b := make([]byte, n)
		for i := range b {
			b[i] = "ab<"[random.Intn(3)]
		}
		return string(b)
	}
	for range 2000 {
		var texts []string
		for range random.Intn(4) {
			texts = append(texts, letters(1+random.Intn(4)))
		}
		set, err := Compile(texts)
		if err != nil {
			t.Fatal(err)
		}
		whole := letters(random.Intn(20))
		wantText, wantStop := whole, ""
	search:
		for end := 1; end <= len(whole); end++ {
			longest := ""
			for _, stop := range texts {
				if strings.HasSuffix(whole[:end], stop) && len(stop) > len(longest) {
					longest = stop
				}
			}
			if longest != "" {
				wantText, wantStop = whole[:end-len(longest)], longest
				break search
			}
		}
		m := set.Matcher()
		var got strings.Builder
		gotStop := ""
		for rest := whole; rest != "" && gotStop == ""; {
			n := 1 + random.Intn(len(rest))
			var text string
			text, gotStop = m.Write(rest[:n])
			got.WriteString(text)
			rest = rest[n:]
		}
		got.WriteString(m.Flush())
		if got.String() != wantText || gotStop != wantStop {
			t.Fatalf("stops %q in %q: %q, %q, want %q, %q", texts, whole, got.String(), gotStop, wantText, wantStop)
		}
	}
}

func TestHoldsNoMoreThanItMust(t *testing.T) {
	set, err := Compile([]string{"\n\nUser:"})
	if err != nil {
		t.Fatal(err)
	}
	m := set.Matcher()
	for _, step := range []struct{ piece, text string }{{"Hello\n", "Hello"}, {"\nUs", ""}, {"ing it.", "\n\nUsing it."}} {
		if text, stop := m.Write(step.piece); text != step.text || stop != "" {
			t.Errorf("%q: %q, %q, want %q", step.piece, text, stop, step.text)
		}
	}
}

func TestEmptyStopString(t *testing.T) {
	if _, err := Compile([]string{"a", ""}); err == nil {
		t.Error("expected an error")
	}
}
