package detect

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/parlance-llm/parlance"
	"github.com/parlance-llm/parlance/chattemplate"
)

// Template tells which formats a chat template belongs to. It renders a conversation with a call and a thought and reads
// the model's turn back with every format that could have written it; and it looks for the markers of each format in the
// source, and for what a definition says must, or must not, stand in it. A template that cannot be read or does not render
// is judged by its source alone.
func Template(source string) Result { return standard().Template(source) }

// Template is as the function of the package.
func (d *Detector) Template(source string) Result {
	x := inspect(source)
	r := Result{Shows: x.shows(), renders: x.rendersCall()}
	for _, f := range d.families {
		if g, ok := x.tools(f); ok && len(f.ToolNames) > 0 {
			r.Tools = append(r.Tools, g)
		}
	}
	r.Tools = settle(r.Tools)
	r.Tools = surely(r.Tools)
	best, sure := "", false
	if len(r.Tools) > 0 {
		best, sure = r.Tools[0].Format, r.Tools[0].Sure
	}
	for _, f := range d.families {
		for _, name := range f.ReasoningNames {
			if g, ok := x.reasoning(f, name, best, sure); ok {
				r.Reasoning = append(r.Reasoning, g)
			}
		}
	}
	r.Reasoning = surely(settle(r.Reasoning))
	return r
}

// surely keeps a guess sure only if it is better than the next of another wire in what counts: not merely by how many of its
// markers, or of what must be there, were seen.
func surely(guesses []Guess) []Guess {
	if len(guesses) == 0 || !guesses[0].Sure {
		return guesses
	}
	best := &guesses[0]
	last := len(best.rank) - 3
	best.Sure = !best.unsure && !slices.ContainsFunc(guesses[1:], func(g Guess) bool {
		return slices.Compare(best.rank[:last], g.rank[:last]) <= 0 && !sameWire(g, *best)
	})
	return guesses
}

// inspection is what is known of a template.
type inspection struct {
	source string // with escapes in texts written out
	// turns are turns of the model that the template renders: one with calls, one with a thought and an answer.
	calls, thought string
	// prompts are what stands before each of them; prompt is one that ends with the beginning of the model's turn.
	callsPrompt, thoughtPrompt, prompt string
}

const (
	probeName   = "get_weather"
	probeCity   = "Paris"
	probeTools  = `[{"type":"function","function":{"name":"get_weather","description":"The weather in a city","parameters":{"type":"object","properties":{"city":{"type":"string","description":"The city"},"days":{"type":"integer","description":"How many days"}},"required":["city"]}}}]`
	probeCall   = `{"role":"assistant","content":"","tool_calls":[{"id":"abcdefghi","type":"function","function":{"name":"get_weather","arguments":{"city":"Paris","days":3}}}]}`
	probeResult = `{"role":"tool","tool_call_id":"abcdefghi","name":"get_weather","content":"{\"sky\": \"clear\"}"}`
	probeUser   = `{"role":"user","content":"How is the weather?"}`
	probeMind   = "The question is about the weather."
)

func inspect(source string) *inspection {
	x := &inspection{source: strings.NewReplacer(`\n`, "\n", `\"`, `"`, `\'`, "'").Replace(source)}
	t, err := chattemplate.Parse("template", source)
	if err != nil {
		return x
	}
	chat := chattemplate.Chat{Messages: []byte("[" + probeUser + "]"), Tools: []byte(probeTools)}
	if prompt, turn, err := t.Turn(chat, []byte(probeCall)); err == nil {
		x.callsPrompt, x.calls = prompt, turn
	}
	for _, field := range []string{"reasoning_content", "reasoning"} {
		message := fmt.Sprintf(`{"role":"assistant","content":"It is fine.",%q:%q}`, field, probeMind)
		if prompt, turn, err := t.Turn(chattemplate.Chat{Messages: chat.Messages}, []byte(message)); err == nil && strings.Contains(turn, probeMind) {
			x.thoughtPrompt, x.thought = prompt, turn
			break
		}
	}
	chat.AddGenerationPrompt = true
	if rendered, err := t.RenderChat(chat); err == nil {
		x.prompt = rendered.Prompt
	}
	return x
}

// rarityOf is how much each marker of formats tells: the fewer have it, the more.
func rarityOf(families []*family) map[string]float64 {
	count := map[string]float64{}
	for _, f := range families {
		for _, marker := range f.markers {
			count[marker]++
		}
	}
	out := map[string]float64{}
	for marker, n := range count {
		out[marker] = math.Log(1 + float64(len(families))/n)
	}
	return out
}

// shows tells whether the template shows the tools.
func (x *inspection) shows() Shown {
	switch {
	case x.prompt == "":
		return ""
	case strings.Contains(x.prompt, probeName):
		return ToolsAreShown
	}
	return ToolsAreHidden
}

