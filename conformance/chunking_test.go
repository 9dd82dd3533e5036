package conformance

import (
	"slices"
	"strings"
	"testing"
)

func TestPiecesPutTogetherAreTheText(t *testing.T) {
	for _, text := range []string{"", "a", "ab", "Genève <｜tool▁call｜> ok", "\xff\xfe<x>\xc3", strings.Repeat("<p>é</p>", 50)} {
		c := &Case{ID: "x", Input: Input{Text: new(text)}}
		for _, k := range Chunkings(c, 50, true) {
			var pieces []string
			for piece := range k.Chunk.Pieces(text) {
				if piece == "" {
					t.Errorf("%q, %v: an empty piece", text, k)
				}
				pieces = append(pieces, piece)
			}
			if got := strings.Join(pieces, ""); got != text {
				t.Errorf("%q, %v: the pieces make %q", text, k, got)
			}
		}
	}
}

func TestPiecesAreAsAsked(t *testing.T) {
	for _, test := range []struct {
		chunk Chunk
		want  string
	}{
		{Chunk{}, "héllo"},
		{Chunk{Characters: 1}, "h|é|l|l|o"},
		{Chunk{Characters: 3}, "hél|lo"},
		{Chunk{Cuts: []int{0, 2, 4, 99}}, "h\xc3|\xa9l|lo"},
	} {
		if got := strings.Join(slices.Collect(test.chunk.Pieces("héllo")), "|"); got != test.want {
			t.Errorf("%v: expected %q, found %q", test.chunk, test.want, got)
		}
	}
}

func TestSeedsRepeatAndDiffer(t *testing.T) {
	text := strings.Repeat("héllo <tool> ", 20)
	cut := func(seed int64) string {
		return strings.Join(slices.Collect(Chunk{Random: true, Seed: seed}.Pieces(text)), "|")
	}
	seen := map[string]bool{}
	for seed := range int64(100) {
		first, again := cut(seed), cut(seed)
		if first != again {
			t.Errorf("seed %d cuts in two ways", seed)
		}
		seen[first] = true
	}
	if len(seen) < 90 {
		t.Errorf("100 seeds cut in only %d ways", len(seen))
	}
	a, b := &Case{ID: "a", Input: Input{Text: new(text)}}, &Case{ID: "b", Input: Input{Text: new(text)}}
	last := func(c *Case) Chunk { all := Chunkings(c, 5, true); return all[len(all)-1].Chunk }
	first, again := last(a).Seed, last(a).Seed
	if first != again || first == last(b).Seed {
		t.Error("the seeds do not follow from the id")
	}
}

func TestMarkerCuts(t *testing.T) {
	show := func(text string) string {
		bounds, insides := markerCuts(text)
		var out strings.Builder
		for i := range len(text) {
			if slices.Contains(bounds, i) {
				out.WriteByte('|')
			}
			if slices.Contains(insides, i) {
				out.WriteByte('.')
			}
			out.WriteByte(text[i])
		}
		return out.String()
	}
	for text, want := range map[string]string{
		"":                "",
		"plain words":     "plain words",
		"a <b> c":         "a |<|b|>| c",
		"a</b>":           "a|<./|b|>",
		"[f(x)]":          "[|f|(|x|).]",
		"to <call n=x> a": "to |<|c.a.l.l. .n|=|x|>| a",
		"a``` b":          "a|`.`.`| b",
		"1 < 2":           "1 |<| 2",
	} {
		if got := show(text); got != want {
			t.Errorf("%q: expected %q, found %q", text, want, got)
		}
	}
}

func TestChunkingsOfALongTextAreBounded(t *testing.T) {
	c := &Case{ID: "x", Input: Input{Text: new(strings.Repeat("<a>", 100_000))}}
	if n := len(Chunkings(c, 20, true)); n > singleCuts+30 {
		t.Errorf("%d chunkings", n)
	}
	for _, k := range Chunkings(c, 20, false) {
		if k.Chunk.Cuts != nil {
			t.Errorf("cuts are not to be asked for: %v", k)
		}
	}
}

func TestChunkInJSONAndAsFlag(t *testing.T) {
	for text, want := range map[string]Chunk{"0": {}, "7": {Characters: 7}, `{"seed":-3}`: {Random: true, Seed: -3}} {
		var got Chunk
		if err := Decode([]byte(text), &got); err != nil || got.String() != want.String() {
			t.Errorf("%s: %v, %v", text, got, err)
		}
		if data, err := Encode(got); err != nil || string(data) != text {
			t.Errorf("%s came back as %s, %v", text, data, err)
		}
	}
	for _, text := range []string{"-1", "1.5", `"3"`, "{}", `{"seed":"x"}`, "[1]"} {
		err := Decode([]byte(text), new(Chunk))
		if err == nil || !strings.HasPrefix(err.Error(), `expected a number of characters or {"seed": K}, found `) {
			t.Errorf("%s: %v", text, err)
		}
	}
	for text, want := range map[string]Chunk{"0": {}, "4": {Characters: 4}, "seed:9": {Random: true, Seed: 9}} {
		if got, err := ParseChunk(text); err != nil || got.String() != want.String() {
			t.Errorf("%s: %v, %v", text, got, err)
		}
	}
	for _, text := range []string{"", "-1", "x", "seed:", "seed:x", "seed"} {
		if _, err := ParseChunk(text); err == nil {
			t.Errorf("%q was accepted", text)
		}
	}
}
