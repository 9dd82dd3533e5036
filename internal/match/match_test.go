package match

import (
	"bytes"
	"math/rand"
	"slices"
	"strings"
	"testing"
)

func symbols(s string) (out []Symbol) {
	for i := range len(s) {
		out = append(out, Symbol(s[i]))
	}
	return out
}

// The hold of every place is compared with the definition of it: the longest end of what was read that is a proper
// beginning of a literal.
func TestHoldIsMinimal(t *testing.T) {
	random := rand.New(rand.NewSource(1))
	for range 300 {
		var literals []Literal
		seen := map[string]bool{}
		var texts []string
		for range 1 + random.Intn(5) {
			b := make([]byte, 1+random.Intn(5))
			for i := range b {
				b[i] = "ab<"[random.Intn(3)]
			}
			if !seen[string(b)] {
				seen[string(b)] = true
				texts = append(texts, string(b))
				literals = append(literals, Literal{Symbols: symbols(string(b))})
			}
		}
		table, err := Search(literals, nil)
		if err != nil {
			t.Fatal(err)
		}
		at, read := Place(0), ""
		for range 200 {
			c := "ab<"[random.Intn(3)]
			to, found, back, _ := table.Step(at, Symbol(c))
			if found != None {
				if back == 0 && !bytes.HasSuffix([]byte(read+string(c)), []byte(texts[found])) && !bytes.HasSuffix([]byte(read), []byte(texts[found])) {
					t.Fatalf("literals %q: %q found after %q", texts, texts[found], read+string(c))
				}
				at, read = 0, ""
				continue
			}
			read += string(c)
			at = to
			want := 0
			for _, literal := range texts {
				for k := 1; k <= len(literal); k++ {
					if k <= len(read) && read[len(read)-k:] == literal[:k] {
						if k < len(literal) || longer(texts, literal) {
							want = max(want, k)
						}
					}
				}
			}
			if table.Hold(at, 0) != want {
				t.Fatalf("literals %q after %q: hold %d, want %d", texts, read, table.Hold(at, 0), want)
			}
			if got := string(table.Held(at, 0)); got != read[len(read)-want:] {
				t.Fatalf("literals %q after %q: held %q, want %q", texts, read, got, read[len(read)-want:])
			}
		}
	}
}

func longer(texts []string, literal string) bool {
	for _, other := range texts {
		if len(other) > len(literal) && other[:len(literal)] == literal {
			return true
		}
	}
	return false
}

