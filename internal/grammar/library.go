package grammar

import (
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/parlance-llm/parlance/internal/match"
)

// Library is a set of definitions. Its files are read when it is made; a definition is resolved when it is first used. A
// library may stand on another and add to it. It is safe for use by many goroutines.
type Library struct {
	below   *Library // nil for the lowest
	sources map[string]*Source
	own     map[string]bool        // the formats of this library's own files
	parsers [2]map[string][]string // by half: the formats that a parser name leads to

	mutex    sync.Mutex
	resolved map[string]*Definition // of own formats
	failed   map[string]error
	turns    *match.Table // the turn boundaries of all definitions, and
	boundary []string     // their texts
}

// NewLibrary reads the definition files (*.yaml) at the top of a file system. where is put before the names of files in
// errors.
func NewLibrary(files fs.FS, where string) (*Library, error) {
	return (*Library)(nil).Over(files, where, false)
}

// Over makes a library that holds further definitions and all that the library holds, which may be nil. A definition can
// extend others of its files, and any of the library. A format name or parser name that the library has already is an
// error unless override is set: then the new definition takes the name. Definitions of the library that extend one whose
// name is taken go on as they were, and the new one may extend it too.
func (l *Library) Over(files fs.FS, where string, override bool) (*Library, error) {
	out := &Library{
		below: l, sources: map[string]*Source{}, own: map[string]bool{}, parsers: [2]map[string][]string{{}, {}},
		resolved: map[string]*Definition{}, failed: map[string]error{},
	}
	names, err := fs.Glob(files, "*.yaml")
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		data, err := fs.ReadFile(files, name)
		if err != nil {
			return nil, err
		}
		source, err := Read(where+name, data)
		if err != nil {
			return nil, err
		}
		if want := strings.TrimSuffix(path.Base(name), ".yaml"); source.Format != want {
			return nil, source.fail(source.given["format"], "expected format: %s, the name of the file, found %s", want, source.Format)
		}
		if err := l.free(source); err != nil && !override {
			return nil, err
		}
		out.sources[source.Format], out.own[source.Format] = source, true
	}
	for half := ToolHalf; half <= ReasoningHalf; half++ {
		for format, source := range out.sources {
			for _, name := range source.names(half) {
				out.parsers[half][name] = append(out.parsers[half][name], format)
			}
		}
	}
	out.take(l)
	return out, nil
}

// free tells whether a definition's names are not taken yet.
func (l *Library) free(s *Source) error {
	if l == nil {
		return nil
	}
	if other, taken := l.sources[s.Format]; taken {
		return s.fail(s.given["format"], "expected a name for the format that is not taken, found %s, which is %s", s.Format, other.File)
	}
	for half, what := range [...]string{ToolHalf: "tool", ReasoningHalf: "reasoning"} {
		for _, name := range s.names(Half(half)) {
			if formats := l.Find(Half(half), name); len(formats) > 0 {
				return s.fail(s.given[what], "%s: expected a parser name that is not taken, found %s, which leads to %s", what, name, l.sources[formats[0]].File)
			}
		}
	}
	return nil
}

// take adds what a library holds whose names are not taken.
func (l *Library) take(below *Library) {
	if below == nil {
		return
	}
	for format, source := range below.sources {
		if !l.own[format] {
			l.sources[format] = source
		}
	}
	for half, parsers := range below.parsers {
		for name, formats := range parsers {
			if _, taken := l.parsers[half][name]; taken {
				continue
			}
			for _, format := range formats {
				if !l.own[format] {
					l.parsers[half][name] = append(l.parsers[half][name], format)
				}
			}
		}
	}
}

// Own are the names of the formats that the library has of its own files, sorted.
func (l *Library) Own() []string { return slices.Sorted(maps.Keys(l.own)) }

// Source gives a definition as its file has it, or nil.
func (l *Library) Source(format string) *Source { return l.sources[format] }

// Definition resolves a definition by its format name.
func (l *Library) Definition(format string) (*Definition, error) {
	if _, ok := l.sources[format]; !ok {
		return nil, fmt.Errorf("there is no format %q", format)
	}
	if !l.own[format] {
		return l.below.Definition(format)
	}
	l.mutex.Lock()
	defer l.mutex.Unlock()
	return l.definition(format, nil)
}

// definition resolves one of the library's own definitions.
func (l *Library) definition(format string, through []string) (*Definition, error) {
	if d, ok := l.resolved[format]; ok {
		return d, nil
	}
	if err, ok := l.failed[format]; ok {
		return nil, err
	}
	d, err := l.resolve(l.sources[format], through)
	if err != nil {
		l.failed[format] = err
		return nil, err
	}
	l.resolved[format] = d
	return d, nil
}

func (l *Library) resolve(source *Source, through []string) (*Definition, error) {
	if source.Extends == "" {
		return source.Resolve(nil)
	}
	base, err := l.base(source, through)
	if err != nil {
		return nil, err
	}
	return source.Resolve(base)
}

