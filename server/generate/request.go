package generate

import (
	"encoding/json/jsontext"
	"encoding/json/v2"
	"slices"
	"strings"

	"github.com/parlance-llm/parlance"
	"github.com/parlance-llm/parlance/engine"
)

// Request is what any interface asks for.
type Request struct {
	// ID names the request in logs and to the engine.
	ID string
	// Interface is the label of the interface in metrics: chat_completions, responses, messages.
	Interface string
	// Model is the model that answers.
	Model Model

	// Prompt is the prompt itself, in place of a conversation; nil has one rendered.
	Prompt *engine.Prompt
	// Messages are the conversation, each a message of the Chat Completions interface as it was written. The other
	// interfaces translate theirs into these.
	Messages []jsontext.Value
	// Tools are the declared tools.
	Tools []Tool
	// ToolChoice says which calls are wanted, Parallel whether more than one is.
	ToolChoice ToolChoice
	Parallel   bool
	// Template says how the prompt is made of the conversation.
	Template Template
	// IncludeReasoning: the reasoning is shown. It is generated, read and counted all the same.
	IncludeReasoning bool

	// N is the number of choices.
	N int
	// Stream: the answer is streamed.
	Stream bool
	// Sampling, MaxTokens (0: to the end of the context), Stop and the rest are the engine's.
	Sampling       engine.Sampling
	MaxTokens      int
	Stop           []string
	StopTokens     []int
	IncludeStop    bool
	ThinkingBudget *int
	Logprobs       bool
	TopLogprobs    int
	TokenIDs       bool
	// CountSteps: the usage is shown while the answer goes on, so the engine is asked to count as it goes.
	CountSteps     bool
	SkipSpecial    *bool
	SpacesBetween  *bool
	ResponseFormat *ResponseFormat
	// EngineParameter are fields that only vLLM's engine understands; others are not sent them.
	EngineParameter map[string]jsontext.Value
}

// Model is a model that the server serves.
type Model struct {
	// Name stands in answers. Upstream is the engine's name for it; "" is the engine's first.
	Name, Upstream string
	// Parser sorts what the model writes; nil leaves all of it content.
	Parser *parlance.Parser
	// AutoToolChoice: tool_choice auto is served. Forced calls need only a parser.
	AutoToolChoice bool
}

// ReadsReasoning tells whether a reasoning parser is set.
func (m *Model) ReadsReasoning() bool { return m.Parser != nil && m.Parser.ReasoningName() != "" }

// ReadsCalls tells whether a tool parser is set.
func (m *Model) ReadsCalls() bool { return m.Parser != nil && m.Parser.ToolName() != "" }

// bound tells whether the parser knows the model's vocabulary.
func (m *Model) bound() bool { return m.Parser != nil && m.Parser.Vocabulary() != nil }

// Formats are the formats of the parser's halves.
func (m *Model) Formats() (formats []parlance.FormatInfo) {
	if m.Parser == nil {
		return nil
	}
	if info, ok := m.Parser.ToolFormat(); ok {
		formats = append(formats, info)
	}
	if info, ok := m.Parser.ReasoningFormat(); ok {
		formats = append(formats, info)
	}
	return formats
}

// isMarker tells whether a stop string is markup of the format: then the answer ended where the model would have gone on
// with markup, and nothing was cut off.
func (m *Model) isMarker(stop string) bool {
	stop = strings.TrimSpace(stop)
	for _, format := range m.Formats() {
		if slices.Contains(format.Markers, stop) || stop == strings.TrimSpace(format.TurnEnd) {
			return true
		}
	}
	return false
}

// ToolChoice says which calls a request wants. Mode is auto, none, required or function, the last with a Name.
type ToolChoice struct{ Mode, Name string }

// The modes.
const (
	ToolChoiceAuto     = "auto"
	ToolChoiceNone     = "none"
	ToolChoiceRequired = "required"
	ToolChoiceFunction = "function"
)

// Forced tells whether a call must come.
func (c ToolChoice) Forced() bool {
	return c.Mode == ToolChoiceRequired || c.Mode == ToolChoiceFunction
}

// Tool is a declared function.
type Tool struct {
	Name string
	// Description is nil where there is none.
	Description *string
	// Parameters is the JSON schema of the arguments as it was written; nil where there is none.
	Parameters jsontext.Value
	// Strict is nil where the request does not say. DeferLoading is passed to the template.
	Strict       *bool
	DeferLoading *bool
}

// MarshalJSON writes a tool as chat templates expect it.
func (t Tool) MarshalJSON() ([]byte, error) {
	type function struct {
		Name         string         `json:"name"`
		Description  *string        `json:"description"`
		Parameters   jsontext.Value `json:"parameters"`
		Strict       *bool          `json:"strict,omitzero"`
		DeferLoading *bool          `json:"defer_loading,omitzero"`
	}
	parameters := t.Parameters
	if parameters == nil {
		parameters = jsontext.Value("null")
	}
	return json.Marshal(struct {
		Type     string   `json:"type"`
		Function function `json:"function"`
	}{"function", function{t.Name, t.Description, parameters, t.Strict, t.DeferLoading}}, lenient)
}

// lenient passes JSON on that Python would pass on.
var lenient = json.JoinOptions(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))

// Template says how a prompt is made of a conversation.
type Template struct {
	// Source is a chat template that the request brings itself; "" is the server's.
	Source string
	// Kwargs are the effective arguments: the server's defaults, the request's over them, and what other fields of the
	// request set over those.
	Kwargs map[string]any
	// ReasoningEffort is the effort after the server's map; "" where the request asks for none.
	ReasoningEffort string
	// NoGenerationPrompt leaves out the beginning of the assistant's turn, ContinueFinalMessage leaves the last message
	// open.
	NoGenerationPrompt, ContinueFinalMessage bool
	// Documents are passed to templates that read some.
	Documents jsontext.Value
}

// ResponseFormat is the form that the content must have.
type ResponseFormat struct {
	// Dialect and Text or Choices are as in engine.Constraint.
	Dialect engine.Dialect
	Text    string
	Choices []string
	// Param is the field of the request that asks for it.
	Param string
}
