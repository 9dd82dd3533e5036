package parlance

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"
)

type dcase struct {
	ID, Why, Text      string
	Tool               *string         `json:"tool_parser"`
	Reasoning          *string         `json:"reasoning_parser"`
	Tools              json.RawMessage `json:"tools"`
	Prompt             string
	Kwargs             map[string]any  `json:"chat_template_kwargs"`
	Include            *bool           `json:"include_reasoning"`
	Finish             string          `json:"finish_reason"`
	Choice             json.RawMessage `json:"tool_choice"`
	Template           json.RawMessage `json:"response_template"`
	Want, WantStream   *dres
}
type dres struct {
	Reasoning, Content *string
	Calls              []struct {
		Name      string
		Arguments json.RawMessage
	} `json:"tool_calls"`
}

func (c *dcase) UnmarshalJSON(b []byte) error {
	type plain dcase
	var p struct {
		plain
		WS *dres `json:"want_stream"`
	}
	if err := json.Unmarshal(b, &p); err != nil {
		return err
	}
	*c = dcase(p.plain)
	c.WantStream = p.WS
	return nil
}

func canon(raw string) string {
	d := json.NewDecoder(strings.NewReader(raw))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil || d.More() {
		return "RAW:" + raw
	}
	if _, ok := v.(map[string]any); !ok {
		return "RAW:" + raw
	}
	b, _ := json.Marshal(v)
	s := string(b)
	return s
}

func show(m *Message) string {
	var b strings.Builder
	fmt.Fprintf(&b, "R=%q C=%q", strings.TrimSpace(m.Reasoning), strings.TrimSpace(m.Content))
	for _, c := range m.Calls {
		fmt.Fprintf(&b, " %s(%s)", c.Name, canon(c.Arguments))
	}
	return b.String()
}
func (w *dres) show() string {
	var b strings.Builder
	s := func(p *string) string {
		if p == nil {
			return ""
		}
		return strings.TrimSpace(*p)
	}
	fmt.Fprintf(&b, "R=%q C=%q", s(w.Reasoning), s(w.Content))
	for _, c := range w.Calls {
		a := string(c.Arguments)
		if a != "" && a[0] == '"' {
			var raw string
			json.Unmarshal(c.Arguments, &raw)
			a = "RAW:" + raw
			if cc := canon(raw); !strings.HasPrefix(cc, "RAW:") { a = cc }
		} else {
			a = canon(a)
		}
		fmt.Fprintf(&b, " %s(%s)", c.Name, a)
	}
	return b.String()
}

func TestDebugCases(t *testing.T) {
	only := os.Getenv("CASE")
	files, _ := filepath.Glob("conformance/cases/*.json")
	setsRaw, _ := os.ReadFile("conformance/cases/tools.json")
	var sets map[string]json.RawMessage
	json.Unmarshal(setsRaw, &sets)
	norm := strings.NewReplacer("1.50", "1.5", "12.50", "12.5", "1e3", "1000", "1000.0", "1000", "1.0,", "1,", "1.0}", "1}")
	total, bad := 0, 0
	for _, f := range files {
		if strings.HasSuffix(f, "tools.json") {
			continue
		}
		raw, _ := os.ReadFile(f)
		var cases []dcase
		if err := json.Unmarshal(raw, &cases); err != nil {
			t.Fatal(f, err)
		}
		fbad, skipped := 0, false
		for _, c := range cases {
			if only != "" && !strings.Contains(c.ID, only) {
				continue
			}
			tool, reas := "", ""
			if c.Tool != nil {
				tool = *c.Tool
			}
			if c.Reasoning != nil {
				reas = *c.Reasoning
			}
			p, err := Lookup(tool, reas)
			if err != nil {
				skipped = true
				if only != "" { t.Log(err) }
				continue
			}
			total++
			tools := c.Tools
			if len(tools) > 0 && tools[0] == '"' {
				var n string
				json.Unmarshal(tools, &n)
				tools = sets[n]
			}
			ts, err := ParseTools(tools)
			if err != nil {
				t.Fatal(err)
			}
			ch, err := ParseToolChoice(c.Choice)
			if err != nil {
				t.Fatal(err)
			}
			r := Request{Tools: ts, ToolChoice: ch, Prompt: c.Prompt, ChatTemplateKwargs: c.Kwargs, HideReasoning: c.Include != nil && !*c.Include}
			fin := FinishStop
			if c.Finish == "length" {
				fin = FinishLength
			}
			want := norm.Replace(c.Want.show())
			ws := want
			if c.WantStream != nil {
				ws = norm.Replace(c.WantStream.show())
			}
			var errs []string
			func() {
				defer func() {
					if e := recover(); e != nil {
						if os.Getenv("PANIC") != "" { panic(e) }
						errs = append(errs, fmt.Sprint("PANIC ", e))
					}
				}()
				if got := norm.Replace(show(p.Parse(c.Text, r, fin))); got != want {
					errs = append(errs, "whole: "+got)
				}
				for _, n := range []int{0, 1, 3, 7} {
					s := p.Stream(r)
					var col Collector
					text := c.Text
					for len(text) > 0 {
						k := len(text)
						if n > 0 {
							k = 0
							for j := 0; j < n && k < len(text); j++ {
								_, w := utf8.DecodeRuneInString(text[k:])
								k += w
							}
						}
						col.Add(s.WriteString(text[:k]))
						text = text[k:]
					}
					col.Add(s.Close(fin))
					if got := norm.Replace(show(col.Message())); got != ws {
						errs = append(errs, fmt.Sprintf("chunk %d: %s", n, got))
					}
				}
			}()
			if len(errs) > 0 {
				bad++
				fbad++
				if os.Getenv("V") != "" {
					t.Logf("%s\n   text %q\n   want %s\n   ws   %s\n   %s", c.ID, c.Text, want, ws, strings.Join(errs, "\n   "))
				} else {
					t.Logf("%s | %s", c.ID, c.Why)
				}
			}
		}
		if only == "" {
			t.Logf("== %s: %d of %d fail (skipped some: %v)", filepath.Base(f), fbad, len(cases), skipped)
		}
	}
	t.Logf("%d cases, %d fail", total, bad)
}
