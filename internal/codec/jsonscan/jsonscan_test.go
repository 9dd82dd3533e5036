package jsonscan

import (
	"encoding/json"
	"math/rand"
	"strings"
	"testing"
)

// scan runs a scanner over pieces and gives how far it came, and the text with control characters escaped away.
func scan(text string, pieces func() int) (taken int, last Event) {
	var s Scanner
	rest := []byte(text)
	for len(rest) > 0 {
		n := min(pieces(), len(rest))
		i := 0
		for i < n {
			var event Event
			i, event = s.Scan(rest[:n], i)
			switch event {
			case Control:
				i = s.Skip(i)
			case Done, Broken:
				return taken + i, event
			}
		}
		taken += n
		rest = rest[n:]
	}
	return taken, More
}

func TestScanAgreesWithTheStandardLibrary(t *testing.T) {
	random := rand.New(rand.NewSource(1))
	texts := []string{
		`{}`, `[]`, `{"a": 1}`, `{"a": [1, 2.5, -0, 1e3, 1E+9, 12345678901234567890], "b": {"c": null, "d": true, "e": false}}`,
		`{"a": "x\n\"\\é\ud83d\ude00"}`, `[[[[]]], {}]`, `{"a" : [ ] , "b":{ } }`, `{"a": 01}`, `{"a": .5}`, `{"a": 5.}`,
		`{"a": 1,}`, `[1,]`, `{"a"}`, `{a: 1}`, `{"a": tru}`, `{"a": "\x"}`, `{"a": "\u12g4"}`, `[1 2]`, `{"a": 1 "b": 2}`, `{,}`,
		`{"a": -}`, `{"a": 1e}`, `{"a": 1e+}`, `[nul]`, `{"a": 'b'}`, `{"a": NaN}`, `[1, [2, {"x": [3]}]]`,
	}
	for range 20000 {
		b := []byte(texts[random.Intn(len(texts))])
		for range random.Intn(3) {
			b[random.Intn(len(b))] = `{}[]",:\ 0123.eE-+tfnu`[random.Intn(22)]
		}
		texts = append(texts, string(b))
	}
	for _, text := range texts {
		for _, pieces := range []func() int{
			func() int { return len(text) }, func() int { return 1 }, func() int { return 1 + random.Intn(4) },
		} {
			taken, event := scan(text, pieces)
			valid := event == Done && strings.TrimSpace(text[taken:]) == ""
			if text[0] != '{' && text[0] != '[' {
				if event == Done {
					t.Fatalf("%q: done", text)
				}
				continue
			}
			if want := json.Valid([]byte(text)); valid != want {
				t.Fatalf("%q: valid %v after %d (%v), the standard library says %v", text, valid, taken, event, want)
			}
		}
	}
}

func TestDeepNesting(t *testing.T) {
	text := strings.Repeat("[", 10000) + strings.Repeat("]", 10000)
	if taken, event := scan(text, func() int { return 7 }); event != Done || taken != 20000 {
		t.Fatalf("%d %v", taken, event)
	}
	if _, event := scan(strings.Repeat("[", MaxDepth+1), func() int { return 1000 }); event != Broken {
		t.Fatalf("%v beyond the deepest level", event)
	}
}

func TestDecoder(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{`a\n\"\\\/b`, "a\n\"\\/b"}, {`\u00e9\ud83d\ude00`, "é😀"}, {`\ud83dx`, "\uFFFDx"}, {`\ude00`, "\uFFFD"}, {`\ud83d\n`, "\uFFFD\n"},
		{"raw\nline", "raw\nline"}, {`\ud83d\ud83d\ude00`, "\uFFFD😀"},
	} {
		got, ok := unescape([]byte(c.in))
		if !ok || string(got) != c.want {
			t.Errorf("%q: %q %v, want %q", c.in, got, ok, c.want)
		}
		var d Decoder
		var out []byte
		for _, b := range []byte(c.in) {
			_, out, _ = d.Step([]byte{b}, 0, out)
		}
		_, out, event := d.Step([]byte{'"'}, 0, out)
		if string(out) != c.want || event != Done {
			t.Errorf("%q in pieces: %q %v", c.in, out, event)
		}
	}
	if _, ok := unescape([]byte(`\x`)); ok {
		t.Error(`\x is no escape`)
	}
}

func BenchmarkScan(b *testing.B) {
	text := []byte(`{"path": "a.go", "text": "` + strings.Repeat(`package main\n\nfunc main() { println(\"hello, world\") } // and so on `, 3000) + `"}`)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		var s Scanner
		for i := 0; i < len(text); {
			i, _ = s.Scan(text, i)
		}
	}
}

// unescape decodes a whole JSON string without its quotes; ok is false if it is none.
func unescape(text []byte) (out []byte, ok bool) {
	var d Decoder
	_, out, event := d.Step(append(append([]byte{}, text...), '"'), 0, nil)
	return out, event == Done
}
