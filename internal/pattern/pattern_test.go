package pattern

import (
	"fmt"
	"strings"
	"testing"
)

// said writes parts in a short way.
func said(parts []Part) string {
	var out []string
	for _, p := range parts {
		text := ""
		switch {
		case p.Texts != nil:
			text = fmt.Sprintf("%q", p.Texts)
		case p.Blank:
			text = "~"
		case p.Until != nil:
			text = "until"
		case p.Run != nil:
			text = "run"
		case p.Ahead != nil:
			text = fmt.Sprintf("&%q", p.Ahead)
		case p.Choice != nil:
			for i, alternative := range p.Choice {
				if i > 0 {
					text += " | "
				}
				text += said(alternative)
			}
			text = "(" + text + ")"
		}
		if p.Name != "" {
			text = p.Name + ":" + text
		}
		if p.Optional {
			text += "?"
		}
		out = append(out, text)
	}
	return strings.Join(out, " ")
}

// spellings are the ways to write a word, capital letters first.
func spellings(word string) []string {
	if word == "" {
		return []string{""}
	}
	var out []string
	for _, first := range []string{strings.ToUpper(word[:1]), word[:1]} {
		for _, rest := range spellings(word[1:]) {
			out = append(out, first+rest)
		}
	}
	return out
}

func TestParts(t *testing.T) {
	for source, want := range map[string]string{
		`\s*<tool_call>\s*`:                                                   `~ ["<tool_call>"] ~`,
		`\s*<tool_call>\s*<function=(?P<name>[^>\n]+)>`:                       `~ ["<tool_call>"] ~ ["<function="] name:run [">"]`,
		`</function>\s*</tool_call>`:                                          `["</function>"] ~ ["</tool_call>"]`,
		`<parameter=(?P<key>[^>\n]+)>\s*(?P<value>.*?)\s*</parameter>`:        `["<parameter="] key:run [">"] ~ value:until? ~ ["</parameter>"]`,
		`<arg name="(?P<key>[^"]+)">(?P<value>.*?)(?:</arg>|(?=<arg name="))`: `["<arg name=\""] key:run ["\">"] value:until? (["</arg>"] | &["<arg name=\""])`,
		`<\|tool_call>call:(?P<name>\w+)`:                                     `["<|tool_call>call:"] name:run`,
		`<c>(?:\njson)?`:                                                      `["<c>\njson" "<c>"]`,
		`<c>(?:\njson)??`:                                                     `["<c>"]`,
		`<t>|<t>>`:                                                            `["<t>"]`,
		`<t>>|<t>`:                                                            `["<t>>" "<t>"]`,
		`(?i)<a>`:                                                             `["<A>" "<a>"]`,
		`<(?i:a)b>`:                                                           `["<Ab>" "<ab>"]`,
		`(?i)<to>`:                                                            `["<TO>" "<To>" "<tO>" "<to>"]`,
		`(?i)abcdefg`:                                                         fmt.Sprintf("%q run", spellings("abcdef")),
		`(?x) < a > # opener`:                                                 `["<a>"]`,
		`<a>(?#comment)b`:                                                     `["<a>b"]`,
		`<[ab]>`:                                                              `["<a>" "<b>"]`,
		`<a{2,3}>`:                                                            `["<aaa>" "<aa>"]`,
		`x{,2}y`:                                                              `["xxy" "xy" "y"]`,
		`a{b}`:                                                                `["a{b}"]`,
		`\x3ca\u003e\U0001F600\t\101`[:len(`\x3ca\u003e\U0001F600\t`)]: "[\"<a>😀\\t\"]",
		`<a(?: id="\d+")?>`:               `["<a"] run? [">"]`,
		`<(?P<n>[A-Za-z_]\w*(?:\.\w+)*)>`: `["<"] n:run [">"]`,
		`<\w+-\w+>`:                       `["<"] run ["-"] run [">"]`,
		`<(?<n>\w++)>`:                    `["<"] n:run [">"]`,
		`<(?P<n>.+?)>`:                    `["<"] n:until [">"]`,
		`<(?:a (?P<n>\w+)|b(?P<n>\d+))>`:  `["<"] (["a "] n:run | ["b"] n:run) [">"]`,
		`[[:alpha:]]+>`:                   `run [">"]`,
		`\p{Lu}+>`:                        `run [">"]`,
		`[^\W\d]+>`:                       `run [">"]`,
		`<x>(?=\{)`:                       `["<x>"] &["{"]`,
		`[]a]`:                            `["]" "a"]`,
		`[a\-z]`:                          `["-" "a" "z"]`,
		`(?:a|ab)b`:                       `["ab"]`,
	} {
		e, err := Parse(source)
		if err != nil {
			t.Errorf("%s: %v", source, err)
			continue
		}
		parts, err := e.Parts()
		if got := said(parts); err != nil || got != want {
			t.Errorf("%s: expected %s, found %s %v", source, want, got, err)
		}
	}
}

