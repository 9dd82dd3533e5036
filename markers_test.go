package parlance

import (
	"go/scanner"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode"

	"github.com/parlance-llm/parlance/internal/grammar"
)

// isFamilyMarker tells whether a literal is the marker of a family, and not something that Go code may well hold for
// itself: it has a letter, and a character that is neither letter, digit, blank nor one of . : , = " ' _ - / ( ).
// So words (functions, call:), punctuation ([, }}) and Markdown's code fences are none.
func isFamilyMarker(literal string) bool {
	letter := strings.ContainsFunc(literal, unicode.IsLetter)
	mark := strings.ContainsFunc(literal, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsSpace(r) && !strings.ContainsRune(".:,=\"'_-/()`", r)
	})
	return letter && mark && !strings.HasPrefix(literal, "```")
}

// familyMarkers are the markers of all definitions, their tokens and the boundaries of their turns, with the format that
// has them.
func familyMarkers(t *testing.T) map[string]string {
	t.Helper()
	out := map[string]string{}
	l := Default().library()
	for _, format := range l.Formats() {
		d, err := l.Definition(format)
		if err != nil {
			t.Fatal(err)
		}
		for _, literal := range slices.Concat(markers(d), d.Tokens, d.Needed, []string{d.Turn.Begin, d.Turn.End}) {
			for hole := range d.Holes {
				literal = strings.ReplaceAll(literal, "{"+hole+"}", "")
			}
			if literal = strings.TrimSpace(literal); isFamilyMarker(literal) {
				out[literal] = format
			}
		}
	}
	return out
}

// noMarkers are strings that look like the marker of a family and are none, by the files they stand in, with the reason.
var noMarkers = map[string]map[string]string{
	"chattemplate/python.go":          {"<function": "how Python shows a function"},
	"constraint/sample/schema.go":     {"</parameter>": "makes values for tests that are hard to tell from markup"},
	"internal/roundtrip/generator.go": {"<![CDATA[": "makes messages for tests that are hard to tell from markup"},
}

// TestNoMarkerInGoCode: a marker stands in the definition of its format and nowhere else. No string in Go code outside
// tests holds one.
func TestNoMarkerInGoCode(t *testing.T) {
	families := familyMarkers(t)
	if len(families) < 150 {
		t.Fatalf("only %d markers", len(families))
	}
	files, literals := 0, 0
	err := filepath.WalkDir(".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() && strings.HasPrefix(entry.Name(), ".") && path != "." {
			return filepath.SkipDir
		}
		if entry.IsDir() || filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go") {
			return nil
		}
		files++
		for _, text := range stringsOf(t, path) {
			literals++
			for marker, format := range families {
				if _, allowed := noMarkers[filepath.ToSlash(path)][marker]; !allowed && strings.Contains(text.value, marker) {
					t.Errorf("%s: %q holds %q, a marker of %s", text.at, text.value, marker, format)
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if files < 100 || literals < 1000 {
		t.Errorf("only %d files with %d strings", files, literals)
	}
}

type goString struct {
	value string
	at    token.Position
}

// stringsOf are the string literals of a Go file.
func stringsOf(t *testing.T, path string) (out []goString) {
	t.Helper()
	source, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	set := token.NewFileSet()
	file := set.AddFile(path, -1, len(source))
	var s scanner.Scanner
	s.Init(file, source, func(at token.Position, message string) { t.Errorf("%s: %s", at, message) }, 0)
	for {
		at, kind, text := s.Scan()
		switch kind {
		case token.EOF:
			return out
		case token.STRING:
			value, err := strconv.Unquote(text)
			if err != nil {
				t.Errorf("%s: %v", set.Position(at), err)
			}
			out = append(out, goString{value, set.Position(at)})
		}
	}
}

// TestTokensAreMarkers: what a definition lists as tokens are its markers, or parts of them, and what it needs is among
// them; what it is detected by in a vocabulary is a marker or a token too.
func TestTokensAreMarkers(t *testing.T) {
	l := Default().library()
	listed := 0
	for _, format := range l.Formats() {
		d, err := l.Definition(format)
		if err != nil {
			t.Fatal(err)
		}
		all := markers(d)
		part := func(token string) bool {
			return slices.ContainsFunc(all, func(marker string) bool { return strings.Contains(marker, token) })
		}
		for _, token := range slices.Concat(d.Tokens, d.Needed) {
			listed++
			if !part(token) {
				t.Errorf("%s: the token %q is no part of a marker", format, token)
			}
		}
		for _, token := range d.Needed {
			if !slices.Contains(d.Tokens, token) {
				t.Errorf("%s: %q is needed and not among the tokens", format, token)
			}
		}
		for _, literal := range d.Constrain.Excludes {
			if !part(literal) && !slices.ContainsFunc(l.Formats(), func(other string) bool {
				o, err := l.Definition(other)
				return err == nil && slices.Contains(markers(o, grammar.Thought), literal)
			}) {
				t.Errorf("%s: %q may not stand in free text, and is no marker of it nor of any thought", format, literal)
			}
		}
	}
	if listed < 100 {
		t.Errorf("only %d tokens", listed)
	}
}

// TestNoFamilyInTheEngine: nothing between the notation and the message knows a family by its name. There are no hooks:
// what a family needs stands in its definition.
func TestNoFamilyInTheEngine(t *testing.T) {
	names := map[string]bool{}
	for _, info := range Formats() {
		for _, name := range slices.Concat(info.ToolNames, info.ReasoningNames, []string{info.Name}) {
			names[name] = true
		}
	}
	words := func(text string) []string {
		return strings.FieldsFunc(text, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '_' && r != '-' })
	}
	files := 0
	for _, pattern := range []string{"*.go", "internal/grammar/*.go", "internal/program/*.go", "internal/machine/*.go", "internal/match/*.go",
		"internal/codec/*.go", "internal/codec/*/*.go", "internal/schema/*.go", "internal/escapes/*.go", "internal/pattern/*.go"} {
		found, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range found {
			if strings.HasSuffix(path, "_test.go") {
				continue
			}
			files++
			for _, text := range stringsOf(t, path) {
				for _, word := range words(text.value) {
					if names[word] {
						t.Errorf("%s: %q names %s", text.at, text.value, word)
					}
				}
			}
		}
	}
	if files < 60 {
		t.Errorf("only %d files", files)
	}
}
