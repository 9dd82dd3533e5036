package grammar_test

import (
	"testing"

	"github.com/parlance-llm/parlance/formats"
	"github.com/parlance-llm/parlance/internal/grammar"
)

// TestPrint holds that the grammar of every definition, printed, reads as the same rules: what they print is the same.
func TestPrint(t *testing.T) {
	library, err := grammar.NewLibrary(formats.Files, "formats/")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range library.Formats() {
		d, err := library.Definition(name)
		if err != nil {
			t.Fatal(err)
		}
		printed := grammar.Print(d.Rules)
		rules, err := grammar.ParseGrammar(name, printed, grammar.Position{Line: 1, Column: 1})
		if err != nil {
			t.Errorf("%v in\n%s", err, printed)
			continue
		}
		if len(rules) != len(d.Rules) {
			t.Errorf("%s: %d rules were printed, %d read", name, len(d.Rules), len(rules))
		}
		if again := grammar.Print(rules); again != printed {
			t.Errorf("%s: printed\n%s\nread and printed again\n%s", name, printed, again)
		}
	}
}

// TestPrintKeepsTheText holds that grammar text written in the printer's own style comes out unchanged, so that nothing
// that the text says is left out.
func TestPrintKeepsTheText(t *testing.T) {
	const text = `output    = ~ thought? { @content | ^"\n" block | { call }! | ^( "\n" if content | @name &block | ) call } .
thought   = "<think>" ^"\n" @reasoning ( "</think>" | &( ~ ( block | end ) ) | &"<call>" ) .
block     = "[" ~ call % ", " ~"\n" "]" .
call      = ( | "fence" "json"? ) @id:( "functions."? @name ( ":" @index:/[0-9]+/ )? ) [name=@name string=@type] { parameter ~ }
          | json{ "name" | "function": @name, @name: @arguments, "id"?: @id, "type": "function" }
          | @arguments:delimited('<|"|>') .
parameter = "a\\b" @value if type = "string*" or none and kind
          | @value:xml .
`
	rules, err := grammar.ParseGrammar("text", text, grammar.Position{Line: 1, Column: 1})
	if err != nil {
		t.Fatal(err)
	}
	if printed := grammar.Print(rules); printed != text {
		t.Errorf("expected\n%s\nfound\n%s", text, printed)
	}
}