func TestRefused(t *testing.T) {
	for source, want := range map[string]string{
		`(a)\1`:            `a back-reference (\1) cannot be matched while the text arrives, at character 3 of (a)\1`,
		`(?P<a>x)(?P=a)`:   `a back-reference ((?P=…)) cannot be matched while the text arrives, at character 8`,
		`\g<1>`:            `a back-reference or a call of a group (\g)`,
		`a(?!b)`:           `a negative look-ahead ((?!…))`,
		`(?<=a)b`:          `a look-behind ((?<=…) or (?<!…))`,
		`(?<!a)b`:          `a look-behind`,
		`\bfoo`:            `a word boundary (\b)`,
		`\mfoo`:            `a word boundary (\m)`,
		`(?>a|ab)c`:        `an atomic group ((?>…))`,
		`(?:ab)++`:         `a possessive quantifier behind more than one character`,
		`(?(1)a|b)`:        `a condition ((?(…)…))`,
		`(?R)`:             `recursion into a group`,
		`(?1)`:             `recursion into a group`,
		`(?&a)`:            `recursion into a group`,
		`(?|a|b)`:          `a branch reset ((?|…))`,
		`(?:a){e<=1}`:      `fuzzy matching ({e<=1})`,
		`\X`:               `\X, a sequence of characters,`,
		`\K`:               `\K cannot be matched`,
		`\L<words>`:        `a named list (\L)`,
		`(*FAIL)`:          `a verb ((*…))`,
		`(?m)^a`:           `'^' with the flag m`,
		`(?m)a$`:           `'$' with the flag m`,
		`(?V1)a`:           `the flag V1`,
		`(?r)a`:            `the flag r`,
		`(?L)a`:            `the flag L`,
		`\N{DIGIT ONE}`:    `a character by its name (\N{…}) is not supported`,
		`\p{Nothing}`:      `the property "Nothing" is not supported`,
		`(?P<n>\w+)_x`:     `nothing tells where the group n ends: a character of it may begin what follows, at character 0`,
		`<.*>`:             `nothing tells where a run of characters ends`,
		`\s*\n<x>`:         `nothing tells where the white space ends`,
		`(?:a|ab)\w*`:      `nothing tells "a" from "ab" while the text arrives`,
		`x(?P<n>(?:ab)+?)`: `a lazy quantifier with nothing behind it that ends it`,
		`x(?P<n>.*?)`:      `a lazy quantifier is over where fixed text follows`,
		`x(?P<n>.*?)\d+`:   `a lazy quantifier is over where fixed text follows`,
		`(?:(?P<n>a)x)+`:   `a group that is captured again and again`,
		`(?P<n>(?P<m>a)b)`: `a group inside the group "n"`,
		`(?P<n>)x`:         `the group "n" holds nothing`,
		`a(?=b)c`:          `a look-ahead with something behind it`,
		`a(?=\w+)`:         `a look-ahead at anything but fixed text`,
		`a$b`:              `the end of the text ('$', '\Z') cannot be asked for here`,
		`a(b`:              `expected a ')' to close the group`,
		`a)b`:              `found an unbalanced ')'`,
		`[a`:               `expected a ']' to close the set`,
		`*a`:               `expected something before the quantifier`,
		`a**`:              `expected one quantifier, found another`,
		`a{3,2}`:           `the quantifier {3,2} runs backwards`,
		`a{2000}`:          `expected at most 1000 repetitions`,
		`[z-a]`:            `found one that runs backwards`,
		`\q`:               `expected an escape that Python knows, found \q`,
		`\xz1`:             `expected 2 hexadecimal digits`,
		`(?P<1>a)`:         `expected a name of letters, digits and _`,
		`(?P<n`:            `expected a '>' behind the name of the group`,
		`(?Z)`:             `expected a group or flags behind '(?'`,
		`\`:                `expected a character behind the backslash`,
		strings.Repeat("(", 200) + "a" + strings.Repeat(")", 200): `at most 100 groups inside one another`,
		`(?:\w{500}\d{500}){500}x`:                                `the repetitions make the pattern too large`,
		`(?P<n>[ab]*a[ab]{12})x`:                                  `the pattern needs an automaton of more than 2000 states`,
	} {
		e, err := Parse(source)
		if err == nil {
			_, err = e.Parts()
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: expected %s, found %v", source, want, err)
		}
	}
}

func TestAtStart(t *testing.T) {
	for source, want := range map[string]string{
		`<x>`:                 ` / ["<x>"]`,
		`^<x>`:                `["<x>"] / `,
		`\A<x>`:               `["<x>"] / `,
		`(?:^|A)<x>`:          `["<x>" "A<x>"] / ["A<x>"]`,
		`(?:^|A)?<x>`:         ` / ["A<x>" "<x>"]`,
		`(?:^|A)<(?P<n>\w+)>`: `["<" "A<"] n:run [">"] / ["A<"] n:run [">"]`,
	} {
		e, err := Parse(source)
		if err != nil {
			t.Fatal(err)
		}
		start, anywhere, err := e.AtStart()
		got := ""
		for i, e := range []*Expression{start, anywhere} {
			if i > 0 {
				got += " / "
			}
			if e != nil {
				parts, err := e.Parts()
				if err != nil {
					t.Error(err)
				}
				got += said(parts)
			}
		}
		if err != nil || got != want {
			t.Errorf("%s: expected %s, found %s %v", source, want, got, err)
		}
	}
	e, err := Parse("x^y")
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := e.AtStart(); err == nil {
		t.Error("x^y: no error")
	}
}

func TestWithoutEnd(t *testing.T) {
	for source, want := range map[string]string{`</x>|\s*$`: `["</x>"]`, `\s*(?:</x>|\Z)`: `~ ["</x>"]`, `$`: "", `</x>`: `["</x>"]`} {
		e, err := Parse(source)
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		if e = e.WithoutEnd(); e != nil {
			parts, err := e.Parts()
			if err != nil {
				t.Error(err)
			}
			got = said(parts)
		}
		if got != want {
			t.Errorf("%s: expected %s, found %s", source, want, got)
		}
	}
}

// TestAutomaton compares automata with Go's expressions.
func TestAutomaton(t *testing.T) {
	texts := []string{"", "a", "b", "ab", "ba", "aab", "abab", "a.b", "a.b.c", "12", "é", "日本", "_x", "A", "a-b", "\n", "😀", "x1y2", "...", "aaaaaaaaaa"}
	for _, source := range []string{`\w+`, `[a-z]+(?:\.[a-z]+)*`, `(?:ab|ba)+`, `[^\d\n]+`, `a{2,3}b?`, `.+`, `[é日-本]+`, `(?:a|b)*b`, `\W+`, `(?i:AB)+`} {
		e, err := Parse(source)
		if err != nil {
			t.Fatal(err)
		}
		whole, err := Parse("(?:" + source + ")")
		if err != nil {
			t.Fatal(err)
		}
		re, err := whole.Regexp()
		if err != nil {
			t.Fatal(err)
		}
		a := e.automaton([]*node{e.root})
		for _, text := range texts {
			re.Longest()
			found := re.FindString(text)
			want := found == text && re.MatchString(text) && strings.HasPrefix(text, found)
			if got := a.Matches(text); got != want {
				t.Errorf("%s: %q: expected %v, found %v", source, text, want, got)
			}
		}
	}
}
