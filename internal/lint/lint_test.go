package lint

import (
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/parlance-llm/parlance/formats"
	"github.com/parlance-llm/parlance/internal/grammar"
)

func report(t *testing.T, file string) (*Report, error) {
	t.Helper()
	base, err := grammar.NewLibrary(formats.Files, "formats/")
	if err != nil {
		t.Fatal(err)
	}
	l, err := base.Over(fstest.MapFS{"x.yaml": {Data: []byte(file)}}, "", false)
	if err != nil {
		return nil, err
	}
	d, err := l.Definition("x")
	if err != nil {
		return nil, err
	}
	return Definition(d)
}

const head = "format: x\ntool: [x]\ntitle: y\ngrammar: |\n"

// builtinLine is a place in a built-in definition, where lines come and go.
var builtinLine = regexp.MustCompile(`^formats/(\w+)\.yaml:\d+:\d+:`)

func TestFindings(t *testing.T) {
	for _, c := range []struct {
		name, file string
		want       []string
	}{
		{"nothing", strings.Replace(head, "tool: [x]", "tool: [x]\nreasoning: [x]", 1) + "  thought = \"<t>\" @reasoning \"</t>\" .\n  call = \"<c>\" ~ json{ \"name\": @name, \"arguments\": @arguments } ~ \"</c>\" .\n", nil},
		{"a rule that the output leaves out", head + "  output = { @content | call } .\n  frame = \"<f>\" @content \"</f>\" .\n  call = \"<c>\" @name ~ @arguments:json \"</c>\" .\n", []string{
			"x.yaml:6:3: the rule frame is not reached: nothing that the output may hold refers to it",
			`x.yaml:6:11: the marker "<f>" is never read: whatever can stand there is read otherwise`,
		}},
		{"an inherited rule that is not reached any more", "format: x\nextends: qwen3_coder\ntool: [x]\ngrammar: |\n  output = { @content | call } .\n", []string{
			"formats/qwen3_coder.yaml: the rule thought is not reached: nothing that the output may hold refers to it",
			"formats/qwen3_coder.yaml: the rule block is not reached: nothing that the output may hold refers to it",
		}},
		{"a marker that begins another", head + "  output = { @content | call | frame } .\n  frame = \"<call\" @content \"</f>\" .\n  call = \"<call>\" @name ~ @arguments:json \"</c>\" .\n", []string{
			`x.yaml:6:11: the marker "<call" is the beginning of "<call>": where both may stand it waits for up to 1 byte more`,
		}},
		{"parsers that read nothing", "format: x\ntool: [x]\nreasoning: [y]\ngrammar: |\n  output = @content .\n", []string{
			"x.yaml:1:1: the tool parser x reads nothing: the grammar has no rule call",
			"x.yaml:1:1: the reasoning parser y reads nothing: the grammar has no @reasoning",
		}},
		{"a thought that no parser reads", "format: x\ntool: [x]\ngrammar: |\n  output = thought? { @content | call } .\n  thought = \"<t>\" @reasoning \"</t>\" .\n  call = \"<c>\" @name \"</c>\" .\n", []string{
			"x.yaml:1:1: the grammar has @reasoning, and the key reasoning names no parser that reads it: thoughts stay content",
		}},
		{"results of other turns", "format: x\nextends: hermes\ntool: [x]\nturn: {begin: \"<bot>\", end: \"<end>\"}\n", []string{
			`formats/hermes.yaml: the rule results is inherited, and nothing in it ends the turn as that of x ends, with "<end>"`,
		}},
		{"results of the same turns", "format: x\nextends: hermes\ntool: [x]\nturn: {begin: \"<|im_start|>bot\\n\", end: \"<|im_end|>\"}\n", nil},
		{"a marker of a shape is looked for in what was captured", head + "  output = { @content | call } .\n  call = \"<c>\" @tool:( \"fn.\"? @name ) ~ @arguments:json \"</c>\" .\n", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			r, err := report(t, c.file)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, f := range r.Findings {
				got = append(got, builtinLine.ReplaceAllString(f.String(), "formats/$1.yaml:"))
			}
			got = slices.DeleteFunc(got, func(text string) bool { // what follows from an unreached rule of another file
				return strings.HasPrefix(text, "formats/") && strings.Contains(text, "is never read")
			})
			if !slices.Equal(got, c.want) {
				t.Errorf("expected\n%s\nfound\n%s", strings.Join(c.want, "\n"), strings.Join(got, "\n"))
			}
		})
	}
}

