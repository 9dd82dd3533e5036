package engine

import "encoding/json/jsontext"

// Request asks for one answer. Several answers to one prompt (n) are several requests; see Choice. Its zero value, with a
// prompt, asks for text to the end of the context with the engine's own sampling.
type Request struct {
	// ID names the request where the engine takes a name; "" has one made.
	ID string
	// Model is the model that is to answer; "" is the engine's first.
	Model string
	// Prompt is what the model reads. For an engine that is ChatOnly, Conversation stands in its place.
	Prompt       Prompt
	Conversation *Conversation
	// Sampling says how tokens are chosen.
	Sampling Sampling
	// MaxTokens limits the answer, in tokens; 0 means to the end of the context.
	MaxTokens int
	// Stop are texts that end the answer; the match is not part of the text, unless IncludeStop says so. They match on the
	// raw text: inside a thought and inside a call too. StopTokens are tokens that do the same.
	Stop        []string
	StopTokens  []int
	IncludeStop bool
	// Logprobs asks for the log probabilities of the tokens, with TopLogprobs alternatives each.
	Logprobs    bool
	TopLogprobs int
	// TokenIDs asks for the ids of the tokens, PromptTokenIDs for those of the prompt.
	TokenIDs, PromptTokenIDs bool
	// Constraint holds the model to a grammar; nil leaves it free.
	Constraint *Constraint
	// SkipSpecialTokens leaves special tokens out of the text. A parser needs them, so they are kept unless it is set.
	SkipSpecialTokens bool
	// SpacesBetweenSpecialTokens is vLLM's and SGLang's field of that name; nil leaves it to the engine.
	SpacesBetweenSpecialTokens *bool
	// PreservedTokens are texts of special tokens that must show, for an engine that shows those only that are listed. Ones
	// that are no token of the model are ignored.
	PreservedTokens []string
	// ThinkingBudget limits the tokens of the thought; nil sets no limit.
	ThinkingBudget *int
	// ContinuousUsage asks for Usage with every piece, where the engine can; the others tell it at the end.
	ContinuousUsage bool
	// Extra are further fields of the engine's own request, sent as they are. A field that the engine package sets itself
	// is not overwritten; an object is filled up.
	Extra map[string]jsontext.Value
}

// Sampling are the usual sampling parameters, each nil where the engine's own default is to hold.
type Sampling struct {
	Temperature, TopP, MinP                              *float64
	TopK                                                 *int
	PresencePenalty, FrequencyPenalty, RepetitionPenalty *float64
	// Seed makes the choice of tokens repeatable.
	Seed *int64
	// LogitBias is added to the logits of tokens, by id.
	LogitBias map[int]float64
	// MinTokens forbids the end before so many tokens. IgnoreEOS goes on behind it.
	MinTokens int
	IgnoreEOS bool
	// BadWords must not be written. AllowedTokens are the only tokens that may be, if there are any.
	BadWords      []string
	AllowedTokens []int
}

// Choice is the request for choice i, from 0, of several answers to one prompt: the same request with its own name and, if
// it has a seed, a seed of its own, so that the choices differ and each can be had again.
func (r *Request) Choice(i int) *Request {
	choice := *r
	if i == 0 {
		return &choice
	}
	if r.ID != "" {
		choice.ID = r.ID + "-" + decimal(i)
	}
	if r.Sampling.Seed != nil {
		seed := *r.Sampling.Seed + int64(i)
		choice.Sampling.Seed = &seed
	}
	return &choice
}

// Dialect is a language for constraints.
type Dialect string

// The dialects. Each engine takes some of them; see Capabilities.
const (
	// StructuralTag is xgrammar's structural tag: the JSON object {"type": "structural_tag", "format": {…}}.
	StructuralTag Dialect = "structural_tag"
	// GBNF is the grammar language of llama.cpp, with the start rule root.
	GBNF Dialect = "gbnf"
	// EBNF is xgrammar's grammar language, close to GBNF, with the start rule root.
	EBNF Dialect = "ebnf"
	// Lark is the grammar language of llguidance, with the start rule start.
	Lark Dialect = "lark"
	// JSONSchema is a JSON schema; the whole answer is a value of it. JSONObject is any JSON object.
	JSONSchema Dialect = "json_schema"
	JSONObject Dialect = "json_object"
	// Regex is a regular expression that the whole answer matches. Choice is a list of texts, one of which is the answer.
	Regex  Dialect = "regex"
	Choice Dialect = "choice"
)

// Constraint holds the model to a grammar.
type Constraint struct {
	Dialect Dialect
	// Text is the grammar, the expression, or the JSON text of the schema or the tag; nothing for JSONObject and Choice.
	Text string
	// Choices are the texts of a Choice.
	Choices []string
	// Triggers let a GBNF grammar sleep until one of them is written, for an engine with LazyConstraints. The grammar then
	// begins with the trigger's own text. Without triggers it binds from the first token.
	Triggers []Trigger
	// AfterThought lets the constraint begin where the thought that is open at the end of the prompt ends, for an engine
	// with ConstraintAfterThought. Such an engine finds the end by the reasoning parser it was started with.
	AfterThought bool
}

// Trigger is what wakes a sleeping constraint.
type Trigger struct {
	// Text is a text, or a regular expression if Pattern is set; then the grammar begins with what the expression's first
	// group holds.
	Text    string
	Pattern bool
}
