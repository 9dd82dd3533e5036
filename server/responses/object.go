package responses

import (
	"encoding/json/jsontext"
	"encoding/json/v2"
	"time"

	"github.com/parlance-llm/parlance/engine"
	"github.com/parlance-llm/parlance/server/apierror"
	"github.com/parlance-llm/parlance/server/generate"
)

// The statuses of responses and items.
const (
	queued     = "queued"
	inProgress = "in_progress"
	completed  = "completed"
	incomplete = "incomplete"
	failed     = "failed"
	cancelled  = "cancelled"
)

// object is a response. What the request said stands in it as it was said (W11).
type object struct {
	ID                 string         `json:"id"`
	Object             string         `json:"object"`
	CreatedAt          int64          `json:"created_at"`
	Status             string         `json:"status"`
	Background         bool           `json:"background"`
	CompletedAt        *int64         `json:"completed_at"`
	Error              *failure       `json:"error"`
	IncompleteDetails  *details       `json:"incomplete_details"`
	Instructions       jsontext.Value `json:"instructions"`
	MaxOutputTokens    jsontext.Value `json:"max_output_tokens"`
	MaxToolCalls       jsontext.Value `json:"max_tool_calls"`
	Metadata           jsontext.Value `json:"metadata"`
	Model              string         `json:"model"`
	Output             []*item        `json:"output"`
	ParallelToolCalls  bool           `json:"parallel_tool_calls"`
	PreviousResponseID *string        `json:"previous_response_id"`
	Conversation       *reference     `json:"conversation,omitzero"`
	PromptCacheKey     jsontext.Value `json:"prompt_cache_key"`
	Reasoning          jsontext.Value `json:"reasoning"`
	SafetyIdentifier   jsontext.Value `json:"safety_identifier"`
	ServiceTier        string         `json:"service_tier"`
	Store              bool           `json:"store"`
	Temperature        jsontext.Value `json:"temperature"`
	Text               jsontext.Value `json:"text"`
	ToolChoice         jsontext.Value `json:"tool_choice"`
	Tools              jsontext.Value `json:"tools"`
	TopLogprobs        jsontext.Value `json:"top_logprobs"`
	TopP               jsontext.Value `json:"top_p"`
	Truncation         jsontext.Value `json:"truncation"`
	Usage              *usage         `json:"usage"`
	User               jsontext.Value `json:"user"`
}

type reference struct {
	ID string `json:"id"`
}

type details struct {
	Reason string `json:"reason"`
}

type failure struct {
	Code    string `json:"code"`
	Message string `json:"message"`
}

// usage counts tokens.
type usage struct {
	Input        int           `json:"input_tokens"`
	InputDetails inputDetails  `json:"input_tokens_details"`
	Output       int           `json:"output_tokens"`
	Details      outputDetails `json:"output_tokens_details"`
	Total        int           `json:"total_tokens"`
}

type inputDetails struct {
	Cached     int `json:"cached_tokens"`
	CacheWrite int `json:"cache_write_tokens"`
}

type outputDetails struct {
	Reasoning int `json:"reasoning_tokens"`
}

func usageOf(u generate.Usage) *usage {
	return &usage{Input: u.Prompt, InputDetails: inputDetails{Cached: u.Cached}, Output: u.Completion, Details: outputDetails{u.Reasoning}, Total: u.Prompt + u.Completion}
}

// object makes the response object of a request that is about to be answered.
func (r *Request) object(status string) *object {
	echo := func(name, otherwise string) jsontext.Value {
		if value := r.given.Raw(name); value != nil {
			return value
		}
		return jsontext.Value(otherwise)
	}
	o := &object{
		ID: generate.NewID("resp_"), Object: "response", CreatedAt: time.Now().Unix(), Status: status, Background: r.background,
		Instructions: echo("instructions", "null"), MaxOutputTokens: echo("max_output_tokens", "null"), MaxToolCalls: echo("max_tool_calls", "null"),
		Metadata: echo("metadata", "{}"), Model: r.Model.Name, Output: []*item{}, ParallelToolCalls: r.Parallel,
		PromptCacheKey: echo("prompt_cache_key", "null"), Reasoning: echo("reasoning", `{"effort":null,"summary":null}`),
		SafetyIdentifier: echo("safety_identifier", "null"), ServiceTier: "default", Store: r.store, Temperature: echo("temperature", "1.0"),
		Text: echo("text", `{"format":{"type":"text"}}`), ToolChoice: echo("tool_choice", `"auto"`), Tools: echo("tools", "[]"),
		TopLogprobs: echo("top_logprobs", "0"), TopP: echo("top_p", "1.0"), Truncation: echo("truncation", `"disabled"`), User: echo("user", "null"),
	}
	if r.previous != "" {
		o.PreviousResponseID = &r.previous
	}
	if r.conversation != "" {
		o.Conversation = &reference{r.conversation}
	}
	return o
}