// weigh is the share of markers that the source has, rare ones counting more, and the evidence of those that it has.
func (x *inspection) weigh(f *family, markers []string) (share float64, evidence []Evidence) {
	all := 0.0
	for _, marker := range markers {
		weight := f.detector.rarity[marker]
		if weight == 0 {
			weight = 1
		}
		all += weight
		if at := strings.Index(x.source, marker); at >= 0 {
			share += weight
			evidence = append(evidence, Evidence{Source: FromTemplate, Text: marker, Offset: at, Says: "a marker of the format"})
		}
	}
	return share / max(all, 1e-9), evidence
}

// hints weighs what the definition says of templates: the number of texts that must be there if all are, −1 if one is there
// that must not be.
// part is the share of what must be there.
func (x *inspection) hints(f *family) (weight, part float64, evidence []Evidence) {
	found := 0
	must := slices.Concat(f.Detect.Template, f.Detect.Vocabulary)
	for _, text := range must {
		if at := strings.Index(x.source, text); at >= 0 {
			found++
			evidence = append(evidence, Evidence{Source: FromTemplate, Text: text, Offset: at, Says: "templates of the format have it"})
		}
	}
	// What switches the thinking is weighed apart.
	telling := slices.DeleteFunc(slices.Clone(must), f.isSwitch)
	held := 0
	for _, text := range telling {
		if strings.Contains(x.source, text) {
			held++
		}
	}
	part = float64(held) / float64(max(len(telling), 1))
	if found == len(must) {
		weight = float64(found) // what asks for more tells more
	}
	for _, text := range f.Detect.Not {
		if at := strings.Index(x.source, text); at >= 0 {
			weight = -1
			evidence = append(evidence, Evidence{Source: FromTemplate, Text: text, Offset: at, Says: "templates of the format do not have it", Against: true})
		}
	}
	return weight, part, evidence
}

// tools judges whether the template's calls are the format's.
func (x *inspection) tools(f *family) (Guess, bool) {
	g := Guess{family: f, Format: f.Name}
	if len(f.ToolNames) == 0 {
		return g, false
	}
	g.Name = f.ToolNames[0]
	rendered, unexplained, known := 0.0, 0.0, true
	if x.rendersCall() && f.could(x.calls) {
		if parser, err := f.detector.registry.Lookup(g.Name, ""); err == nil {
			if at, left, unknown, ok := x.readProbe(f.detector.markers, parser, f.tokens([]string{x.calls})); ok {
				rendered, unexplained, known = 1, float64(left+unknown), unknown == 0
				g.Evidence = append(g.Evidence, Evidence{Source: FromTemplate, Text: clip(x.calls[at:]), Offset: -1, Says: "the call that the template renders is read back"})
			}
		}
	}
	share, evidence := x.weigh(f, f.markers)
	opened, _ := x.weigh(f, f.openers)
	weight, part, hints := x.hints(f)
	if rendered == 0 && (opened == 0 || x.rendersCall()) && weight < 1 {
		return g, false
	}
	g.Evidence = append(append(g.Evidence, hints...), apart(evidence, hints)...)
	g.Score = (rendered + min(max(weight, 0), 1) + share) / 3
	g.rank = []float64{rendered, -unexplained, min(weight, 1), x.turn(f), max(weight, 0), part, share}
	// A template that renders a call which the format does not read cannot be the format's, whatever else it has.
	g.denied = rendered == 0 && x.rendersCall()
	g.unsure = g.denied || !known || rendered == 0 && (weight < 1 || opened == 0 && len(f.openers) > 0)
	return g, true
}

// rendersCall tells whether the template shows the call of a turn.
func (x *inspection) rendersCall() bool { return strings.Contains(x.calls, probeCity) }

// apart is the evidence whose text is not among what is told already.
func apart(evidence, told []Evidence) []Evidence {
	return slices.DeleteFunc(evidence, func(e Evidence) bool {
		return slices.ContainsFunc(told, func(other Evidence) bool { return other.Text == e.Text })
	})
}

// isSwitch tells whether a text is the name of an argument that switches the format's thinking.
func (f *family) isSwitch(text string) bool {
	for _, thinking := range f.Thinking {
		if _, ok := thinking.EnabledBy[text]; ok {
			return true
		}
		if _, ok := thinking.DisabledBy[text]; ok {
			return true
		}
	}
	return false
}

// turn is 1 if the template begins the model's turn as the format's templates do.
func (x *inspection) turn(f *family) float64 {
	begin := strings.TrimSpace(f.TurnBegin)
	if begin != "" && (strings.Contains(x.prompt, begin) || x.prompt == "" && strings.Contains(x.source, begin)) {
		return 1
	}
	return 0
}

