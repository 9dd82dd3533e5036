package program

import (
	"errors"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/parlance-llm/parlance/formats"
	"github.com/parlance-llm/parlance/internal/grammar"
)

// read reads, resolves and compiles a definition file.
func read(text string) error {
	l, err := grammar.NewLibrary(fstest.MapFS{"example.yaml": {Data: []byte(text)}}, "formats/")
	if err != nil {
		return err
	}
	d, err := l.Definition("example")
	if err != nil {
		return err
	}
	o := Options{Tool: d, Reasoning: d, Name: &grammar.ReasoningName{Name: "example"}}
	_, err = Compile(o)
	return err
}

// rules makes a definition file of its grammar, whose first line is the fifth.
func rules(lines ...string) string {
	return "format: example\ntool: [example]\nreasoning: [example]\ngrammar: |\n  " + strings.Join(lines, "\n  ") + "\n"
}

// TestFaultsOfDefinitions holds that what is wrong with a definition is told with its place, what was expected there
// and what was found.
func TestFaultsOfDefinitions(t *testing.T) {
	const output = `output = { @content | call } .`
	for _, test := range []struct{ name, file, place, says string }{
		{"empty", "", "1:1", "expected a definition, found an empty file"},
		{"no mapping", "- a", "1:1", "expected a mapping, found a list"},
		{"no YAML", "format: example\n\ttool: x", "2:1", "found a tab character that violates indentation"},
		{"no format", "title: x", "1:1", "expected the key format with the name of the definition"},
		{"other name", "title: x\nformat: other", "2:9", "expected format: example, the name of the file, found other"},
		{"unknown key", "format: example\ntools: [a]", "2:1", `unknown key "tools"; expected one of alone, `},
		{"key twice", "format: example\nformat: example", "2:1", `the key "format" is given twice`},
		{"text for a list", "format: example\ntool: hermes", "2:7", `expected a list of texts, found "hermes"`},
		{"list in a list", "format: example\ntool: [[a]]", "2:8", "expected a text, found a list"},
		{"no such value", "format: example\nids: some", "2:6", `expected one of per_conversation, per_message, per_message from 1, 9 alphanumerics, found "some"`},
		{"no truth", "format: example\nalone: maybe", "2:8", `expected true or false, found "maybe"`},
		{"text for a truth", "format: example\nrequest: {skip_special_tokens: \"no\"}", "2:32", `expected true or false, found "no"`},
		{"no such reason", "format: example\ncannot: [all]", "2:10", `expected one of closer, key, lone argument, `},
		{"no UTF-8", "format: example\ntitle: é\xff", "2:9", "expected text in UTF-8, found the byte 0xff"},
		{"control character", "format: example\n\ntitle: a\x01", "3:9", "expected text in UTF-8, found the control character 0x01"},
		{"unknown key below", "format: example\nthinking: {stat: inside}", "2:12", `unknown key "stat"; expected one of by_default, `},
		{"grammar is a list", "format: example\ngrammar: [a]", "2:10", "expected the grammar as a block of text, found a list"},
		{"no base", "format: example\nextends: other", "2:10", "there is no format other"},
		{"its own base", "format: example\nextends: example", "2:10", "example extends itself"},
		{"respell without base", "format: example\nrespell: {a: b}", "2:10", "this one extends none"},
		{"token that is not there", "format: example\ntokens: [\"<a>\"]", "2:9", `"<a>" occurs in no literal of the grammar`},
		{"needed that is no token", "format: example\nneeded: [\"<a>\"]", "2:9", `"<a>" is not among the tokens`},

		{"no end of a rule", rules(`call = "<a>" @name`), "6:3", "expected '.' at the end of the rule call, found the end of the grammar"},
		{"no equals sign", rules(`call "<a>"`), "5:8", `expected '=' behind the rule name call, found the literal "<a>"`},
		{"no rule", rules(`"<a>" = call .`), "5:3", `expected the name of a rule, found the literal "<a>"`},
		{"open literal", rules(`call = "<a> @name .`), "5:10", `expected a closing " before the end of the line`},
		{"empty literal", rules(`call = "" @name .`), "5:10", "an empty literal marks nothing"},
		{"unknown escape", rules(`call = "<a>\q" @name .`), "5:10", `expected one of n t r u \ " ' behind a backslash, found 'q'`},
		{"unknown character", rules(`call = "<a>" $ .`), "5:16", "expected a rule, a literal or an operator, found '$'"},
		{"unknown codec", rules(`call = "<a>" @name ~ @arguments:yaml .`), "5:35", "expected the codec json, python, delimited, xml or text, found 'yaml'"},
		{"no delimiter", rules(`call = "<a>" @name ~ @arguments:delimited .`), "5:45", "expected '(' and the delimiter behind delimited, found '.'"},
		{"codec of another capture", rules(output, `call = "<a>" @name:xml ~ @arguments:json .`), "6:16", "the codec xml reads a @value, not @name"},
		{"open group", rules(`call = "<a>" ( @name | .`), "5:26", "expected ')' to close the group, found '.'"},
		{"open set", rules(`call = "<a>" [name=@name ~`), "6:3", "expected ']' to close the set that begins in line 5"},
		{"attribute without capture", rules(`call = "<a " [name="x"] ">" .`), "5:22", `expected a capture for the attribute name, found the literal "x"`},
		{"key of an envelope", rules(`call = json{ name: @name } .`), "5:16", "expected the key of a member as a literal, found 'name'"},
		{"loose layout", rules(`call = "<a>" ^ @name .`), "5:18", "expected a literal or a group right behind '^', found '@'"},
		{"rule in a layout", rules(`call = "<a>" ^( call ) @name .`), "5:19", "expected literals, &x or @name in a group behind '^', found call"},
		{"capture in a layout", rules(`call = "<a>" ^( @id ) @name .`), "5:19", "expected @name, the name of the call that comes next, found @id"},
		{"test in a layout", rules(`call = "<a>" ^( " " if name | ) @name .`), "5:26", "expected reasoning, content or call to be tested behind '^', which is what was written last; found name"},
		{"pattern in a layout", rules(`call = "<a>" ^( " " if content = "x" ) @name .`), "5:26", `found content = "x"`},
		{"layout that is never reached", rules(`call = "<a>" ^( " " | if content ) @name .`), "5:25", "this alternative is never reached"},
		{"layout that looks for nothing", rules(`call = "<a>" ^( &frame ) @name .`), "5:20", "there is no rule frame"},
		{"layout that is not read", rules(`call = "<a>" ^( "<b>" ) @name .`), "5:19", `the marker "<b>" is written here and read nowhere`},
		{"once without a role", rules(`call = "<a>" { "b" }! @name .`), "5:16", "expected calls, or another rule with a role, in a repetition that is written once"},
		{"once and no more", rules(`output = block .`, `block = "<b>" { call }! .`, `call = "<a>" @name .`), "6:17", "expected the rule block to be repeated"},
		{"run without count", rules(`call = "<a>" @name:/[a-z]/ .`), "5:22", `expected + or {count} behind the class, found ""`},
		{"backward range", rules(`call = "<a>" @name:/[z-a]+/ .`), "5:22", "the range z-a runs backwards"},
		{"rule twice", rules(`call = "<a>" @name .`, `call = "<b>" @name .`), "6:3", "the rule call is given twice; the first is in line 5"},
		{"unknown rule", rules(`call = "<a>" @name arguments .`), "5:22", "the rule call refers to arguments, which is not defined"},
		{"unused rule", rules(`call = "<a>" @name .`, `name = "b" .`), "6:3", "the rule name is used nowhere"},
		{"rule in itself", rules(`call = "<a>" @name ~ ( call | @arguments:json ) .`), "5:26", "the rule call uses itself; only parameters may be nested"},

		{"call without a name", rules(output, `call = "<a>" @arguments:json .`), "6:10", "expected @name in the rule call, on every way through it"},
		{"a way without a name", rules(output, `call = "<a>" @name ~ @arguments:json | "<b>" @arguments:json .`), "6:42", "expected @name in the rule call"},
		{"parameter without a value", rules(`call = "<a>" @name ~ parameter .`, `parameter = "<p>" @key "</p>" .`), "6:15", "expected @value, or parameters, in the rule parameter"},
		{"parameter without a key", rules(`call = "<a>" @name ~ parameter .`, `parameter = "<p>" @value "</p>" .`), "6:15", "expected @key in the rule parameter"},
		{"thought without reasoning", rules(`thought = "<t>" "</t>" .`), "5:13", "expected @reasoning in the rule thought"},
		{"block without a call", rules(`block = "<b>" "</b>" .`), "5:11", "expected a call in the rule block"},
		{"skip with a capture", rules(`skip = "<b>" @word .`), "5:10", "expected nothing but markers in the rule skip"},
		{"value outside a parameter", rules(`call = "<a>" @name "|" @value "</a>" .`), "5:3", "@value means nothing in the rule call; expected it in parameter"},
		{"reasoning outside a thought", rules(`output = { @content | @reasoning } .`), "5:3", "@reasoning means nothing in the rule output; expected it in thought or message"},
		{"no end of a name", rules(`call = "<a>" @name @id ~ @arguments:json .`), "5:22", "nothing tells where @name ends: expected a marker or white space between it and @id"},
		{"marker that is a word", rules(`call = "<a>" @name "of" ~ @arguments:json .`), "5:22", `nothing tells where @name ends: the marker "of" begins with a character that a word may hold`},
		{"test of nothing", rules(`call = "<a>" @name ~ ( @arguments:json if kind = "x" | "-" ) .`), "5:45", "the test asks for @kind, which nothing captures"},
		{"unreachable", rules(`call = "<a>" @name ~ @kind ~ ( "x" | "y" if kind = "x" ) ~ @arguments:json .`), "5:40", "no text reaches this alternative: the one before it has no test"},
		{"look at a capture", rules(`call = "<a>" @name ~ @arguments:json &@name .`), "5:41", "expected literals, rules or end behind '&'"},
		{"end that is not looked ahead to", rules(`call = "<a>" @name end .`), "5:22", "the end of the output can only be looked ahead to; expected '&' before it"},
		{"no end of a rule before another", rules(`call = "<a>" block`, `block = "<b>" .`), "6:3", "expected '.' before the rule block, at the end of the one above"},
		{"hole where there are none", rules(`call = "<a{t}>" @name .`), "5:10", "the hole {t} is not among the holes of the definition"},
		{"hole that is read off nothing", "format: example\ntool: [example]\nholes: {s: [\"<b{s}>\"]}\ngrammar: |\n  call = \"<a{s}>\" @name .\n", "3:8", `holes: expected literals of the grammar with {s} in them, found "<b{s}>"`},
		{"undeclared hole", "format: example\ntool: [example]\nholes: {s: [\"<a{s}>\"]}\ngrammar: |\n  call = \"<a{t}>\" @name .\n", "5:10", "the hole {t} is not among the holes of the definition"},

		{"one marker, two trays", rules(`thought = "<a>" @reasoning "</a>" .`, `frame = "<a>" @content "</a>" .`), "5:19",
			"ambiguous: the same text can be read as reasoning of the thought in line 5 and as content of the frame in line 6, and no rule decides"},
		{"thought without an end", rules(`output = thought? @content .`, `thought = "<a>" @reasoning .`), "6:19",
			"ambiguous: the same text can be read as reasoning of the thought in line 6 and as content of the output in line 5, and no rule decides"},
		{"one word, two captures", rules(output, `call = "<a>" ( @name | @kind "|" @name ) "<b>" @arguments:json .`), "6:18",
			"ambiguous: the same word can be read as a word @name of the call in line 6 and as a word @kind of the call in line 6, and no rule decides"},
		{"call that begins with any word", rules(output, `call = @name ~ @arguments:json .`), "6:10",
			"ambiguous: the same text can be read as a word @name of the call in line 6 and as content of the output in line 5, and no rule decides"},
	} {
		t.Run(test.name, func(t *testing.T) {
			err := read(test.file)
			var fault *grammar.Error
			if !errors.As(err, &fault) {
				t.Fatalf("expected a fault at %s, found %v", test.place, err)
			}
			if want := "formats/example.yaml:" + test.place + ": "; !strings.HasPrefix(err.Error(), want) || !strings.Contains(err.Error(), test.says) {
				t.Errorf("expected %s … %s\nfound %s", want, test.says, err)
			}
		})
	}
}

