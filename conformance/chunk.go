package conformance

import (
	"encoding/json/jsontext"
	"fmt"
	"iter"
	"math/rand/v2"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/parlance-llm/parlance/internal/explain"
)

// Chunk says how a text is cut into the pieces of a stream. Its zero value cuts nothing: all comes at once. In JSON it is
// a number of characters, 0 for all at once, or {"seed": K} for random cuts.
type Chunk struct {
	// Characters is the number of characters of each piece, 0 for all at once.
	Characters int
	// Random cuts at random bytes, inside characters too; the same Seed cuts a text in the same places.
	Random bool
	Seed   int64
	// Cuts are the places to cut at, in bytes, rising. They have no form in JSON, since other programs are not asked
	// to know them.
	Cuts []int
}

// ParseChunk reads a chunk as the command line has it: `N` characters, or `seed:K`.
func ParseChunk(text string) (Chunk, error) {
	if seed, ok := strings.CutPrefix(text, "seed:"); ok {
		if n, err := strconv.ParseInt(seed, 10, 64); err == nil {
			return Chunk{Random: true, Seed: n}, nil
		}
	} else if n, err := strconv.Atoi(text); err == nil && n >= 0 {
		return Chunk{Characters: n}, nil
	}
	return Chunk{}, fmt.Errorf("expected a number of characters, or seed:K with a whole number K, found %q", text)
}

// UnmarshalJSON reads a number of characters or {"seed": K}; null is all at once.
func (c *Chunk) UnmarshalJSON(data []byte) error {
	*c = Chunk{}
	switch value := jsontext.Value(data); value.Kind() {
	case 'n':
		return nil
	case '0':
		if n, err := strconv.Atoi(string(data)); err == nil && n >= 0 {
			c.Characters = n
			return nil
		}
	case '{':
		var random struct {
			Seed *int64 `json:"seed"`
		}
		if Decode(data, &random) == nil && random.Seed != nil {
			*c = Chunk{Random: true, Seed: *random.Seed}
			return nil
		}
	}
	return explain.Expected(`expected a number of characters or {"seed": K}, found %s`, short(string(data), 40))
}

// MarshalJSON writes what UnmarshalJSON reads.
func (c Chunk) MarshalJSON() ([]byte, error) {
	switch {
	case c.Cuts != nil:
		return nil, fmt.Errorf("cuts at given places have no form in JSON")
	case c.Random:
		return fmt.Appendf(nil, `{"seed":%d}`, c.Seed), nil
	}
	return strconv.AppendInt(nil, int64(c.Characters), 10), nil
}

func (c Chunk) String() string { return c.in("character") }

// in says how a text is cut whose length is counted in a unit.
func (c Chunk) in(unit string) string {
	switch {
	case len(c.Cuts) == 1:
		return fmt.Sprintf("cut at byte %d", c.Cuts[0])
	case c.Cuts != nil:
		return fmt.Sprintf("cut at %d places", len(c.Cuts))
	case c.Random:
		return fmt.Sprintf("cut at random (seed %d)", c.Seed)
	case c.Characters == 0:
		return "all at once"
	case c.Characters == 1:
		return "1 " + unit + " at a time"
	}
	return fmt.Sprintf("%d %ss at a time", c.Characters, unit)
}

// Pieces are the pieces of a text, none of them empty.
func (c Chunk) Pieces(text string) iter.Seq[string] {
	switch {
	case c.Cuts != nil:
		return piecesAt(text, c.Cuts)
	case c.Random:
		return piecesAtRandom(text, c.Seed)
	case c.Characters == 0:
		return piecesAt(text, nil)
	}
	return piecesOf(text, c.Characters)
}

func piecesAt(text string, cuts []int) iter.Seq[string] {
	return func(yield func(string) bool) {
		from := 0
		for _, cut := range cuts {
			if cut <= from || cut >= len(text) {
				continue
			}
			if !yield(text[from:cut]) {
				return
			}
			from = cut
		}
		if from < len(text) {
			yield(text[from:])
		}
	}
}

func piecesOf(text string, characters int) iter.Seq[string] {
	return func(yield func(string) bool) {
		for len(text) > 0 {
			n := 0
			for range characters {
				_, size := utf8.DecodeRuneInString(text[n:])
				if n += size; n == len(text) {
					break
				}
			}
			if !yield(text[:n]) {
				return
			}
			text = text[n:]
		}
	}
}

// piecesAtRandom draws how long pieces are on average first, so that seeds differ in kind: from single bytes to two or
// three pieces.
func piecesAtRandom(text string, seed int64) iter.Seq[string] {
	return func(yield func(string) bool) {
		if text == "" {
			return
		}
		random := rand.New(rand.NewPCG(uint64(seed), 0))
		longest := 2 << random.IntN(5)
		if random.IntN(3) == 0 {
			longest = len(text)
		}
		rest := text
		for rest != "" {
			n := min(1+random.IntN(longest), len(rest))
			if !yield(rest[:n]) {
				return
			}
			rest = rest[n:]
		}
	}
}
