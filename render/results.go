package render

import (
	"bytes"
	"encoding/json/jsontext"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/parlance-llm/parlance"
	"github.com/parlance-llm/parlance/internal/grammar"
)

// Result is what a tool gave back: in a conversation, a message of the role tool.
type Result struct {
	// ID is the id of the call that is answered, "" if it is not known.
	ID string
	// Name is the name of the function; it is needed only where the call that is answered is not known.
	Name string
	// Content is the text of the result.
	Content string
	// Value is the result where it is JSON and no text; Content is not used then. A JSON string is the text that it says.
	Value jsontext.Value
}

// Results writes the results of tools as they stand behind a message of the model, up to where the model goes on: what
// ends its turn, the results, and what opens the next turn, if the format has the model go on in a turn of its own.
// Behind the text that Render gives of the message before, and before that of the next one, rendered with this text as
// the prompt of the request, it is a stretch of the conversation as the model sees it. What a generation prompt adds to
// that, such as the opener of a thought, is the chat template's, as is everything around user and system messages.
//
// answered is the message whose calls are answered, and o what it was rendered with; nil if it is not known. A result
// answers the call whose id it has; if none of the calls has one, the call of its place. The function is called by the
// name in that call, and the call by the id that Render writes for it. A result that is JSON is written as JSON,
// spelled as the family does.
//
// The contents are written as they are, which is what chat templates do: no family has a way to escape its markers in
// them. A content that holds special tokens, of this family or another, looks to a tokenizer like the tokens, and to the
// model like turns, results or calls of the conversation. Whoever cannot trust the tools should have OutlineResults tell
// where the contents stand and encode those stretches without special tokens.
//
// The error is an *Error: of ReasonResults if the definition does not say how results are written, or has no variant of
// the name; of ReasonResult if the format writes the name or the id of each call and one of the results has none; and
// any error of Render where the id is to be written. No results are an empty text.
func (r *Renderer) Results(answered *parlance.Message, results []Result, o Options) (string, error) {
	text, _, err := r.OutlineResults(answered, results, o)
	return text, err
}

// OutlineResults writes results as Results does, and tells what every part of the text is, in order and without gaps:
// PartContent is what the tools gave back, PartName the names and ids of calls. Call is the number of the call that a part
// belongs to, -1 if it is not known or the part belongs to none.
func (r *Renderer) OutlineResults(answered *parlance.Message, results []Result, o Options) (string, []Part, error) {
	definition, rule, err := r.resultsRule(o)
	if err != nil || len(results) == 0 {
		return "", nil, err
	}
	w := &resultWriter{definition: definition, results: make([]answer, len(results)), suffix: r.parser.Suffix(o.Request), at: -1}
	if answered == nil {
		answered = &parlance.Message{}
	}
	ids, err := r.writtenIDs(definition, rule, answered, o)
	if err != nil {
		return "", nil, err
	}
	for k := range results {
		a, err := newAnswer(definition, answered, ids, &results[k], k, o)
		if err != nil {
			return "", nil, r.resultError(a.call, string(results[k].Value), err.Error())
		}
		w.results[k] = a
	}
	if !w.write(rule.Body) {
		lack, value := lacks[w.lacking], ""
		if w.lacking == "id" && definition.IDs == grammar.IDsNineAlphanumerics {
			lack, value = "an id of nine letters or digits", results[w.failed].ID
		}
		return "", nil, r.resultError(w.results[w.failed].call, value, fmt.Sprintf("expected %s for tool result %d, since the format writes it", lack, w.failed))
	}
	return string(w.out), w.parts, nil
}

// resultError is an error about a result.
func (r *Renderer) resultError(call int, value, detail string) *Error {
	return &Error{Format: r.format, Reason: ReasonResult, Call: call, Value: shortly(value), Detail: detail}
}

// lacks tells what a result lacks, by the capture that holds it.
var lacks = map[string]string{
	"name":   "the name of the function",
	"id":     "the id of the call",
	"index":  "a call that it answers",
	"object": "a JSON object",
}

