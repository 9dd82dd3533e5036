package parlance

import (
	"maps"
	"slices"
	"strings"

	"github.com/parlance-llm/parlance/internal/grammar"
)

// How the call ids of a format, or the numbers of its calls, are made.
const (
	// CallIDsPerConversation are numbers that count through the conversation, from 0.
	CallIDsPerConversation = grammar.IDsPerConversation
	// CallIDsPerMessage are numbers that count in each message, from 0; CallIDsPerMessageFromOne from 1.
	CallIDsPerMessage        = grammar.IDsPerMessage
	CallIDsPerMessageFromOne = grammar.IDsPerMessageFromOne
	// CallIDsNineAlphanumerics are nine letters or digits.
	CallIDsNineAlphanumerics = grammar.IDsNineAlphanumerics
)

// FormatInfo is what the definition of a format says, for people and for programs that choose one.
type FormatInfo struct {
	Name  string `json:"name"`
	Title string `json:"title"`
	// Extends is the format that this one is a dialect of; Respell are the markers it spells otherwise.
	Extends string            `json:"extends,omitzero"`
	Respell map[string]string `json:"respell,omitzero"`
	// ToolNames and ReasoningNames are the parser names that lead here.
	ToolNames      []string `json:"tool_names"`
	ReasoningNames []string `json:"reasoning_names"`
	// Models are known checkpoints, as glob patterns; one that begins with "!" takes back what those before it match.
	// ReasoningModels are those of a reasoning-parser name, where they are others.
	Models          []string            `json:"models"`
	ReasoningModels map[string][]string `json:"reasoning_models,omitzero"`
	// Grammar is what the definition itself writes of the grammar; a dialect has the other rules from Extends.
	Grammar string `json:"grammar"`
	// WholeGrammar is all of the grammar, with that of Extends worked in and without comments.
	WholeGrammar string `json:"whole_grammar"`
	// Markers are all literals of the grammar, those of Extends too, in the order of the rules. Tokens are the markers,
	// or parts of them, that are single tokens where a vocabulary has them; Needed those that a vocabulary must have.
	Markers []string `json:"markers"`
	Tokens  []string `json:"tokens"`
	Needed  []string `json:"needed_tokens"`
	// CallOpeners are the literals with which a call, or a block of calls, can begin; CallsBare tells that one can also
	// begin without any, by its shape alone. ThoughtMarkers are the literals that only the rule for thoughts has, ThoughtOpeners
	// those with which a thought can begin.
	CallOpeners    []string `json:"call_openers"`
	CallsBare      bool     `json:"calls_bare"`
	ThoughtMarkers []string `json:"thought_markers"`
	ThoughtOpeners []string `json:"thought_openers"`
	// Detect is hard evidence for and against the format.
	Detect DetectInfo `json:"detect"`
	// TurnBegin and TurnEnd are the markers of a model's turn in a prompt.
	TurnBegin string `json:"turn_begin,omitzero"`
	TurnEnd   string `json:"turn_end,omitzero"`
	// TurnResume is the marker that ends tool results inside a turn, where the model goes on behind them.
	TurnResume string `json:"turn_resume,omitzero"`
	// Thinking is what switches thinking under each reasoning-parser name, where anything does.
	Thinking map[string]ThinkingInfo `json:"thinking,omitzero"`
	// SkipSpecialTokens and SpacesBetweenSpecialTokens are what a request to an engine must set; nil asks nothing.
	SkipSpecialTokens          *bool `json:"skip_special_tokens,omitzero"`
	SpacesBetweenSpecialTokens *bool `json:"spaces_between_special_tokens,omitzero"`
	// ForcedCalls is how a call is forced: "native", in the format's own syntax, or "json", as plain JSON. It is "" where
	// the format has no calls, or leaves it open. StructuralTag is the name that engines have for the syntax, if any.
	ForcedCalls   string `json:"forced_calls,omitzero"`
	StructuralTag string `json:"structural_tag,omitzero"`
	// CallIDs is how call ids are made: "" (any), or one of the constants that begin with CallIDs.
	CallIDs string `json:"call_ids,omitzero"`
	// ResponseTemplate: the grammar comes with the checkpoint, as a response template; see LookupTemplate.
	ResponseTemplate bool `json:"response_template,omitzero"`
	// Alone: the format reads the whole output itself, whichever parser is named for its other half.
	Alone bool `json:"alone,omitzero"`
	// Slow is why the format may be slower than others, where it may.
	Slow string `json:"slow,omitzero"`
	// Results are the rules by which tool results are written behind a turn of the model, those of Extends worked in. Where
	// there are none, NoResults tells why, if the definition does.
	Results   string `json:"results,omitzero"`
	NoResults string `json:"no_results,omitzero"`
	// Cannot are the reasons for which the format cannot carry every message, in the words of package render.
	Cannot []string `json:"cannot"`
	// Notes are quirks worth telling.
	Notes []string `json:"notes"`
}