// base finds the definition that another extends: one of the same files, or else of the library below.
func (l *Library) base(source *Source, through []string) (*Definition, error) {
	if l.own[source.Extends] && source.Extends != source.Format {
		if slices.Contains(through, source.Extends) {
			return nil, source.fail(source.given["extends"], "extends: %s extends itself, through %s", source.Format, strings.Join(through, ", "))
		}
		return l.definition(source.Extends, append(through, source.Format))
	}
	if l.below == nil || l.below.sources[source.Extends] == nil {
		if source.Extends == source.Format {
			return nil, source.fail(source.given["extends"], "extends: %s extends itself", source.Format)
		}
		return nil, source.fail(source.given["extends"], "extends: there is no format %s", source.Extends)
	}
	return l.below.Definition(source.Extends)
}

// Formats are the names of all formats, sorted.
func (l *Library) Formats() []string { return slices.Sorted(maps.Keys(l.sources)) }

// Half says which half of a format a parser name stands for.
type Half uint8

// The halves.
const (
	ToolHalf Half = iota
	ReasoningHalf
)

func (s *Source) names(half Half) (names []string) {
	if half == ToolHalf {
		return s.Tool
	}
	for _, name := range s.Reasoning {
		names = append(names, name.Name)
	}
	return names
}

// Names are all parser names of a half, sorted.
func (l *Library) Names(half Half) []string { return slices.Sorted(maps.Keys(l.parsers[half])) }

// Find gives the formats that a parser name leads to. Dialects of one family may share a name; the one whose format is
// named so comes first, the others by their names.
func (l *Library) Find(half Half, name string) []string {
	formats := slices.Clone(l.parsers[half][name])
	slices.SortFunc(formats, func(a, b string) int {
		switch {
		case a == name:
			return -1
		case b == name:
			return 1
		}
		return strings.Compare(a, b)
	})
	return formats
}

// Nearest gives the names of a half that a misspelt one may have meant, the nearest first.
func (l *Library) Nearest(half Half, name string) (near []string) {
	type candidate struct {
		name     string
		distance int
	}
	var candidates []candidate
	for _, other := range l.Names(half) {
		d := distance(strings.ToLower(name), other)
		if d <= max(2, len(name)/3) || len(name) >= 3 && (strings.HasPrefix(other, name) || strings.HasPrefix(name, other)) {
			candidates = append(candidates, candidate{other, d})
		}
	}
	slices.SortStableFunc(candidates, func(a, b candidate) int { return a.distance - b.distance })
	for _, c := range candidates[:min(5, len(candidates))] {
		near = append(near, c.name)
	}
	return near
}

// distance is the number of letters to change, add or leave out.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			diagonal, row[j+1] = row[j+1], min(diagonal+cost, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}

// Turn gives the place in a prompt where the turn begins that is about to be written: behind the last turn boundary of
// any definition, since halves mix (ruling 5). openers are the markers that begin a message where turns are made of
// messages; the last one of the prompt belongs to the turn. real tells whether what looks like a boundary, or like an
// opener, at a place is one; nil means that everything is.
func (l *Library) Turn(prompt string, openers []string, real func(at int, boundary string) bool) (from int) {
	table, boundaries := l.boundaries()
	found := func(literal int32, end int) {
		if at := end - len(boundaries[literal]); real == nil || real(at, boundaries[literal]) {
			from = end
		}
	}
	at := match.Place(0)
	for i := 0; i < len(prompt); {
		to, read, literal, back := table.Find(at, []byte(prompt[i:]))
		i += read
		at = to
		if literal != match.None {
			found(literal, i-back)
			i -= back
			at = 0
		}
	}
	if literal, back := table.Pending(at); literal != match.None {
		found(literal, len(prompt)-back)
	}
	message := -1
	for _, opener := range openers {
		for rest := prompt; ; {
			k := strings.LastIndex(rest, opener)
			if k < 0 || k+len(opener) < from {
				break
			}
			if real == nil || real(k, opener) {
				message = max(message, k)
				break
			}
			rest = rest[:k]
		}
	}
	if message >= 0 {
		return message
	}
	return from
}

func (l *Library) boundaries() (*match.Table, []string) {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	if l.turns != nil {
		return l.turns, l.boundary
	}
	l.boundary = nil
	seen := map[string]bool{}
	var literals []match.Literal
	for _, format := range slices.Sorted(maps.Keys(l.sources)) {
		source := l.sources[format]
		for _, boundary := range []string{source.Turn.Begin, source.Turn.End, source.Turn.Resume} {
			if boundary == "" || seen[boundary] {
				continue
			}
			seen[boundary] = true
			var symbols []match.Symbol
			for i := range len(boundary) {
				symbols = append(symbols, match.Symbol(boundary[i]))
			}
			literals = append(literals, match.Literal{Symbols: symbols})
			l.boundary = append(l.boundary, boundary)
		}
	}
	table, err := match.Search(literals, nil)
	if err != nil {
		panic("grammar: the turn boundaries: " + err.Error())
	}
	l.turns = table
	return table, l.boundary
}
