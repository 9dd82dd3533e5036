package chat

import (
	"encoding/json/jsontext"
	"encoding/json/v2"
	"time"

	"github.com/parlance-llm/parlance/engine"
	"github.com/parlance-llm/parlance/server/body"
	"github.com/parlance-llm/parlance/server/generate"
)

// completion is a whole answer. All fields are there, null where they say nothing, as in vLLM.
type completion struct {
	ID                string     `json:"id"`
	Object            string     `json:"object"`
	Created           int64      `json:"created"`
	Model             string     `json:"model"`
	Choices           []choice   `json:"choices"`
	ServiceTier       *string    `json:"service_tier"`
	SystemFingerprint *string    `json:"system_fingerprint"`
	Usage             usageWhole `json:"usage"`
	PromptLogprobs    *string    `json:"prompt_logprobs"`
	PromptTokenIDs    *[]int     `json:"prompt_token_ids"`
	PromptText        *string    `json:"prompt_text"`
	KVTransfer        *string    `json:"kv_transfer_params"`
	ECTransfer        *string    `json:"ec_transfer_params"`
	Metrics           *times     `json:"metrics"`
}

// times are when things happened to a request, in seconds since 1970.
type times struct {
	Arrival    float64 `json:"arrival_time"`
	FirstToken float64 `json:"first_token_time"`
	Finished   float64 `json:"finished_time"`
}

// times are those of an answer that is complete; nil if they were not asked for.
func (h *Handler) times(g *generate.Generation) *times {
	if !h.Settings.Metrics {
		return nil
	}
	seconds := func(t time.Time) float64 { return float64(t.UnixMicro()) / 1e6 }
	started, first := g.Times()
	return &times{seconds(started), seconds(first), seconds(time.Now())}
}

type choice struct {
	Index          int       `json:"index"`
	Message        message   `json:"message"`
	Logprobs       *logprobs `json:"logprobs"`
	FinishReason   string    `json:"finish_reason"`
	StopReason     any       `json:"stop_reason"`
	TokenIDs       *[]int    `json:"token_ids"`
	RoutedExperts  *string   `json:"routed_experts"`
	WeightVersions *string   `json:"weight_versions"`
}

type message struct {
	Role             string         `json:"role"`
	Content          *string        `json:"content"`
	Refusal          *string        `json:"refusal"`
	Annotations      *string        `json:"annotations"`
	Audio            *string        `json:"audio"`
	FunctionCall     *string        `json:"function_call"`
	ToolCalls        []toolCall     `json:"tool_calls,omitempty"`
	Reasoning        jsontext.Value `json:"reasoning,omitzero"`
	ReasoningContent jsontext.Value `json:"reasoning_content,omitzero"`
}

// setReasoning fills the fields that reasoning stands in; which of them are there the server's flags say.
func (s *Settings) setReasoning(m *message, text string) {
	value := jsontext.Value("null")
	if text != "" {
		value = body.Quote(nil, text)
	}
	if s.ReasoningField != "reasoning_content" {
		m.Reasoning = value
	}
	if s.ReasoningField != "reasoning" {
		m.ReasoningContent = value
	}
}

type toolCall struct {
	ID       string   `json:"id"`
	Type     string   `json:"type"`
	Function function `json:"function"`
}

type function struct {
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
}

type usageWhole struct {
	Prompt            int                `json:"prompt_tokens"`
	Total             int                `json:"total_tokens"`
	Completion        int                `json:"completion_tokens"`
	PromptDetails     *promptDetails     `json:"prompt_tokens_details"`
	CompletionDetails *completionDetails `json:"completion_tokens_details"`
}

type promptDetails struct {
	Cached     int  `json:"cached_tokens"`
	Created    *int `json:"created_cache_tokens"`
	Multimodal *int `json:"multimodal_tokens"`
}

type completionDetails struct {
	Reasoning int `json:"reasoning_tokens"`
}

