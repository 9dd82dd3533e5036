package detect

import (
	"slices"
	"strings"
	"sync"
	"unicode"

	"github.com/parlance-llm/parlance"
	"github.com/parlance-llm/parlance/internal/match"
)

// family is what a definition says that tells its format from the others.
type family struct {
	parlance.FormatInfo
	detector *Detector
	writes   string   // the format whose wire it is: its own, or that of the format that it extends and changes nothing of
	openers  []string // of calls, those that do not occur in ordinary text
	thoughts []string // markers of thoughts, likewise
	markers  []string // all markers, likewise
}

// Detector knows the formats of a registry. It is immutable, and shared by any number of goroutines.
type Detector struct {
	registry *parlance.Registry
	families []*family
	markers  *index
	rarity   map[string]float64 // how much a marker tells: the fewer formats have it, the more
}

// For makes a detector of the formats that a registry holds now, which takes some milliseconds: keep it. That of the default
// registry is the one behind the functions of the package; it is made once, when the first of them is called.
func For(registry *parlance.Registry) *Detector {
	if registry == parlance.Default() {
		return standard()
	}
	return newDetector(registry)
}

func newDetector(registry *parlance.Registry) *Detector {
	d := &Detector{registry: registry}
	calls := map[string]bool{} // a marker that begins calls somewhere ends thoughts only by the way
	for _, info := range registry.Formats() {
		f := &family{FormatInfo: info, detector: d, openers: telling(info.CallOpeners), markers: telling(info.Markers)}
		for _, opener := range info.CallOpeners {
			if isWord(opener) {
				f.openers = append(f.openers, opener)
			}
			calls[opener] = true
		}
		d.families = append(d.families, f)
	}
	for _, f := range d.families {
		for _, marker := range telling(f.ThoughtMarkers) {
			if !calls[marker] {
				f.thoughts = append(f.thoughts, marker)
			}
		}
		f.writes = f.Name
		for w := f; w != nil && w.Extends != "" && w.Grammar == "" && len(w.Respell) == 0; w = d.family(f.writes) {
			f.writes = w.Extends
		}
	}
	d.markers, d.rarity = indexOf(d.families), rarityOf(d.families)
	return d
}

// standard is the detector of the functions of the package.
var standard = sync.OnceValue(func() *Detector { return newDetector(parlance.Default()) })

// Format tells of a format by the name of its definition.
func (d *Detector) Format(name string) (parlance.FormatInfo, bool) {
	if f := d.family(name); f != nil {
		return f.FormatInfo, true
	}
	return parlance.FormatInfo{}, false
}

// family finds a format by the name of its definition; nil if there is none.
func (d *Detector) family(name string) *family {
	for _, f := range d.families {
		if f.Name == name {
			return f
		}
	}
	return nil
}

// telling are the markers that do not occur in ordinary text: with a letter, and with a bracket, a bar or the like.
// A hole in a marker ends it, since what fills the hole is not known.
func telling(markers []string) (out []string) {
	for _, marker := range markers {
		marker, _, _ = strings.Cut(marker, "{")
		marker = strings.TrimSpace(marker)
		if len(marker) >= 4 && strings.ContainsFunc(marker, unicode.IsLetter) && strings.ContainsAny(marker, "<>[]|") && !slices.Contains(out, marker) {
			out = append(out, marker)
		}
	}
	return out
}

// isWord tells whether an opener is a word that is long enough not to be met by chance.
func isWord(opener string) bool {
	return len(opener) >= 8 && !strings.ContainsFunc(opener, func(r rune) bool { return !unicode.IsLetter(r) })
}

// what a marker is.
type what uint8

const (
	ofCall what = 1 << iota
	ofThought
)

// index finds the markers of all formats in one pass.
type index struct {
	table *match.Table
	texts []string
	kinds []what
}

// indexOf makes the index of the markers of formats.
func indexOf(families []*family) *index {
	kinds := map[string]what{}
	for _, f := range families {
		for _, marker := range slices.Concat(f.markers, f.openers) {
			kinds[marker] |= ofCall
		}
	}
	for _, f := range families {
		for _, marker := range f.thoughts {
			kinds[marker] = kinds[marker]&^ofCall | ofThought
		}
	}
	// A marker that begins with another is found by it.
	x := &index{}
	var literals []match.Literal
	texts := make([]string, 0, len(kinds))
	for marker := range kinds {
		texts = append(texts, marker)
	}
	slices.Sort(texts)
	for _, marker := range texts {
		if len(x.texts) > 0 && strings.HasPrefix(marker, x.texts[len(x.texts)-1]) {
			x.kinds[len(x.kinds)-1] |= kinds[marker]
			continue
		}
		x.texts = append(x.texts, marker)
		x.kinds = append(x.kinds, kinds[marker])
		symbols := make([]match.Symbol, len(marker))
		for i := range len(marker) {
			symbols[i] = match.Symbol(marker[i])
		}
		literals = append(literals, match.Literal{Symbols: symbols})
	}
	table, err := match.Search(literals, nil)
	if err != nil {
		panic("detect: the markers of all formats: " + err.Error())
	}
	x.table = table
	return x
}

// tokens are the markers with a hole that stand in the samples, with what fills the hole there, which a sign sets apart
// from the word before it; a request calls them its special tokens.
func (f *family) tokens(samples []string) (out []string) {
	const longest = 40
	for _, marker := range f.Markers {
		begin, rest, _ := strings.Cut(marker, "{")
		_, end, holed := strings.Cut(rest, "}")
		if !holed || end == "" {
			continue
		}
		for _, text := range samples {
			for _, after, found := strings.Cut(text, begin); found; _, after, found = strings.Cut(after, begin) {
				filling, _, closed := strings.Cut(after, end)
				token := begin + filling + end
				if closed && filling != "" && !isLetter(filling[0]) && len(filling) <= longest && !strings.ContainsAny(filling, " \n<") && !slices.Contains(out, token) {
					out = append(out, token)
				}
			}
		}
	}
	return out
}

// count is the number of bytes of markers in a text. A marker that begins with another counts as that, with the character
// that ends it.
func (x *index) count(text string) (bytes int) {
	place := match.Place(0)
	for rest := []byte(text); len(rest) > 0; {
		to, read, found, _ := x.table.Find(place, rest)
		place, rest = to, rest[read:]
		if found != match.None {
			bytes += len(x.texts[found])
			place = 0
			if len(rest) > 0 && rest[0] == '>' && !strings.HasSuffix(x.texts[found], ">") {
				bytes++
				rest = rest[1:]
			}
		}
	}
	return bytes
}
