package conformance

import (
	"hash/fnv"
	"regexp"
	"slices"
	"unicode"
)

// Chunking is one way in which a case is run.
type Chunking struct {
	// Stream tells whether the text comes as a stream, in chunks, or whole.
	Stream bool
	Chunk  Chunk
	// name is put before what the chunk says of itself; unit is what a chunk counts.
	name, unit string
}

func (k Chunking) String() string {
	if !k.Stream {
		return "whole"
	}
	return "streamed, " + k.name + k.Chunk.in(k.unit)
}

// singleCuts bounds the chunkings that cut a text at one place alone. In longer texts they are spread evenly.
const singleCuts = 1000

// Chunkings are the ways in which a case is run, the simplest first. splits is the number of random ones; they follow
// from the id of the case, so that a run can be repeated. If the implementation cannot be told where to cut, cuts is
// false and only the chunkings that have a form in JSON are given. Of an output that comes as tokens a chunk counts the
// tokens, and nothing is cut inside one.
func Chunkings(c *Case, splits int, cuts bool) []Chunking {
	unit := "character"
	if c.Tokens != nil {
		unit, cuts = "token", false
	}
	out := []Chunking{{}}
	for _, characters := range []int{0, 1, 3, 7} {
		out = append(out, Chunking{Stream: true, Chunk: Chunk{Characters: characters}, unit: unit})
	}
	if cuts {
		bounds, insides := markerCuts(c.Written())
		for _, all := range []struct {
			name string
			cuts []int
		}{{"at every boundary of a marker: ", bounds}, {"inside every marker: ", insides}} {
			if len(all.cuts) > 1 {
				out = append(out, Chunking{Stream: true, name: all.name, Chunk: Chunk{Cuts: all.cuts}})
			}
		}
		single := slices.Concat(bounds, insides)
		slices.Sort(single)
		step := max(1, (len(single)+singleCuts-1)/singleCuts)
		for i := 0; i < len(single); i += step {
			out = append(out, Chunking{Stream: true, Chunk: Chunk{Cuts: single[i : i+1]}})
		}
	}
	hash := fnv.New32a()
	hash.Write([]byte(c.ID))
	seed := int64(hash.Sum32() >> 2) // small enough for any language's whole numbers
	for i := range splits {
		out = append(out, Chunking{Stream: true, Chunk: Chunk{Random: true, Seed: seed + int64(i)}, unit: unit})
	}
	return out
}

// tag is text that looks like a tag: a stretch of a line in pointed or square brackets.
var tag = regexp.MustCompile(`<[^<>\n]{1,80}>|\[[^\[\]\n]{1,80}\]`)

// markerCuts gives the places in a text where a marker may begin or end, and the places inside what may be one, without
// knowing any format: a marker is taken to be a run of characters that are no letters, digits or blanks, or something
// that looks like a tag. No place is in both; the ends of the text are in neither.
func markerCuts(text string) (bounds, insides []int) {
	const bound, inside = 1, 2
	kinds := make([]byte, len(text)+1)
	mark := func(from, to int) {
		for i := from + 1; i < to; i++ {
			kinds[i] |= inside
		}
		kinds[from] |= bound
		kinds[to] |= bound
	}
	for _, place := range tag.FindAllStringIndex(text, -1) {
		mark(place[0], place[1])
	}
	start := -1
	for i, r := range text + " " {
		plain := unicode.IsLetter(r) || unicode.IsMark(r) || unicode.IsDigit(r) || unicode.IsSpace(r)
		switch {
		case !plain && start < 0:
			start = i
		case plain && start >= 0:
			mark(start, i)
			start = -1
		}
	}
	for i := 1; i < len(text); i++ {
		switch {
		case kinds[i]&bound != 0:
			bounds = append(bounds, i)
		case kinds[i]&inside != 0:
			insides = append(insides, i)
		}
	}
	return bounds, insides
}