func TestLongerLiteralWins(t *testing.T) {
	table, err := Search([]Literal{{Symbols: symbols("<a")}, {Symbols: symbols("<a>>")}, {Symbols: symbols("b")}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		text        string
		read, found int
		back        int
	}{
		{"x<a>>y", 5, 1, 0},
		{"x<a>y", 4, 0, 1},
		{"x<ay", 3, 0, 0},
		{"x<ab", 3, 0, 0},
		{"xb<a", 2, 2, 0},
		{"x<a", 3, -1, 0},
	} {
		_, read, found, back := table.Find(0, []byte(c.text))
		if read != c.read || int(found) != c.found || back != c.back {
			t.Errorf("%q: read %d found %d back %d, want %+v", c.text, read, found, back, c)
		}
	}
}

func TestWatchedLiteralsAreNotHeld(t *testing.T) {
	table, err := Search([]Literal{{Symbols: symbols("<think>"), Watch: Always}, {Symbols: symbols("</think>")}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	at, _, _, _ := table.Find(0, []byte("x<thin"))
	if table.Hold(at, 0) != 0 {
		t.Errorf("hold %d of a watched literal", table.Hold(at, 0))
	}
	if _, _, found, _ := table.Find(at, []byte("k>")); found != 0 {
		t.Errorf("found %d, want the watched literal", found)
	}
	at, _, _, _ = table.Find(0, []byte("x<"))
	if table.Hold(at, 0) != 1 {
		t.Errorf("hold %d after '<', which may begin the closer", table.Hold(at, 0))
	}
}

func TestTokens(t *testing.T) {
	texts := [][]byte{[]byte("<|begin_"), []byte(":|>")}
	table, err := Search([]Literal{{Symbols: append(append([]Symbol{FirstToken}, symbols("call")...), FirstToken+1)}}, texts)
	if err != nil {
		t.Fatal(err)
	}
	at, found, _, _ := table.Step(0, FirstToken)
	if found != None || table.Hold(at, 0) != len(texts[0]) {
		t.Fatalf("after the token: hold %d", table.Hold(at, 0))
	}
	at, read, found, _ := table.Find(at, []byte("call"))
	if read != 4 || found != None || string(table.Held(at, 0)) != "<|begin_call" {
		t.Fatalf("held %q", table.Held(at, 0))
	}
	if _, found, _, _ = table.Step(at, FirstToken+1); found != 0 {
		t.Fatal("the closing token does not complete the literal")
	}
	if _, _, found, _ := table.Find(0, []byte("<|begin_call:|>")); found != None {
		t.Fatal("typed characters count as a token")
	}
}

func TestAnchored(t *testing.T) {
	table, err := Anchored([]Literal{{Symbols: symbols("[")}, {Symbols: symbols("[TOOL]")}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	at := Place(0)
	for i, c := range []byte("[TOX") {
		to, found, back, _ := table.Step(at, Symbol(c))
		if i < 3 && found != None {
			t.Fatalf("found %d after %q", found, "[TOX"[:i+1])
		}
		if i == 3 && (found != 0 || back != 2) {
			t.Fatalf("found %d, back %d", found, back)
		}
		at = to
	}
	if to, _, _, _ := table.Step(0, 'x'); to != Dead {
		t.Fatal("x leads on")
	}
}

func BenchmarkFind(b *testing.B) {
	table, _ := Search([]Literal{{Symbols: symbols("<tool_call>")}, {Symbols: symbols("</think>")}}, nil)
	text := bytes.Repeat([]byte("The weather in Paris is mild today, 3 < 4. "), 2000)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		at := Place(0)
		for rest := text; len(rest) > 0; {
			var read int
			at, read, _, _ = table.Find(at, rest)
			rest = rest[read:]
		}
	}
}

// TestFirstAndLongest: of literals that overlap the one that begins first is found, and of those the longest, wherever
// the others end.
func TestFirstAndLongest(t *testing.T) {
	random := rand.New(rand.NewSource(1))
	word := func(most int) string {
		b := make([]byte, 1+random.Intn(most))
		for i := range b {
			b[i] = "ab<"[random.Intn(3)]
		}
		return string(b)
	}
	for range 2000 {
		var literals []Literal
		var texts []string
		for range 1 + random.Intn(5) {
			if text := word(6); !slices.Contains(texts, text) {
				texts = append(texts, text)
				literals = append(literals, Literal{Symbols: symbols(text)})
			}
		}
		table, err := Search(literals, nil)
		if err != nil {
			t.Fatal(err)
		}
		text := word(60) + "."
		var want, got []string
		for i := 0; i < len(text); {
			longest := ""
			for _, literal := range texts {
				if len(literal) > len(longest) && strings.HasPrefix(text[i:], literal) {
					longest = literal
				}
			}
			if longest != "" {
				want = append(want, longest)
			}
			i += max(len(longest), 1)
		}
		at, rest := Place(0), []byte(text)
		for len(rest) > 0 {
			place, read, found, back := table.Find(at, rest[:min(len(rest), 1+random.Intn(4))])
			rest = rest[read:]
			if at = place; found != None {
				got = append(got, texts[found])
				path := table.Path(place)
				again := []byte{}
				for _, symbol := range path[len(path)-back:] {
					again = append(again, byte(symbol))
				}
				at, rest = 0, append(again, rest...)
			}
		}
		if !slices.Equal(got, want) {
			t.Fatalf("literals %q in %q: found %q, want %q", texts, text, got, want)
		}
	}
}