// resultsRule finds the definition that says how results are written, and its rule. It is the tool half's, unless the
// reasoning half's extends that: then the family is the reasoning half's, and only its calls are read by another's parser.
func (r *Renderer) resultsRule(o Options) (*grammar.Definition, *grammar.Rule, error) {
	tool, reasoning, name := r.parser.Definitions()
	fail := func(reason Reason, detail string) (*grammar.Definition, *grammar.Rule, error) {
		return nil, nil, &Error{Format: r.format, Reason: reason, Call: -1, Detail: detail}
	}
	if tool == nil {
		return fail(ReasonCalls, "expected no tool results, since no tool parser is chosen")
	}
	d := tool
	if reasoning != nil && reasoning.Extends == tool.Format {
		d = reasoning
	}
	switch {
	case d.Results == nil:
		return fail(ReasonResults, "the definition "+d.Format+" does not say how tool results are written")
	case d.Results.Unknown != "":
		return fail(ReasonResults, "the definition "+d.Format+" does not say how tool results are written: "+d.Results.Unknown)
	case o.Results != "":
		rule := d.Results.Variant(o.Results)
		if o.Results == grammar.ResultsRule {
			rule = d.Results.Variant("")
		}
		if rule == nil {
			variants := "none"
			if list := d.Results.Variants(); len(list) > 0 {
				variants = strings.Join(list, ", ")
			}
			return fail(ReasonResults, fmt.Sprintf("the definition %s has no variant %q for tool results; its variants: %s", d.Format, o.Results, variants))
		}
		return d, rule, nil
	}
	names := []string{r.parser.ToolName()}
	if name != nil {
		names = append(names, name.Name)
	}
	for _, name := range names {
		if rule := d.Results.Variant(name); name != "" && rule != nil {
			return d, rule, nil
		}
	}
	return d, d.Results.Variant(""), nil
}

// writtenIDs are the ids of a message's calls as Render writes them, where the rule has use for them: "" for a call whose
// id is not written. They are read back off the text, so that they are those that stand in it; the parser tells nothing of
// an id that stands behind the arguments, so for one that is not read the text itself is looked at.
func (r *Renderer) writtenIDs(d *grammar.Definition, rule *grammar.Rule, m *parlance.Message, o Options) ([]string, error) {
	if len(m.Calls) == 0 || !d.Results.Captures(rule, "id") {
		return nil, nil
	}
	text, err := r.Render(m, o)
	if err != nil {
		return nil, err
	}
	read := r.parser.Parse(text, o.Request, parlance.FinishStop)
	ids := make([]string, len(m.Calls))
	for k := range min(len(ids), len(read.Calls)) {
		if ids[k] = read.Calls[k].ID; ids[k] == "" && strings.Contains(text, m.Calls[k].ID) {
			ids[k] = m.Calls[k].ID
		}
	}
	return ids, nil
}

// answer is a result with what is known of the call that it answers.
type answer struct {
	call              int // its number, or -1
	name, id, content string
	index             string         // "" if the call is not known
	value             jsontext.Value // as the family spells JSON; nil for text
}

func newAnswer(d *grammar.Definition, m *parlance.Message, ids []string, result *Result, place int, o Options) (answer, error) {
	a := answer{call: answeredCall(m, result, place), name: result.Name, content: result.Content}
	if idFits(d, result.ID) {
		a.id = result.ID
	}
	if a.call >= 0 {
		call := item{call: &m.Calls[a.call], number: a.call}
		a.name = call.call.Name
		a.index = strconv.Itoa((&writer{options: o}).index(&half{definition: d}, &call))
		if a.call < len(ids) && ids[a.call] != "" {
			a.id = ids[a.call]
		}
	}
	if len(result.Value) == 0 {
		return a, nil
	}
	if !result.Value.IsValid(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true)) {
		return a, errors.New("expected JSON as the value of the result")
	}
	value := bytes.TrimSpace(result.Value)
	if value[0] == '"' {
		a.content = unquote(value)
		return a, nil
	}
	if d.Written.Keys == "sorted" {
		value = sortValue(value)
	}
	a.value = appendJSON(nil, value, &d.Written)
	a.content = string(a.value)
	return a, nil
}

// answeredCall is the number of the call that a result answers, or -1.
func answeredCall(m *parlance.Message, result *Result, place int) int {
	named := false // some call has an id
	for k := range m.Calls {
		if id := m.Calls[k].ID; id != "" {
			named = true
			if id == result.ID {
				return k
			}
		}
	}
	if (!named || result.ID == "") && place < len(m.Calls) && (result.Name == "" || result.Name == m.Calls[place].Name) {
		return place
	}
	return -1
}

// idFits tells whether an id is one that the format can write.
func idFits(d *grammar.Definition, id string) bool {
	if d.IDs != grammar.IDsNineAlphanumerics {
		return true
	}
	for _, c := range []byte(id) {
		if c < '0' || c > '9' && c < 'A' || c > 'Z' && c < 'a' || c > 'z' {
			return false
		}
	}
	return len(id) == 9
}