// DetectInfo is what a chat template, or a vocabulary, of the format must have, and what its template must not have.
type DetectInfo struct {
	Template   []string `json:"template,omitzero"`
	Vocabulary []string `json:"vocabulary,omitzero"`
	Not        []string `json:"not,omitzero"`
}

// ThinkingInfo is the switch of thinking, which decides where the prompt shows nothing (rulings 5 to 7).
type ThinkingInfo struct {
	// StartsInside tells that a turn begins in the thought while thinking is on.
	StartsInside bool `json:"starts_inside"`
	OnByDefault  bool `json:"on_by_default"`
	// EnabledBy and DisabledBy are chat-template arguments with the values that switch thinking on or off.
	EnabledBy  map[string][]any `json:"enabled_by,omitzero"`
	DisabledBy map[string][]any `json:"disabled_by,omitzero"`
}

// Formats tells of every built-in format that a parser name leads to, by their names. Nothing is compiled.
func Formats() []FormatInfo { return Default().Formats() }

// Formats tells of every format that a parser name leads to, by their names. Nothing is compiled.
func (r *Registry) Formats() (out []FormatInfo) {
	l := r.library()
	for _, name := range l.Formats() {
		if info := formatInfo(l, name); len(info.ToolNames)+len(info.ReasoningNames) > 0 {
			out = append(out, info)
		}
	}
	return out
}

// Format tells of a built-in format by its name. It answers false if there is none of that name.
func Format(name string) (FormatInfo, bool) { return Default().Format(name) }

// Format tells of a format by its name. It answers false if there is none of that name.
func (r *Registry) Format(name string) (FormatInfo, bool) {
	l := r.library()
	if !slices.Contains(l.Formats(), name) {
		return FormatInfo{}, false
	}
	return formatInfo(l, name), true
}

// formatInfo panics if a definition cannot be read; those of a registry have all been read.
func formatInfo(l *grammar.Library, name string) FormatInfo {
	d, err := l.Definition(name)
	if err != nil {
		panic("parlance: a built-in definition is broken: " + err.Error())
	}
	return infoOf(l, d)
}

