package constraint

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/parlance-llm/parlance"
	"github.com/parlance-llm/parlance/internal/grammar"
	"github.com/parlance-llm/parlance/render"
)

// figures are what became of the calls of a test.
type figures struct {
	accepted, refused int
	// widened are those against the schema that are let through where the notes of the constraint say so.
	widened int
	// uncarried are the calls that the format cannot carry, by the reason; unwritable the constraints that it has no
	// way to write.
	uncarried  map[render.Reason]int
	unwritable int
	// otherwise are the valid calls that have to be written otherwise than they are rendered, as the notes say.
	otherwise int
	// second are the valid calls that cannot be written as parameters, because a value holds a marker or would be read as
	// one of another type, and are rendered as JSON, the second way of the format, which is not held.
	second int
	// bracketed are the valid calls with a string that begins like a list or an object, where those may stand too: no
	// regular language tells whether it would be read as one.
	bracketed int
	// spelled are the valid calls of formats that spell some values in a way of their own, which is not held.
	spelled int
}

func (f *figures) add(other *figures) {
	f.accepted += other.accepted
	f.refused += other.refused
	f.widened += other.widened
	f.unwritable += other.unwritable
	f.otherwise += other.otherwise
	f.second += other.second
	f.bracketed += other.bracketed
	f.spelled += other.spelled
	for reason, n := range other.uncarried {
		f.uncarried[reason] += n
	}
}

// Valid calls, rendered as the format writes them, satisfy the constraint, and calls against the schema do not. The
// values are made and judged without the package under test. Each schema is tried in some formats; in all of them where
// PARLANCE_EVERY_FORMAT is set.
func TestRenderedCalls(t *testing.T) {
	names := toolNames(t)
	every := os.Getenv("PARLANCE_EVERY_FORMAT") != ""
	parts := make([]figures, 7)
	t.Run("levels", func(t *testing.T) {
		for part := range parts {
			t.Run(fmt.Sprint("level ", part), func(t *testing.T) {
				t.Parallel()
				parts[part].uncarried = map[render.Reason]int{}
				for i := part * 35; i < (part+1)*35; i++ {
					for k, name := range names {
						if every || (k+i)%29 == 0 {
							renderedCalls(t, i, name, &parts[part])
						}
					}
				}
			})
		}
	})
	all := figures{uncarried: map[render.Reason]int{}}
	for i := range parts {
		all.add(&parts[i])
	}
	t.Logf("%d valid calls accepted, %d against the schema refused, %d let through with a note", all.accepted, all.refused, all.widened)
	for _, reason := range slices.Sorted(maps.Keys(all.uncarried)) {
		t.Logf("not carried by the format: %s %d", reason, all.uncarried[reason])
	}
	t.Logf("with undeclared members that no grammar holds as rendered, and that have to be written as JSON: %d", all.otherwise)
	t.Logf("rendered as JSON where the format writes parameters, which is not held: %d", all.second)
	t.Logf("spelled in a way of the format's own that is not held: %d", all.spelled)
	t.Logf("with a string that begins like a list or an object: %d", all.bracketed)
	t.Logf("constraints that the format cannot write: %d", all.unwritable)
	if all.accepted < 1000 || all.refused < 1000 {
		t.Error("expected at least a thousand of each")
	}
}

func renderedCalls(t *testing.T, i int, format string, f *figures) {
	data := ugly(i)
	p := lookup(t, format, "")
	tools := parsed(t, data)
	tool := tools[0]
	choices := map[string]parlance.ToolChoice{"required": required, "named": {Mode: "function", Name: tool.Name}, "auto": {Mode: "auto"}}
	constraints := map[string]*Constraint{}
	for name, choice := range choices {
		c, err := New(p, Request{Tools: tools, ToolChoice: choice})
		var wrong *Error
		if errors.As(err, &wrong) && wrong.Tool != "" {
			f.unwritable++
			continue
		}
		if err != nil {
			t.Errorf("%s %s: %v", format, data, err)
			return
		}
		constraints[name] = c
	}
	declared, err := parlance.ParseTools([]byte(data))
	if err != nil {
		t.Fatal(err)
	}
	schema := validators(t, []byte(data))[tool.Name]
	root := readJSON(t, string(tool.Parameters))
	v := &values{root: root, random: rand.New(rand.NewPCG(uint64(i), 11))}
	renderer := render.New(p)
	d, _, _ := p.Definitions()
	// try renders a call and holds it against the constraints.
	try := func(arguments object, valid bool) {
		call := parlance.Call{Name: tool.Name, Arguments: writeJSON(arguments)}
		m := &parlance.Message{Calls: []parlance.Call{call}, Segments: []parlance.Segment{{Kind: parlance.ToolCall}}}
		text, err := renderer.Render(m, render.Options{Request: parlance.Request{Tools: declared}})
		var uncarried *render.Error
		if errors.As(err, &uncarried) {
			f.uncarried[uncarried.Reason]++
			return
		}
		if err != nil {
			t.Errorf("%s: %v", format, err)
			return
		}
		for name, c := range constraints {
			accepts := c.Accepts(text)
			switch {
			case accepts == valid && valid:
				f.accepted++
			case accepts == valid:
				f.refused++
			case accepts && len(c.Notes()) > 0:
				f.widened++
			case valid && d.Written.Lists == "python" || valid && d.Written.Objects == "python":
				f.spelled++
			case valid && holdsBracketed(arguments):
				f.bracketed++
			case valid && tagged(p) && strings.Contains(text, call.Arguments):
				f.second++
			case valid && slices.ContainsFunc(c.Notes(), func(note string) bool { return strings.Contains(note, "as JSON text only") }):
				f.otherwise++
			default:
				t.Errorf("%d %s %s: accepts %v, valid %v: %q\narguments %s\nschema %s", i, format, name, accepts, valid, text, call.Arguments, tool.Parameters)
			}
		}
	}
	for range 2 {
		arguments := v.value(root, 3).(object)
		if schema.invalid(writeJSON(arguments)) == nil {
			try(arguments, true)
		}
		for range 3 {
			if other := v.changed(arguments); schema.invalid(writeJSON(other)) != nil {
				try(other, false)
			}
		}
	}
}

// tagged tells whether arguments are parameters of their own in a format.
func tagged(p *parlance.Parser) bool {
	d, _, _ := p.Definitions()
	return slices.ContainsFunc(d.Rules, func(rule *grammar.Rule) bool { return rule.Role() == grammar.Parameter })
}

// holdsBracketed tells whether a string in a value begins like a container.
func holdsBracketed(value any) bool {
	found := false
	walkValues(value, func(one any) any {
		text, ok := one.(string)
		text = strings.TrimSpace(text)
		found = found || ok && text != "" && strings.ContainsRune("[{(", rune(text[0]))
		return keep
	})
	return found
}