// readProbe reads the rendered call. It gives where it begins, how many bytes of other formats' markup are left, and how
// many of nothing that is known: the message has no content, so whatever is left was written for the call.
func (x *inspection) readProbe(markers *index, p *parlance.Parser, tokens []string) (at, left, unknown int, ok bool) {
	turn := x.calls
	tools, err := parlance.ParseTools([]byte(probeTools))
	if err != nil {
		panic("detect: " + err.Error())
	}
	m := p.Parse(turn, parlance.Request{Trace: true, Tools: tools, SpecialTokens: tokens, Prompt: x.callsPrompt}, parlance.FinishStop)
	if len(m.Calls) != 1 || m.Calls[0].Name != probeName {
		return 0, 0, 0, false
	}
	var arguments struct {
		City string
		Days float64
	}
	if json.Unmarshal([]byte(m.Calls[0].Arguments), &arguments) != nil || arguments.City != probeCity || arguments.Days != 3 {
		return 0, 0, 0, false
	}
	at = -1
	for _, span := range m.Trace {
		switch span.Became {
		case "content", "reasoning":
			text := turn[span.Start:span.End]
			foreign := markers.count(text)
			left += foreign
			unknown += solid(text) - foreign
		case "junk":
			left += span.End - span.Start
		default:
			if at < 0 {
				at = span.Start
			}
		}
	}
	return max(at, 0), left, max(unknown, 0), true
}

// reasoning judges whether the template's thoughts are the format's. best is the likeliest format of its calls, sure
// whether that is sure.
func (x *inspection) reasoning(f *family, name, best string, sure bool) (Guess, bool) {
	g := Guess{family: f, Format: f.Name, Name: name}
	telling := f.thoughts
	if len(telling) == 0 {
		telling = f.markers
	}
	share, evidence := x.weigh(f, telling)
	if share == 0 {
		return g, false
	}
	rendered := 0.0
	if x.thought != "" {
		if parser, err := f.detector.registry.Lookup("", name); err == nil {
			m := parser.Parse(x.thought, parlance.Request{SpecialTokens: f.tokens([]string{x.thought}), Prompt: x.thoughtPrompt}, parlance.FinishStop)
			if strings.TrimSpace(m.Reasoning) == probeMind && !strings.Contains(m.Content, probeMind) {
				rendered = 1
				g.Evidence = append(g.Evidence, Evidence{Source: FromTemplate, Text: clip(x.thought), Offset: -1, Says: "the thought that the template renders is read back"})
			}
		}
	}
	own := 0.0
	if f.Name == best {
		own = 1
		g.Evidence = append(g.Evidence, Evidence{Source: FromTemplate, Text: best, Offset: -1, Says: "the calls are this format's"})
	}
	switches, byDefault := x.switches(f, name, &g), x.byDefault(f, name)
	weight, part, hints := x.hints(f)
	g.Evidence = append(append(g.Evidence, hints...), apart(evidence, hints)...)
	if rendered == 0 && own == 0 && share < leastShare {
		return g, false
	}
	g.Score = (rendered + own + share) / 3
	g.rank = []float64{own, rendered, switches, min(weight, 1), x.turn(f), byDefault, max(weight, 0), part, share}
	g.unsure = rendered == 0 && (own == 0 && weight < 1 || x.thought != "") || own == 1 && !sure
	return g, true
}

// leastShare is how many of a format's markers must be there if nothing else speaks for it.
const leastShare = 0.9

// byDefault tells whether the prompt that the template renders, with no argument, leaves the thought as the format's does: 1 if
// so, −1 if it opens one where the format has it closed, or the other way round, 0 if it shows neither.
func (x *inspection) byDefault(f *family, name string) float64 {
	thinking, ok := f.Thinking[name]
	if !ok || !thinking.StartsInside {
		return 0
	}
	parser, err := f.detector.registry.Lookup("", name)
	if err != nil {
		return 0
	}
	switch parser.PromptState(parlance.Request{Prompt: x.prompt, SpecialTokens: f.tokens([]string{x.prompt})}).Prompt {
	case parlance.ThoughtOpen:
		if thinking.OnByDefault {
			return 1
		}
		return -1
	case parlance.ThoughtClosed:
		if thinking.OnByDefault {
			return -1
		}
		return 1
	}
	return 0
}

// switches tells whether the template heeds the arguments that switch the format's thinking: 1 if it does, −1 if it heeds
// none of them, 0 if there are none.
func (x *inspection) switches(f *family, name string, g *Guess) float64 {
	thinking, ok := f.Thinking[name]
	if !ok || len(thinking.EnabledBy)+len(thinking.DisabledBy) == 0 {
		return 0
	}
	first := Evidence{Source: FromTemplate, Offset: -1, Says: "the argument that switches the thinking"}
	for _, by := range []map[string][]any{thinking.EnabledBy, thinking.DisabledBy} {
		for argument := range by {
			at := strings.Index(x.source, argument)
			nearer := first.Offset < 0 || at < first.Offset || at == first.Offset && len(argument) > len(first.Text)
			if at >= 0 && nearer {
				first.Text, first.Offset = argument, at
			}
		}
	}
	if first.Offset < 0 {
		return -1
	}
	g.Evidence = append(g.Evidence, first)
	return 1
}
