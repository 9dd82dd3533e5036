package grammar

import (
	"strings"
	"testing"
	"testing/fstest"
)

// definitionWith makes a definition with a key results.
func definitionWith(results string) string {
	return `format: x
tool: [x]
turn: {begin: "<a>", end: "<z>"}
grammar: |
  output = { @content | call } .
  call   = "<c>" ~ json{ "name": @name, "arguments": @arguments } ~ "</c>" .
` + results
}

// ruled makes the key of rules.
func ruled(rules string) string {
	return "results: |\n  " + strings.ReplaceAll(rules, "\n", "\n  ") + "\n"
}

func read(t *testing.T, files map[string]string, format string) (*Definition, error) {
	t.Helper()
	system := fstest.MapFS{}
	for name, text := range files {
		system[name+".yaml"] = &fstest.MapFile{Data: []byte(text)}
	}
	l, err := NewLibrary(system, "")
	if err != nil {
		return nil, err
	}
	return l.Definition(format)
}

// TestResultsRefused holds that every fault of the rules for results is told, with its place.
func TestResultsRefused(t *testing.T) {
	for name, c := range map[string]struct{ results, want string }{
		"no grammar":            {ruled(`results = { `), `x.yaml:9:3: expected '}' to close the repetition, found the end of the grammar`},
		"another shape":         {"results: [a]\n", `x.yaml:7:10: expected the rules for tool results as a block of text, or a mapping with the key unknown, found a list`},
		"an unknown key":        {"results: {known: a}\n", `x.yaml:7:11: unknown key "known"; expected one of unknown`},
		"no reason":             {"results: {unknown: ' '}\n", `x.yaml:7:10: expected the reason behind unknown, why the definition does not say how results are written`},
		"no rule":               {ruled(`result = { @content } .`), `x.yaml:7:10: results: expected a rule named results`},
		"twice":                 {ruled("results = { @content } .\nresults = { @content } ."), `x.yaml:9:3: the rule results is given twice; the first is in line 8`},
		"a role":                {ruled("results = { @content } .\ncall = \"a\" ."), `x.yaml:9:3: the rule name call means something else; expected results, a variant of it, or the name of an abbreviation`},
		"a rule for the turn":   {ruled("results = { @content } turn .\nturn = \"a\" ."), `x.yaml:9:3: the rule name turn means something else; expected results, a variant of it, or the name of an abbreviation`},
		"no such rule":          {ruled(`results = { result } .`), `x.yaml:8:15: the rule result is not among the rules for results`},
		"an unused rule":        {ruled("results = { @content } .\nother = \"a\" ."), `x.yaml:9:3: the rule other is used nowhere`},
		"a rule in itself":      {ruled("results = { r } .\nr = \"a\" @content r ."), `x.yaml:9:20: the rule r holds itself`},
		"another capture":       {ruled(`results = { @content @arguments } .`), `x.yaml:8:24: @arguments means nothing in the rules for results; expected one of @content, @object, @name, @id, @index`},
		"no repetition":         {ruled(`results = "<r>" @content "</r>" .`), `x.yaml:8:19: @content stands outside the repetition: expected { … } or % around what is written for each result`},
		"two repetitions":       {ruled(`results = { @name } { @content } .`), `x.yaml:8:23: the results are written twice: expected one repetition`},
		"a nested repetition":   {ruled(`results = { { @content } } .`), `x.yaml:8:15: a repetition in the repetition for the results repeats nothing`},
		"an empty repetition":   {ruled(`results = { "a" } .`), `x.yaml:8:13: nothing in the repetition is of a result: expected @content or @object`},
		"no content":            {ruled(`results = { @name } .`), `x.yaml:8:3: expected @content or @object in the rule results, on every way through it`},
		"content on one way":    {ruled(`results = { "a" ( @content | @name ) } .`), `x.yaml:8:3: expected @content or @object in the rule results, on every way through it`},
		"optional content":      {ruled(`results = { @name @content? } .`), `x.yaml:8:3: expected @content or @object in the rule results, on every way through it`},
		"an optional member":    {ruled(`results = { json{ "name": @name, "content"?: @content } } .`), `x.yaml:8:3: expected @content or @object in the rule results, on every way through it`},
		"white space":           {ruled(`results = { ~ @content } .`), `x.yaml:8:15: white space that may vary means nothing in the rules for results, which no one reads: expected a literal`},
		"layout":                {ruled(`results = { ^"\n" @content } .`), `x.yaml:8:15: white space that may vary means nothing in the rules for results, which no one reads: expected a literal`},
		"what comes next":       {ruled(`results = { @content &"a" } .`), `x.yaml:8:24: this means nothing in the rules for results: expected a literal, a capture, an envelope, attributes, a rule, a choice or a repetition`},
		"a run":                 {ruled(`results = { @content /a+/ } .`), `x.yaml:8:24: this means nothing in the rules for results: expected a literal, a capture, an envelope, attributes, a rule, a choice or a repetition`},
		"a test":                {ruled(`results = { ( @content if name = "a" | @object ) } .`), `x.yaml:8:29: a test means nothing in the rules for results: the first way is taken that can hold the result`},
		"a set of more":         {ruled(`results = { [ name=@name "a" ] @content } .`), `x.yaml:8:28: expected nothing but attributes in a set of the rules for results, which are written in one order`},
		"keys to choose from":   {ruled(`results = { json{ "a" | "b": @content } } .`), `x.yaml:8:21: expected one key as a literal: nothing reads the rules for results`},
		"a member of something": {ruled(`results = { json{ "a": @arguments, "b": @content } } .`), `x.yaml:8:21: @arguments means nothing in the rules for results; expected one of @content, @object, @name, @id, @index`},
		"a shape of the text":   {ruled(`results = { @content:python } .`), `x.yaml:8:24: expected @content or @content:json`},
		"a shape of the object": {ruled(`results = { @object:"a" } .`), `x.yaml:8:23: expected @object, @object:json or @object:delimited`},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := read(t, map[string]string{"x": definitionWith(c.results)}, "x")
			if err == nil || err.Error() != c.want {
				t.Errorf("expected %s\nfound    %v", c.want, err)
			}
		})
	}
	t.Run("a turn that is not told", func(t *testing.T) {
		text := strings.Replace(definitionWith(ruled(`results = { @content } turn .`)), "turn: {begin: \"<a>\", end: \"<z>\"}\n", "", 1)
		want := `x.yaml:7:26: turn stands for what opens a turn of the model, and the definition has no turn: {begin: …}`
		if _, err := read(t, map[string]string{"x": text}, "x"); err == nil || err.Error() != want {
			t.Errorf("expected %s\nfound    %v", want, err)
		}
	})
	t.Run("a hole that is not declared", func(t *testing.T) {
		text := strings.Replace(definitionWith(ruled(`results = { "<r{t}>" @content } .`)), "<c>", "<c{s}>", 1) + "holes: {s: [\"<c{s}>\"]}\n"
		want := `x.yaml:8:15: the hole {t} is not among the holes of the definition`
		if _, err := read(t, map[string]string{"x": text}, "x"); err == nil || err.Error() != want {
			t.Errorf("expected %s\nfound    %v", want, err)
		}
	})
}