func TestWaits(t *testing.T) {
	r, err := report(t, head+"  thought = \"<t>\" @reasoning ( \"</t>\" | &call ) .\n  call = \"<c>\" ~ \"<f=\" @name \">\" ~ { parameter ~ } \"</c>\" .\n  parameter = \"<p=\" @key \">\" @value \"</p>\" .\n")
	if err != nil {
		t.Fatal(err)
	}
	call := Waited{"<c>", 2, `"<f="`}
	for _, where := range []string{"in a thought that the prompt has opened", "where the output begins"} {
		i := slices.IndexFunc(r.Waits, func(w Waits) bool {
			return slices.ContainsFunc(w.Where, func(text string) bool { return strings.Contains(text, where) })
		})
		if i < 0 || !slices.Contains(r.Waits[i].Markers, call) || !slices.Contains(r.Waits[i].Markers, Waited{"</t>", 3, ""}) {
			t.Errorf("%s: %+v", where, r.Waits)
		}
	}
	for _, w := range r.Waits {
		if slices.ContainsFunc(w.Markers, func(m Waited) bool { return m.Marker == "<p=" }) {
			t.Errorf("text waits for a marker of a call: %+v", w)
		}
	}
}

// TestAmbiguous: of a definition with two readings of one text the error shows both.
func TestAmbiguous(t *testing.T) {
	_, err := report(t, head+"  thought = \"<a>\" @reasoning \"</a>\" .\n  frame = \"<a>\" @content \"</a>\" .\n")
	if want := "ambiguous: the same text can be read as reasoning of the thought in line 5 and as content of the frame in line 6, and no rule decides"; err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("expected %s, found %v", want, err)
	}
}

// TestBuiltins: the built-in definitions hold nothing odd but what is listed here, with its reason.
func TestBuiltins(t *testing.T) {
	// A bare list of calls may stand where a list behind a marker may.
	odd := []string{`xlam.yaml: the marker "[" is the beginning of "[TOOL_CALLS]"`}
	l, err := grammar.NewLibrary(formats.Files, "formats/")
	if err != nil {
		t.Fatal(err)
	}
	for _, format := range l.Formats() {
		d, err := l.Definition(format)
		if err != nil {
			t.Fatal(err)
		}
		if d.From != "" {
			continue // its grammar comes with a checkpoint
		}
		r, err := Definition(d)
		if err != nil {
			t.Errorf("%s: %v", format, err)
			continue
		}
		for _, f := range r.Findings {
			if !slices.ContainsFunc(odd, func(text string) bool { return strings.HasPrefix(format+".yaml: "+f.Text, text) }) {
				t.Errorf("%s: %s", format, f)
			}
		}
		if len(r.Waits) == 0 && len(d.Tool)+len(d.Reasoning) > 0 {
			t.Errorf("%s: text waits for nothing", format)
		}
	}
}

func TestResults(t *testing.T) {
	const call = "  call = \"<c>\" ~ json{ \"name\": @name, \"arguments\": @arguments } ~ \"</c>\" .\n"
	for name, c := range map[string]struct{ file, want string }{
		"not told":  {head + "  thought = \"<t>\" @reasoning \"</t>\" .\n" + call, "tool results: not told, so that the renderer refuses them"},
		"not known": {head + "  thought = \"<t>\" @reasoning \"</t>\" .\n" + call + "results: {unknown: no template}\n", "tool results: not known: no template"},
		"told":      {"format: x\nextends: internlm\ntool: [x]\n", "tool results: told"},
		"variants":  {"format: x\nextends: mistral_v7\ntool: [x]\n", "tool results: told, with the variant v7"},
		"no calls":  {"format: x\nextends: deepseek_r1\nreasoning: [x]\n", ""},
	} {
		t.Run(name, func(t *testing.T) {
			r, err := report(t, c.file)
			if err != nil {
				t.Fatal(err)
			}
			if r.Results != c.want {
				t.Errorf("expected %q, found %q", c.want, r.Results)
			}
		})
	}
}
