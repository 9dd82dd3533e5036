package completions

import (
	"encoding/json/jsontext"
	"encoding/json/v2"
	"unicode/utf8"

	"github.com/parlance-llm/parlance/engine"
	"github.com/parlance-llm/parlance/server/generate"
)

// completion is a whole answer.
type completion struct {
	ID          string   `json:"id"`
	Object      string   `json:"object"`
	Created     int64    `json:"created"`
	Model       string   `json:"model"`
	Choices     []choice `json:"choices"`
	ServiceTier *string  `json:"service_tier"`
	Fingerprint *string  `json:"system_fingerprint"`
	Usage       usage    `json:"usage"`
	KVTransfer  *string  `json:"kv_transfer_params"`
}

type choice struct {
	Index          int       `json:"index"`
	Text           string    `json:"text"`
	Logprobs       *logprobs `json:"logprobs"`
	FinishReason   *string   `json:"finish_reason"`
	StopReason     any       `json:"stop_reason"`
	TokenIDs       *[]int    `json:"token_ids"`
	PromptLogprobs *string   `json:"prompt_logprobs"`
	PromptTokenIDs *[]int    `json:"prompt_token_ids"`
}

// chunk is a part of a streamed answer.
type chunk struct {
	ID          string        `json:"id"`
	Object      string        `json:"object"`
	Created     int64         `json:"created"`
	Model       string        `json:"model"`
	Choices     []chunkChoice `json:"choices"`
	Usage       *usage        `json:"usage,omitzero"`
	Fingerprint *string       `json:"system_fingerprint,omitzero"`
}

type chunkChoice struct {
	Index          int       `json:"index"`
	Text           string    `json:"text"`
	Logprobs       *logprobs `json:"logprobs"`
	FinishReason   *string   `json:"finish_reason"`
	StopReason     any       `json:"stop_reason"`
	TokenIDs       *[]int    `json:"token_ids,omitzero"`
	PromptTokenIDs *[]int    `json:"prompt_token_ids,omitzero"`
}

type usage struct {
	Prompt        int            `json:"prompt_tokens"`
	Total         int            `json:"total_tokens"`
	Completion    int            `json:"completion_tokens"`
	PromptDetails *promptDetails `json:"prompt_tokens_details,omitzero"`
}

type promptDetails struct {
	Cached int `json:"cached_tokens"`
}

// logprobs are log probabilities in the old interface's columns.
type logprobs struct {
	TextOffset    []int                 `json:"text_offset"`
	TokenLogprobs []*float64            `json:"token_logprobs"`
	Tokens        []string              `json:"tokens"`
	TopLogprobs   []*map[string]float64 `json:"top_logprobs"`
}

// logprobs writes log probabilities of tokens whose text begins at an offset, in characters; nil if they were not asked for.
func (a *answer) logprobs(tokens []engine.TokenLogprob, offset int) *logprobs {
	if !a.request.Logprobs {
		return nil
	}
	name := func(t engine.TokenLogprob) string { return generate.TokenName(t, a.request.sampling.TokensAsIDs) }
	out := &logprobs{TextOffset: []int{}, TokenLogprobs: []*float64{}, Tokens: []string{}, TopLogprobs: []*map[string]float64{}}
	for _, token := range tokens {
		value := generate.FiniteLogprob(token.Logprob)
		top := map[string]float64{name(token): value}
		for _, other := range token.Top {
			top[name(other)] = generate.FiniteLogprob(other.Logprob)
		}
		out.TextOffset = append(out.TextOffset, offset)
		out.TokenLogprobs = append(out.TokenLogprobs, &value)
		out.Tokens = append(out.Tokens, name(token))
		out.TopLogprobs = append(out.TopLogprobs, &top)
		offset += utf8.RuneCountInString(token.Token)
	}
	return out
}

func (h *Handler) fingerprint() *string {
	if h.Settings.Fingerprint == "" {
		return nil
	}
	return &h.Settings.Fingerprint
}

func encode(v any) []byte {
	data, err := json.Marshal(v, jsontext.AllowInvalidUTF8(true), json.Deterministic(true))
	if err != nil {
		panic("completions: " + err.Error()) // the shapes hold nothing that JSON cannot write
	}
	return data
}