// finish says how a response ended.
func (o *object) finish(f *generate.Finish, u generate.Usage) {
	o.Status, o.Usage = completed, usageOf(u)
	if f != nil && f.Incomplete() {
		o.Status, o.IncompleteDetails = incomplete, &details{"max_output_tokens"}
		if f.Reason == engine.FinishFilter {
			o.IncompleteDetails.Reason = "content_filter"
		}
		return
	}
	now := time.Now().Unix()
	o.CompletedAt = &now
}

// fail says that a response failed.
func (o *object) fail(err error) {
	e := apierror.From(err)
	code := "server_error"
	switch e.Kind {
	case apierror.Invalid, apierror.Schema, apierror.TooLarge:
		code = "invalid_prompt"
	case apierror.RateLimited, apierror.Overloaded:
		code = "rate_limit_exceeded"
	}
	o.Status, o.Error = failed, &failure{code, e.Message}
}

// item is an entry of the output. The fields of its type are set.
type item struct {
	Type   string
	ID     string
	Status string

	// written is the text of reasoning and messages, the arguments of a function's call, or the input of a custom tool's.
	written    []byte
	logprobs   []logprob
	encrypted  *string
	CallID     string
	Name       string
	Namespace  string
	contentful bool // the content part has been opened
}

type logprob struct {
	Token   string  `json:"token"`
	Bytes   []int   `json:"bytes"`
	Logprob float64 `json:"logprob"`
	Top     []top   `json:"top_logprobs"`
}

type top struct {
	Token   string  `json:"token"`
	Bytes   []int   `json:"bytes"`
	Logprob float64 `json:"logprob"`
}

// The types of items.
const (
	typeReasoning = "reasoning"
	typeMessage   = "message"
	typeFunction  = "function_call"
	typeCustom    = "custom_tool_call"
)

type outputPart struct {
	Type        string     `json:"type"`
	Text        string     `json:"text"`
	Annotations *[]any     `json:"annotations,omitzero"`
	Logprobs    *[]logprob `json:"logprobs,omitzero"`
}

// part is the content of reasoning or a message.
func (i *item) part() outputPart {
	if i.Type == typeReasoning {
		return outputPart{Type: "reasoning_text", Text: string(i.written)}
	}
	logprobs := append([]logprob{}, i.logprobs...)
	return outputPart{Type: "output_text", Text: string(i.written), Annotations: &[]any{}, Logprobs: &logprobs}
}

// MarshalJSON writes an item with the fields of its type.
func (i *item) MarshalJSON() ([]byte, error) {
	parts := []outputPart{}
	if i.contentful {
		parts = append(parts, i.part())
	}
	optional := func(text string) *string {
		if text == "" {
			return nil
		}
		return &text
	}
	switch i.Type {
	case typeReasoning:
		return json.Marshal(struct {
			ID        string       `json:"id"`
			Type      string       `json:"type"`
			Summary   []any        `json:"summary"`
			Content   []outputPart `json:"content"`
			Encrypted *string      `json:"encrypted_content"`
			Status    string       `json:"status"`
		}{i.ID, i.Type, []any{}, parts, i.encrypted, i.Status}, encoding)
	case typeMessage:
		return json.Marshal(struct {
			ID      string       `json:"id"`
			Type    string       `json:"type"`
			Role    string       `json:"role"`
			Status  string       `json:"status"`
			Content []outputPart `json:"content"`
		}{i.ID, i.Type, "assistant", i.Status, parts}, encoding)
	case typeCustom:
		return json.Marshal(struct {
			ID        string  `json:"id"`
			Type      string  `json:"type"`
			Status    string  `json:"status"`
			CallID    string  `json:"call_id"`
			Name      string  `json:"name"`
			Namespace *string `json:"namespace,omitzero"`
			Input     string  `json:"input"`
		}{i.ID, i.Type, i.Status, i.CallID, i.Name, optional(i.Namespace), string(i.written)}, encoding)
	}
	return json.Marshal(struct {
		ID        string  `json:"id"`
		Type      string  `json:"type"`
		Status    string  `json:"status"`
		CallID    string  `json:"call_id"`
		Name      string  `json:"name"`
		Namespace *string `json:"namespace,omitzero"`
		Arguments string  `json:"arguments"`
	}{i.ID, i.Type, i.Status, i.CallID, i.Name, optional(i.Namespace), string(i.written)}, encoding)
}

var encoding = json.JoinOptions(jsontext.AllowInvalidUTF8(true), jsontext.AllowDuplicateNames(true), json.Deterministic(true))

func encode(v any) []byte {
	data, err := json.Marshal(v, encoding)
	if err != nil {
		panic("responses: " + err.Error()) // the shapes hold nothing that JSON cannot write, and invalid text is mended
	}
	return data
}
