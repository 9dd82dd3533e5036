// Package sampling reads the fields of a request that say how tokens are chosen and when they end, which the interfaces of
// OpenAI have in common.
package sampling

import (
	"encoding/json/jsontext"
	"strconv"

	"github.com/parlance-llm/parlance/server/apierror"
	"github.com/parlance-llm/parlance/server/body"
	"github.com/parlance-llm/parlance/server/generate"
)

// Fields are the fields of one request that Check needs beside those that went into the request.
type Fields struct {
	// TokensAsIDs: log probabilities name tokens by their ids.
	TokensAsIDs bool
	// PromptText: the answer tells the prompt that was rendered.
	PromptText bool
	// NoTokens: a limit of no tokens was asked for. Check refuses it.
	NoTokens bool
	beams    bool
}

// Read reads the fields into a request. Log probabilities are not among them, since interfaces differ in those.
func Read(o *body.Object, r *generate.Request) (f Fields) {
	s := &r.Sampling
	s.Temperature, s.TopP, s.MinP = o.Float("temperature"), o.Float("top_p"), o.Float("min_p")
	s.PresencePenalty, s.FrequencyPenalty = o.Float("presence_penalty"), o.Float("frequency_penalty")
	s.RepetitionPenalty = o.Float("repetition_penalty")
	s.TopK, s.Seed = whole(o.Int("top_k")), o.Int("seed")
	if bias := o.Object("logit_bias"); bias != nil {
		s.LogitBias = map[int]float64{}
		for _, name := range bias.Names() {
			id, err := strconv.Atoi(name)
			value := bias.Float(name)
			if err != nil {
				bias.Complain(name, "expected the id of a token as key")
			} else if value != nil {
				s.LogitBias[id] = *value
			}
		}
	}
	s.MinTokens = set(whole(o.Int("min_tokens")), 0)
	s.IgnoreEOS = set(o.Bool("ignore_eos"), false)
	s.BadWords = o.Strings("bad_words", false)
	s.AllowedTokens = o.Ints("allowed_token_ids")
	r.MaxTokens = set(whole(o.Int("max_completion_tokens")), set(whole(o.Int("max_tokens")), 0))
	f.NoTokens = r.MaxTokens == 0 && (o.Raw("max_completion_tokens") != nil || o.Raw("max_tokens") != nil)
	r.N = set(whole(o.Int("n")), 1)
	r.Stop = o.Strings("stop", true)
	r.StopTokens = o.Ints("stop_token_ids")
	r.IncludeStop = set(o.Bool("include_stop_str_in_output"), false)
	r.SkipSpecial = o.Bool("skip_special_tokens")
	r.SpacesBetween = o.Bool("spaces_between_special_tokens")
	r.TokenIDs = set(o.Bool("return_token_ids"), false)
	f.TokensAsIDs = set(o.Bool("return_tokens_as_token_ids"), false)
	f.PromptText = set(o.Bool("return_prompt_text"), false)
	r.ThinkingBudget = whole(o.Int("thinking_token_budget"))
	o.Ints("logprob_token_ids")
	r.EngineParameter = engineParameters(o)
	f.beams = set(o.Bool("use_beam_search"), false)
	return f
}

// passedOn are vLLM's own fields that only its engine understands.
var passedOn = []string{"priority", "cache_salt", "vllm_xargs", "logprob_token_ids", "truncate_prompt_tokens", "length_penalty", "kv_transfer_params"}

// engineParameters are the fields that are passed on as they are.
func engineParameters(o *body.Object) map[string]jsontext.Value {
	out := map[string]jsontext.Value{}
	for _, name := range passedOn {
		if value := o.Raw(name); value != nil {
			out[name] = value
		}
	}
	return out
}

// set is a value, or what holds where there is none.
func set[T any](value *T, otherwise T) T {
	if value == nil {
		return otherwise
	}
	return *value
}

func whole(n *int64) *int {
	if n == nil {
		return nil
	}
	m := int(*n)
	return &m
}

// Check checks what generate.Limits does not, since it is not in the request.
func (f Fields) Check() error {
	switch {
	case f.beams:
		return apierror.Invalidf("use_beam_search", "beam search is not available: engines give it no stream to read")
	case f.NoTokens:
		return apierror.Invalidf("max_tokens", "max_tokens must be at least 1, got 0.")
	}
	return nil
}
