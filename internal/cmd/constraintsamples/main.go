// Command constraintsamples writes constraints in every dialect, with texts that satisfy them and texts that do not, one
// JSON object a line. The acceptors of engines are held against them.
//
//	constraintsamples [-seed N] [-texts N] [-ugly N] [-sets FILE] TOOLS.json …
//
// With -reference it writes our structural tags for the requests of the reference's instead, for as many copies of the
// tools as it is told:
//
//	constraintsamples -reference FILE [-copies N] TOOLS.json
package main

import (
	"bufio"
	"encoding/json/v2"
	"errors"
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

// flags are what the command line says.
type flags struct {
	seed  uint64
	texts int
	ugly  int
	sets  string
	every int
	// reference is a file with the reference's structural tags.
	reference string
	copies    int
	choices   []string
	formats   []string
	files     []string
}

func main() {
	f := &flags{}
	flag.Uint64Var(&f.seed, "seed", 1, "the seed of the random texts")
	flag.IntVar(&f.texts, "texts", 6, "how many texts of each kind a constraint gets")
	flag.IntVar(&f.ugly, "ugly", 0, "how many random schemas of growing ugliness to add, each with one format in turn")
	flag.StringVar(&f.sets, "sets", "", "a file with one array of tools a line, each with one format in turn")
	flag.IntVar(&f.every, "every", 1, "take every so many of the lines of -sets")
	flag.StringVar(&f.reference, "reference", "", "a file with the reference's structural tags, for whose requests ours are written")
	flag.IntVar(&f.copies, "copies", 1, "how many copies of each tool -reference declares")
	formats := flag.String("formats", "", "the tool parsers, all if empty")
	choices := flag.String("choices", "required,auto", "the tool choices")
	flag.Parse()
	f.choices, f.files = strings.Split(*choices, ","), flag.Args()
	for _, name := range parlance.ToolNames() {
		if info, ok := parlance.Format(name); !ok || !info.ResponseTemplate {
			f.formats = append(f.formats, name)
		}
	}
	if *formats != "" {
		f.formats = strings.Split(*formats, ",")
	}
	out := bufio.NewWriter(os.Stdout)
	run := f.run
	if f.reference != "" {
		run = f.references
	}
	if err := errors.Join(run(out), out.Flush()); err != nil {
		fmt.Fprintln(os.Stderr, "constraintsamples:", err)
		os.Exit(1)
	}
}

func (f *flags) run(out *bufio.Writer) error {
	random := rand.New(rand.NewPCG(f.seed, f.seed))
	for _, file := range f.files {
		data, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		for _, format := range f.formats {
			for _, choice := range f.choices {
				if err := f.write(out, data, format, choice, file, random); err != nil {
					return err
				}
			}
		}
	}
	for i := range f.ugly {
		schema := sample.Schema(rand.New(rand.NewPCG(uint64(i), f.seed)), i*7/f.ugly)
		data := fmt.Sprintf(`[{"type": "function", "function": {"name": "tool_%d", "parameters": %s}}]`, i, schema)
		if err := f.write(out, []byte(data), f.formats[i%len(f.formats)], f.choices[i/len(f.formats)%len(f.choices)], fmt.Sprintf("ugly %d", i), random); err != nil {
			return err
		}
	}
	if f.sets == "" {
		return nil
	}
	file, err := os.Open(f.sets)
	if err != nil {
		return err
	}
	defer file.Close()
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 16<<20)
	for i := 0; lines.Scan(); i++ {
		if i%f.every != 0 {
			continue
		}
		if err := f.write(out, lines.Bytes(), f.formats[i/f.every%len(f.formats)], f.choices[0], fmt.Sprintf("%s line %d", f.sets, i+1), random); err != nil {
			return err
		}
	}
	return lines.Err()
}

// write writes the constraint of some tools in a format. What the format cannot write is left out.
func (f *flags) write(out *bufio.Writer, data []byte, format, choice, name string, random *rand.Rand) error {
	tools, err := constraint.ParseTools(data)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	p, err := parlance.Lookup(format, "")
	if err != nil {
		return err
	}
	c, err := constraint.New(p, constraint.Request{Tools: tools, ToolChoice: parlance.ToolChoice{Mode: choice}, StrictLevel: constraint.LevelParameter})
	var unwritable *constraint.Error
	if errors.As(err, &unwritable) && unwritable.Tool != "" {
		return nil
	}
	if err != nil {
		return fmt.Errorf("%s: %s: %w", name, format, err)
	}
	if err := json.MarshalWrite(out, lineOf(c, format+" "+choice+" "+name, f.texts, random)); err != nil {
		return err
	}
	return out.WriteByte('\n')
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
			if wrong := mutated(text, random); !c.Accepts(wrong) && !c.Accepts(laidOut(wrong, "")) && !c.Accepts(laidOut(wrong, " ")) && !c.Accepts(indented.ReplaceAllString(wrong, " ")) {
				l.Refuse = append(l.Refuse, wrong)
				break
			}
		}
	}
	return l
}

var blanks = regexp.MustCompile(`\s+`)

// indented is white space that is more than the line breaks between tags.
var indented = regexp.MustCompile(`[ \t\n]*[ \t][ \t\n]*`)

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
