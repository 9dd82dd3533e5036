package chattemplate

import (
	"errors"
	"strings"
	"sync"
	"testing"
	"time"
)

func TestLimits(t *testing.T) {
	for name, source := range map[string]string{
		"turns":            "{% for a in range(10000) %}{% for b in range(10000) %}{% endfor %}{% endfor %}",
		"printed text":     "{% for a in range(100000) %}" + strings.Repeat("x", 10000) + "{% endfor %}",
		"doubled text":     "{% set ns = namespace(x='xx') %}{% for a in range(100) %}{% set ns.x = ns.x ~ ns.x %}{% endfor %}",
		"doubled list":     "{% set ns = namespace(x=[1]) %}{% for a in range(100) %}{% set ns.x = ns.x + ns.x %}{% endfor %}",
		"repeated text":    "{{ 'x' * 100000000000 }}",
		"replaced text":    "{% set ns = namespace(x='xx') %}{% for a in range(100) %}{% set ns.x = ns.x.replace('x', 'xxxxxxxx') %}{% endfor %}",
		"range":            "{{ range(10000000) }}",
		"recursion":        "{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}",
		"two macros":       "{% macro a() %}{{ b() }}{{ b() }}{% endmacro %}{% macro b() %}{{ a() }}{{ a() }}{% endmacro %}{{ a() }}",
		"recursive loop":   "{% for a in [1] recursive %}{{ loop([1]) }}{% endfor %}",
		"joined text":      "{% set ns = namespace(x='xx') %}{% for a in range(100) %}{% set ns.x = ns.x|join(ns.x) %}{% endfor %}",
		"nested lists":     "{% set ns = namespace(x=[1]) %}{% for a in range(100) %}{% set ns.x = [ns.x, ns.x] %}{% endfor %}{{ ns.x }}",
		"nested mappings":  "{% set ns = namespace(x=1) %}{% for a in range(100) %}{% set ns.x = {'a': ns.x, 'b': ns.x} %}{% endfor %}{{ ns.x == ns.x }}",
		"captured text":    "{% set ns = namespace(x='xx') %}{% for a in range(100) %}{% set y %}{{ ns.x }}{{ ns.x }}{% endset %}{% set ns.x = y %}{% endfor %}",
		"macros for loops": "{% macro a(n) %}{% if n %}{{ a(n - 1) }}{{ a(n - 1) }}{% endif %}{% endmacro %}{{ a(100) }}",
	} {
		t.Run(name, func(t *testing.T) {
			template, err := Parse(name, source, WithLimits(Limits{Steps: 100_000, Output: 16 << 20}))
			if err != nil {
				t.Fatal(err)
			}
			_, err = template.Render(Request{Messages: []byte("[]")})
			var known *RenderError
			if !errors.As(err, &known) || known.Reason != Exceeded {
				t.Errorf("expected that a limit is exceeded, found %v", err)
			}
		})
	}
	if _, err := Parse("long", strings.Repeat("x", 2<<20)); err == nil {
		t.Error("expected that a source of 2 MiB is refused")
	}
	if _, err := Parse("deep", "{{ "+strings.Repeat("(", 1000)+strings.Repeat(")", 1000)+" }}"); err == nil {
		t.Error("expected that a deep expression is refused")
	}
	if _, err := Parse("deep", strings.Repeat("{% if x %}", 1000)+strings.Repeat("{% endif %}", 1000)); err == nil {
		t.Error("expected that deep tags are refused")
	}
}

func TestErrors(t *testing.T) {
	for _, c := range []struct {
		source  string
		reason  Reason
		message string
	}{
		{"{{ raise_exception('No: ' + messages[0].role) }}", Raised, "No: user"},
		{"{{ 'a' + none }}", Refused, "chat template t, line 1: cannot add null to text"},
		{"{{ messages[0].tools.name }}", Refused, "chat template t, line 1: messages[0].tools is undefined"},
		{"{{ messages.append(1) }}", Refused, "chat template t, line 1: append changes a value, which a template may not"},
		{"{{ ''.__class__ }}", Refused, "chat template t, line 1: the attribute __class__ is out of bounds"},
		{"{% include 'x' %}", Refused, "chat template t, line 1: the tag include would load another template, and there is none"},
		{"{% for m in messages %}\n{{ m.role }}\n{% if m.role == 'user' %}\n{{ m.x.y }}{% endif %}\n{% endfor %}", Refused, "chat template t, line 4: m.x is undefined"},
		{"{{ nothing() }}", Refused, "chat template t, line 1: nothing is not callable: Undefined"},
	} {
		template, err := Parse("t", c.source)
		if err != nil {
			t.Fatal(err)
		}
		_, err = template.Render(Request{Messages: []byte(`[{"role": "user"}]`)})
		var known *RenderError
		if !errors.As(err, &known) || known.Reason != c.reason || err.Error() != c.message {
			t.Errorf("%s: expected %s %q, found %v", c.source, c.reason, c.message, err)
		}
	}
}

func TestSyntaxErrors(t *testing.T) {
	for source, want := range map[string]string{
		"a\n{% if %}":            "line 2: expected an expression, found the end of the tag",
		"\n\n{{ x":               "line 3: expected }}, found the end of the template",
		"{% for %}":              "line 1: expected a name, found the end of the tag",
		"{% if x %}\n":           "line 1: expected endif, found the end of the template",
		"{% endfor %}":           "line 1: found endfor, but no tag is open",
		"{% if x %}{% endfor %}": "line 1: expected endif, for the tag of line 1, found endfor",
		"{{ x|nothing }}":        `line 1: there is no filter "nothing"`,
		"{{ x is nothing }}":     `line 1: there is no test "nothing"`,
		"{% do x %}":             `line 1: there is no tag "do"`,
		"{{ 'a }}":               "line 1: expected the end of the string, found the end of the template",
		"{{ a ? b }}":            "line 1: unexpected character '?'",
		"{{ (a }}":               `line 1: unexpected "}"`,
		"{{ a b }}":              `line 1: expected the end of the tag, found "b"`,
		"{# a":                   "line 1: expected the end of the comment, #}, found the end of the template",
		"{% break %}":            "line 1: found break, but no loop is open",
	} {
		_, err := Parse("t", source)
		var syntax *SyntaxError
		if !errors.As(err, &syntax) || err.Error() != "chat template t, "+want {
			t.Errorf("%q: expected %q, found %v", source, want, err)
		}
	}
}

func TestLenient(t *testing.T) {
	template, err := Parse("t", "{% set l = [] %}{% set _ = l.append('a' + none) %}{{ l }}{{ x.y.z }}{% for a in none %}{% endfor %}", Lenient())
	if err != nil {
		t.Fatal(err)
	}
	if got, err := template.Render(Request{Messages: []byte("[]")}); err != nil || got != "['aNone']" {
		t.Errorf("expected ['aNone'], found %q, %v", got, err)
	}
}

func TestRendersAtOnce(t *testing.T) {
	template, err := Parse("t", "{% set ns = namespace(n=0) %}{% for m in messages %}{% set ns.n = ns.n + 1 %}{{ m.content }}{% endfor %}{{ ns.n }}{{ strftime_now('%Y') }}")
	if err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for range 100 {
				got, err := template.Render(Request{Messages: []byte(`[{"content": "a"}, {"content": "b"}]`), Now: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)})
				if err != nil || got != "ab22026" {
					t.Errorf("expected ab22026, found %q, %v", got, err)
					return
				}
			}
		})
	}
	all.Wait()
}