// infoOf is what a definition says, as a library holds it.
func infoOf(l *grammar.Library, d *grammar.Definition) FormatInfo {
	name := d.Format
	source := l.Source(name)
	leads := func(half grammar.Half, parser string) bool { return slices.Contains(l.Find(half, parser), name) }
	info := FormatInfo{
		Name: d.Format, Title: d.Title, Extends: d.Extends, Respell: maps.Clone(source.Respelled()),
		ToolNames: []string{}, ReasoningNames: []string{}, Models: some(d.Models),
		Grammar: strings.TrimRight(source.Grammar(), "\n"), WholeGrammar: strings.TrimRight(grammar.Print(d.Rules), "\n"), Markers: markers(d), Tokens: some(d.Tokens), Needed: some(d.Needed),
		TurnBegin: d.Turn.Begin, TurnEnd: d.Turn.End, TurnResume: d.Turn.Resume,
		SkipSpecialTokens: d.Request.SkipSpecialTokens, SpacesBetweenSpecialTokens: d.Request.SpacesBetweenSpecialTokens,
		ForcedCalls: d.Constrain.Forced, StructuralTag: d.Constrain.Tag, CallIDs: d.IDs, Alone: d.Alone, ResponseTemplate: d.From != "", Slow: d.Slow,
		Cannot: some(d.Cannot),
		Notes:  some(d.Notes),
		Detect: DetectInfo{Template: some(d.Detect.Template), Vocabulary: some(d.Detect.Vocabulary), Not: some(d.Detect.Not)},
	}
	if d.Results != nil {
		info.Results, info.NoResults = strings.TrimRight(grammar.Print(d.Results.Rules), "\n"), d.Results.Unknown
	}
	info.CallOpeners, info.CallsBare = openers(d, grammar.Call, grammar.Block, grammar.Message)
	info.ThoughtOpeners, _ = openers(d, grammar.Thought)
	others := markers(d, grammar.Output, grammar.Frame, grammar.Message, grammar.Block, grammar.Call, grammar.Parameter, "")
	info.ThoughtMarkers = slices.DeleteFunc(markers(d, grammar.Thought), func(marker string) bool { return slices.Contains(others, marker) })
	for _, tool := range d.Tool {
		if leads(grammar.ToolHalf, tool) {
			info.ToolNames = append(info.ToolNames, tool)
		}
	}
	for _, reasoning := range d.Reasoning {
		if !leads(grammar.ReasoningHalf, reasoning.Name) {
			continue
		}
		info.ReasoningNames = append(info.ReasoningNames, reasoning.Name)
		if reasoning.Models != nil {
			if info.ReasoningModels == nil {
				info.ReasoningModels = map[string][]string{}
			}
			info.ReasoningModels[reasoning.Name] = some(reasoning.Models)
		}
		thinking := reasoning.Thinking
		if thinking == nil {
			thinking = &d.Thinking
		}
		if !thinking.Given {
			continue
		}
		if info.Thinking == nil {
			info.Thinking = map[string]ThinkingInfo{}
		}
		info.Thinking[reasoning.Name] = ThinkingInfo{
			StartsInside: thinking.Start == "inside", OnByDefault: thinking.ByDefault,
			EnabledBy: maps.Clone(thinking.EnabledBy), DisabledBy: maps.Clone(thinking.DisabledBy),
		}
	}
	return info
}

// some makes a list that is not nil, so that it is an array in JSON, and is the caller's own.
func some(list []string) []string { return append([]string{}, list...) }

// openers are the literals with which the rules of some roles can begin.
func openers(d *grammar.Definition, roles ...grammar.Role) (openers []string, bare bool) {
	openers = []string{}
	for _, rule := range d.Rules {
		if !slices.Contains(roles, rule.Role()) {
			continue
		}
		literals, without := grammar.First(rule.Body, d)
		for _, literal := range literals {
			if !slices.Contains(openers, literal) {
				openers = append(openers, literal)
			}
		}
		bare = bare || without
	}
	return openers, bare
}

// markers are the literals of a grammar, or of its rules of some roles, each once, but for bare layout.
func markers(d *grammar.Definition, roles ...grammar.Role) []string {
	out := []string{}
	add := func(text string) {
		if strings.TrimSpace(text) != "" && !slices.Contains(out, text) {
			out = append(out, text)
		}
	}
	for _, rule := range d.Rules {
		if len(roles) > 0 && !slices.Contains(roles, rule.Role()) {
			continue
		}
		grammar.Walk(rule.Body, func(e grammar.Expression) bool {
			switch e := e.(type) {
			case *grammar.Literal:
				add(e.Text)
			case *grammar.Codec:
				add(e.Delimiter)
			}
			return true
		})
	}
	return out
}
