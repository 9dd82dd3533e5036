// Command constraintsamples writes constraints in every dialect, with texts that satisfy them and texts that do not, one
// JSON object a line. The acceptors of engines are held against them.
//
//	constraintsamples [-seed N] [-texts N] [-formats NAME,…] TOOLS.json …
package main

import (
	"bufio"
	"encoding/json/v2"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"regexp"
	"strings"

	"github.com/parlance-llm/parlance"
	"github.com/parlance-llm/parlance/constraint"
	"github.com/parlance-llm/parlance/constraint/sample"
)

// line is one constraint.
type line struct {
	Name          string   `json:"name"`
	StructuralTag string   `json:"structural_tag"`
	GBNF          string   `json:"gbnf"`
	EBNF          string   `json:"ebnf"`
	Lark          string   `json:"lark"`
	JSONSchema    string   `json:"json_schema"`
	Notes         []string `json:"notes"`
	// Widened are the dialects that let more through; they need not refuse.
	Widened []string `json:"widened"`
	Accept  []string `json:"accept"`
	Refuse  []string `json:"refuse"`
}

func main() {
	seed := flag.Uint64("seed", 1, "the seed of the random texts")
	texts := flag.Int("texts", 6, "how many texts of each kind a constraint gets")
	formats := flag.String("formats", "", "the tool parsers, all if empty")
	choices := flag.String("choices", "required,auto", "the tool choices")
	flag.Parse()
	out := bufio.NewWriter(os.Stdout)
	if err := run(out, *seed, *texts, *formats, strings.Split(*choices, ","), flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "constraintsamples:", err)
		os.Exit(1)
	}
	if err := out.Flush(); err != nil {
		fmt.Fprintln(os.Stderr, "constraintsamples:", err)
		os.Exit(1)
	}
}

func run(out *bufio.Writer, seed uint64, texts int, formats string, choices, files []string) error {
	names := parlance.ToolNames()
	if formats != "" {
		names = strings.Split(formats, ",")
	}
	random := rand.New(rand.NewPCG(seed, seed))
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		tools, err := constraint.ParseTools(data)
		if err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
		for _, name := range names {
			p, err := parlance.Lookup(name, "")
			if err != nil {
				return err
			}
			for _, choice := range choices {
				c, err := constraint.New(p, constraint.Request{Tools: tools, ToolChoice: parlance.ToolChoice{Mode: choice}, StrictLevel: constraint.LevelParameter})
				if err != nil {
					return fmt.Errorf("%s: %s: %w", file, name, err)
				}
				l := lineOf(c, name+" "+choice+" "+file, texts, random)
				if err := json.MarshalWrite(out, l); err != nil {
					return err
				}
				fmt.Fprintln(out)
			}
		}
	}
	return nil
}

func lineOf(c *constraint.Constraint, name string, texts int, random *rand.Rand) line {
	tag, gbnf, ebnf, lark := c.StructuralTag(), c.GBNF(), c.EBNF(), c.Lark()
	schema, _ := c.JSONSchema()
	l := line{Name: name, StructuralTag: tag.Text, GBNF: gbnf.Text, EBNF: ebnf.Text, Lark: lark.Text, JSONSchema: schema.Text, Notes: c.Notes()}
	for dialect, text := range map[string]constraint.Text{"structural_tag": tag, "gbnf": gbnf, "ebnf": ebnf, "lark": lark} {
		if len(text.Notes) > 0 {
			l.Widened = append(l.Widened, dialect)
		}
	}
	s := sample.New(c.Language(), random)
	for range texts {
		text, _ := s.Text(c.Language(), 20+random.IntN(200))
		l.Accept = append(l.Accept, text)
		for range 20 {
			// Engines lay out JSON with any white space, so the fault must be another.
			if wrong := mutated(text, random); !c.Accepts(wrong) && !c.Accepts(laidOut(wrong, "")) && !c.Accepts(laidOut(wrong, " ")) {
				l.Refuse = append(l.Refuse, wrong)
				break
			}
		}
	}
	return l
}

var blanks = regexp.MustCompile(`\s+`)

func laidOut(text, blank string) string { return blanks.ReplaceAllString(text, blank) }

// mutated changes one character of a text, adds or takes one, or cuts it off.
func mutated(text string, random *rand.Rand) string {
	runes := []rune(text)
	if len(runes) == 0 {
		return "x"
	}
	at := random.IntN(len(runes))
	some := []rune("<>{}[]\"':,x1 ")[random.IntN(13)]
	switch random.IntN(4) {
	case 0:
		return string(runes[:at])
	case 1:
		return string(runes[:at]) + string(runes[at+1:])
	case 2:
		return string(runes[:at]) + string(some) + string(runes[at:])
	}
	return string(runes[:at]) + string(some) + string(runes[at+1:])
}
