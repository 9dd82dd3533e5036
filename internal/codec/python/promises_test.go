package python

import (
	"bytes"
	"encoding/json"
	"encoding/json/jsontext"
	"errors"
	"io"
	"math/rand/v2"
	"testing"
	"unicode/utf8"

	"github.com/parlance-llm/parlance/internal/codec"
)

// check holds every promise that can be held for any text: that cutting it into pieces changes nothing, that what was
// appended is never taken back, and that Close and Cut are right after each of its prefixes.
func check(t testing.TB, text []byte, limit int, random *rand.Rand) {
	t.Helper()
	c := &Codec{Limit: limit}
	c.Start()
	lengths := []int{0} // of the output after each byte
	var out []byte
	st := codec.More
	for i := 0; i < len(text) && st == codec.More; i++ {
		checkEnd(t, c, text[:i], out)
		var n int
		n, out, st = c.Step(text[i:i+1], out)
		if st != codec.Refused && n != 1 {
			t.Fatalf("%q: byte %d was not taken", text, i)
		}
		if st == codec.Refused && len(out) > 0 {
			t.Fatalf("%q: refused, but %q was appended", text, out)
		}
		lengths = append(lengths, len(out))
	}
	checkEnd(t, c, text, out)
	want := bytes.Clone(c.Close(out))
	same := func(pieces ...[]byte) {
		c.Start()
		var got []byte
		taken, now := 0, codec.More
		for _, piece := range pieces {
			var n int
			n, got, now = c.Step(piece, got)
			taken += n
			if now == codec.More && n != len(piece) {
				t.Fatalf("%q: %d bytes left over", text, len(piece)-n)
			}
			if now != codec.Refused && len(got) != lengths[taken] {
				t.Fatalf("%q: %d bytes of output after %d of input, byte by byte %d", text, len(got), taken, lengths[taken])
			}
			if now != codec.More {
				break
			}
		}
		if last := len(lengths) - 1; st == codec.Refused && taken != last-1 || st != codec.Refused && taken != last || now != st {
			t.Fatalf("%q cut as %q: status %v after %d, byte by byte %v", text, pieces, now, taken, st)
		}
		if got = c.Close(got); !bytes.Equal(got, want) {
			t.Fatalf("%q cut as %q\n got  %s\n want %s", text, pieces, got, want)
		}
	}
	same(text)
	for i := range text {
		if len(text) < 400 || random.IntN(len(text)) < 400 {
			same(text[:i], text[i:])
		}
	}
	for range 5 {
		var pieces [][]byte
		for rest := text; len(rest) > 0; {
			n := min(len(rest), random.IntN(8))
			pieces = append(pieces, rest[:n])
			rest = rest[n:]
		}
		same(pieces...)
	}
}

// checkEnd holds what Close and Cut promise after a text that was fed to c.
func checkEnd(t testing.TB, c *Codec, text, out []byte) {
	t.Helper()
	closed := copyOf(c).Close(bytes.Clone(out))
	if !bytes.HasPrefix(closed, out) {
		t.Fatalf("%q: Close took back %q, gave %q", text, out, closed)
	}
	if closed[0] != '{' || !valid(closed, utf8.Valid(text)) {
		t.Fatalf("%q: Close made %q", text, closed)
	}
	part := copyOf(c).Cut(bytes.Clone(out))
	if !bytes.HasPrefix(part, out) {
		t.Fatalf("%q: Cut took back %q, gave %q", text, out, part)
	}
	decoder := jsontext.NewDecoder(bytes.NewReader(part), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	for {
		_, err := decoder.ReadToken()
		if err == nil {
			continue
		}
		if !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Fatalf("%q: Cut made %q: %v", text, part, err)
		}
		break
	}
}

// copyOf is a codec in the same state that shares no memory with c.
func copyOf(c *Codec) *Codec {
	other := *c
	other.name, other.levels, other.raw = bytes.Clone(c.name), bytes.Clone(c.levels), bytes.Clone(c.raw)
	other.held, other.wait, other.scratch = bytes.Clone(c.held), bytes.Clone(c.wait), nil
	other.pending = append([]pending(nil), c.pending...)
	return &other
}

// valid reports whether text is one JSON value, in UTF-8 if that is demanded.
func valid(text []byte, inUTF8 bool) bool {
	if !json.Valid(text) {
		return false
	}
	value := jsontext.Value(text)
	return !inUTF8 || value.IsValid(jsontext.AllowDuplicateNames(true))
}

func TestPromises(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for _, test := range texts {
		for _, limit := range []int{0, 1, 2, 5, 9, 20} {
			check(t, []byte(test.text), limit, random)
			check(t, []byte("a="+test.text), limit, random)
			check(t, []byte("a=["+test.text), limit, random)
			check(t, []byte("a={"+test.text), limit, random)
			check(t, []byte("a=({("+test.text), limit, random)
		}
	}
}

// TestPromisesMutated holds the promises for texts that were spliced, cut and strewn with structure.
func TestPromisesMutated(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	rounds := 2000
	if testing.Short() {
		rounds = 800
	}
	for range rounds {
		check(t, mutated(random), []int{0, 0, 3, 10}[random.IntN(4)], random)
	}
}

func mutated(random *rand.Rand) []byte {
	pick := func() []byte { return []byte(texts[random.IntN(len(texts))].text) }
	text := pick()
	for range 1 + random.IntN(5) {
		i := random.IntN(len(text) + 1)
		switch random.IntN(5) {
		case 0:
			other := pick()
			text = append(text[:i:i], other[random.IntN(len(other)):]...)
		case 1:
			text = append(text[:i:i], text[min(len(text), i+1+random.IntN(4)):]...)
		case 2:
			text = append(text[:i:i], append([]byte{structure[random.IntN(len(structure))]}, text[i:]...)...)
		case 3:
			j := i + random.IntN(len(text)-i+1)
			text = append(text[:j:j], text[i:]...)
		case 4:
			text = append([]byte("a={("), text...)
		}
	}
	return text[:min(len(text), 300)]
}

const structure = "()[]{}(){}\"\"''::,,==\\\\##-1ax \n*r\xc3\xa9"

func TestPromisesSoup(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	rounds := 4000
	if testing.Short() {
		rounds = 1000
	}
	for range rounds {
		text := []byte("a=")
		for range random.IntN(40) {
			text = append(text, structure[random.IntN(len(structure))])
		}
		check(t, text, []int{0, 0, 3, 10}[random.IntN(4)], random)
	}
}

func FuzzPython(f *testing.F) {
	for i, test := range texts {
		f.Add([]byte(test.text), uint8(i%12))
	}
	f.Fuzz(func(t *testing.T, text []byte, limit uint8) {
		if len(text) > 1000 {
			return
		}
		check(t, text, int(limit), rand.New(rand.NewPCG(1, 1)))
		if out, ok := AppendLiteral(nil, text); ok && !valid(out, utf8.Valid(text)) {
			t.Fatalf("%q is said to be the literal %q", text, out)
		}
	})
}