// usage writes the counts. Tokens of reasoning are told wherever a reasoning parser is set, if it is 0 of them.
func (h *Handler) usage(u generate.Usage, reasoning bool) usageWhole {
	out := usageWhole{Prompt: u.Prompt, Total: u.Prompt + u.Completion, Completion: u.Completion}
	if h.Settings.PromptDetails {
		out.PromptDetails = &promptDetails{Cached: u.Cached}
	}
	if reasoning {
		out.CompletionDetails = &completionDetails{u.Reasoning}
	}
	return out
}

// hidden tells whether log probabilities and token ids are left out, since they would show what was thought.
func (h *Handler) hidden(r *Request) bool { return !r.IncludeReasoning && r.Model.Parser != nil }

// whole writes a whole answer.
func (h *Handler) whole(r *Request, answers []*generate.Answer, u generate.Usage, head head, at *times, prompt string) []byte {
	out := completion{
		ID: head.id, Object: "chat.completion", Created: head.created, Model: head.model, Usage: h.usage(u, r.Model.ReadsReasoning()),
		SystemFingerprint: optional(h.Settings.Fingerprint), Metrics: at,
	}
	for _, answer := range answers {
		out.Choices = append(out.Choices, h.choice(r, answer))
		if answer.PromptTokenIDs != nil && out.PromptTokenIDs == nil {
			out.PromptTokenIDs = &answer.PromptTokenIDs
		}
	}
	if r.promptText {
		out.PromptText = &prompt
	}
	return encode(out)
}

func (h *Handler) choice(r *Request, a *generate.Answer) choice {
	c := choice{Index: a.Choice, FinishReason: finishReason(&a.Finish, r.ToolChoice), StopReason: a.Finish.StopReason()}
	c.Message.Role = r.role
	h.Settings.setReasoning(&c.Message, a.Reasoning)
	content := r.echo + a.Content
	if content != "" || h.emptyContent(r, a) {
		c.Message.Content = &content
	}
	for _, call := range a.Calls {
		c.Message.ToolCalls = append(c.Message.ToolCalls, toolCall{call.ID, "function", function{call.Name, call.Arguments}})
	}
	if !h.hidden(r) {
		c.Logprobs = r.logprobs(a.Logprobs)
		if r.TokenIDs {
			c.TokenIDs = &a.TokenIDs
		}
	}
	return c
}

// emptyContent tells whether content that is empty is "" and not null: it is null beside calls that the model chose to
// make, and where the model only thought.
func (h *Handler) emptyContent(r *Request, a *generate.Answer) bool {
	return r.ToolChoice.Forced() || len(a.Calls) == 0 && a.Reasoning == ""
}

func optional(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}

type logprobs struct {
	Content []tokenLogprob `json:"content"`
}

type tokenLogprob struct {
	Token   string         `json:"token"`
	Logprob float64        `json:"logprob"`
	Bytes   []int          `json:"bytes"`
	Top     *[]topLogprobs `json:"top_logprobs,omitzero"`
}

type topLogprobs = tokenLogprob

// logprobs writes log probabilities; nil if they were not asked for.
func (r *Request) logprobs(tokens []engine.TokenLogprob) *logprobs {
	if !r.Logprobs {
		return nil
	}
	out := &logprobs{Content: make([]tokenLogprob, len(tokens))}
	for i, token := range tokens {
		entry := r.tokenLogprob(token)
		top := make([]topLogprobs, len(token.Top))
		for k, other := range token.Top {
			top[k] = r.tokenLogprob(other)
		}
		entry.Top = &top
		out.Content[i] = entry
	}
	return out
}

func (r *Request) tokenLogprob(t engine.TokenLogprob) tokenLogprob {
	return tokenLogprob{Token: generate.TokenName(t, r.tokensAsIDs), Logprob: generate.FiniteLogprob(t.Logprob), Bytes: generate.TokenBytes(t)}
}

func encode(v any) []byte {
	data, err := json.Marshal(v, encoding)
	if err != nil {
		panic("chat: " + err.Error()) // the shapes hold nothing that JSON cannot write, and invalid text is mended
	}
	return data
}
