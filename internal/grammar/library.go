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

// Library is a set of definitions. Its files are read when a name is first asked for; a definition is resolved when it
// is first used. It is safe for use by many goroutines.
type Library struct {
	mutex    sync.Mutex
	sources  map[string]*Source
	resolved map[string]*Definition
	failed   map[string]error
	turns    *match.Table // the turn boundaries of all definitions, and
	boundary []string     // their texts
}

// NewLibrary reads the definition files (*.yaml) at the top of a file system.
func NewLibrary(files fs.FS) (*Library, error) {
	l := &Library{sources: map[string]*Source{}, resolved: map[string]*Definition{}, failed: map[string]error{}}
	return l, l.Add(files, "formats/")
}

// Add reads further definitions. where is put before the names of files in errors. A format or parser name that exists
// already is an error.
func (l *Library) Add(files fs.FS, where string) error {
	names, err := fs.Glob(files, "*.yaml")
	if err != nil {
		return err
	}
	for _, name := range names {
		data, err := fs.ReadFile(files, name)
		if err != nil {
			return err
		}
		source, err := Read(where+name, data)
		if err != nil {
			return err
		}
		if want := strings.TrimSuffix(path.Base(name), ".yaml"); source.Format != want {
			return source.fail(source.given["format"], "expected format: %s, the name of the file, found %s", want, source.Format)
		}
		l.mutex.Lock()
		_, exists := l.sources[source.Format]
		if !exists {
			l.sources[source.Format] = source
			l.turns = nil
		}
		l.mutex.Unlock()
		if exists {
			return source.fail(source.given["format"], "the format %s exists already", source.Format)
		}
	}
	return nil
}

// Definition resolves a definition by its format name.
func (l *Library) Definition(format string) (*Definition, error) {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	return l.definition(format, nil)
}

func (l *Library) definition(format string, through []string) (*Definition, error) {
	if d, ok := l.resolved[format]; ok {
		return d, nil
	}
	if err, ok := l.failed[format]; ok {
		return nil, err
	}
	source, ok := l.sources[format]
	if !ok {
		return nil, fmt.Errorf("there is no format %q", format)
	}
	d, err := l.resolve(source, through)
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
	if slices.Contains(through, source.Extends) {
		return nil, source.fail(source.given["extends"], "extends: %s extends itself, through %s", source.Format, strings.Join(through, ", "))
	}
	if _, ok := l.sources[source.Extends]; !ok {
		return nil, source.fail(source.given["extends"], "extends: there is no format %s", source.Extends)
	}
	base, err := l.definition(source.Extends, append(through, source.Format))
	if err != nil {
		return nil, err
	}
	return source.Resolve(base)
}

// Formats are the names of all formats, sorted.
func (l *Library) Formats() []string {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	return slices.Sorted(maps.Keys(l.sources))
}

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
func (l *Library) Names(half Half) (names []string) {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	for _, source := range l.sources {
		names = append(names, source.names(half)...)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// Find gives the formats that carry a parser name. Dialects of one family may share a name; the one whose format is
// named so comes first, the others by their names.
func (l *Library) Find(half Half, name string) (formats []string) {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	for format, source := range l.sources {
		if slices.Contains(source.names(half), name) {
			formats = append(formats, format)
		}
	}
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
// any definition, since halves mix (ruling 5). opener is the marker that begins a message where turns are made of
// messages, else ""; the last one of the prompt belongs to the turn. real tells whether what looks like a boundary, or
// like an opener, at a place is one; nil means that everything is.
func (l *Library) Turn(prompt, opener string, real func(at int, boundary string) bool) (from int) {
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
	if opener == "" {
		return from
	}
	for rest := prompt; ; {
		k := strings.LastIndex(rest, opener)
		if k < 0 || k+len(opener) < from {
			return from
		}
		if real == nil || real(k, opener) {
			return k
		}
		rest = rest[:k]
	}
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
		for _, boundary := range []string{source.Turn.Begin, source.Turn.End} {
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