// TestBrokenDefinitions holds that a definition that something has been left out of is read or refused, with its place:
// a fifth of the tokens of each grammar is left out, one at a time.
func TestBrokenDefinitions(t *testing.T) {
	names, err := formats.Files.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	refused := 0
	for k, entry := range names {
		data, err := formats.Files.ReadFile(entry.Name())
		if err != nil {
			t.Fatal(err)
		}
		before, text, ok := strings.Cut(string(data), "\ngrammar: |\n")
		if !ok || strings.Contains(before, "\nextends:") {
			continue
		}
		head := "format: example\ntool: [example]\nreasoning: [example]\ngrammar: |\n"
		for i, at := range tokens(text) {
			if i%5 != k%5 || testing.Short() && i%25 != k%25 {
				continue
			}
			err := read(head + text[:at[0]] + text[at[1]:])
			if err == nil {
				continue
			}
			refused++
			var fault *grammar.Error
			if !errors.As(err, &fault) || fault.Position.Line < 5 {
				t.Errorf("%s without %q: %v", entry.Name(), text[at[0]:at[1]], err)
			}
		}
	}
	if refused == 0 {
		t.Error("nothing was refused")
	}
}

// tokens are the places of what stands between white space.
func tokens(text string) (places [][2]int) {
	start := -1
	for i := range len(text) {
		blank := strings.ContainsRune(" \n", rune(text[i]))
		switch {
		case !blank && start < 0:
			start = i
		case blank && start >= 0:
			places, start = append(places, [2]int{start, i}), -1
		}
	}
	return places
}