// TestResultsOfDialects holds that a dialect has the rules of what it extends, with its own spelling, until it has rules
// of its own.
func TestResultsOfDialects(t *testing.T) {
	base := definitionWith(ruled("results = { \"<r>\" @content \"</r>\" } turn .\nresults.other = { \"<c>\" @content } ."))
	for name, c := range map[string]struct{ dialect, want string }{
		"as they are": {"", "results       = { \"<r>\" @content \"</r>\" } turn .\nresults.other = { \"<c>\" @content } .\n"},
		"respelled":   {"respell: {\"<r>\": \"<s>\", \"<c>\": \"<d>\"}\n", "results       = { \"<s>\" @content \"</r>\" } turn .\nresults.other = { \"<d>\" @content } .\n"},
		"its own":     {ruled(`results = { @content } .`), "results = { @content } .\n"},
		"none known":  {"results: {unknown: no template}\n", ""},
	} {
		t.Run(name, func(t *testing.T) {
			d, err := read(t, map[string]string{"x": base, "y": "format: y\nextends: x\ntool: [y]\n" + c.dialect}, "y")
			if err != nil {
				t.Fatal(err)
			}
			if got := Print(d.Results.Rules); got != c.want {
				t.Errorf("expected\n%sfound\n%s", c.want, got)
			}
			if known := d.Results.Unknown == ""; known != (c.want != "") {
				t.Errorf("unknown is %q", d.Results.Unknown)
			}
		})
	}
}
