package chat

import (
	"strconv"

	"github.com/parlance-llm/parlance/server/apierror"
	"github.com/parlance-llm/parlance/server/body"
)

// readSampling reads what goes to the engine.
func (r *Request) readSampling(o *body.Object) {
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
	r.noTokens = r.MaxTokens == 0 && (o.Raw("max_completion_tokens") != nil || o.Raw("max_tokens") != nil)
	r.N = set(whole(o.Int("n")), 1)
	r.Stop = o.Strings("stop", true)
	r.StopTokens = o.Ints("stop_token_ids")
	r.IncludeStop = set(o.Bool("include_stop_str_in_output"), false)
	r.SkipSpecial = o.Bool("skip_special_tokens")
	r.SpacesBetween = o.Bool("spaces_between_special_tokens")
	r.Logprobs = set(o.Bool("logprobs"), false)
	r.TopLogprobs = set(whole(o.Int("top_logprobs")), 0)
	r.TokenIDs = set(o.Bool("return_token_ids"), false)
	r.tokensAsIDs = set(o.Bool("return_tokens_as_token_ids"), false)
	r.ThinkingBudget = whole(o.Int("thinking_token_budget"))
	r.beams = set(o.Bool("use_beam_search"), false)
}

func whole(n *int64) *int {
	if n == nil {
		return nil
	}
	m := int(*n)
	return &m
}

// checkOwn checks what only this interface has.
func (r *Request) checkOwn() error {
	switch {
	case r.beams:
		return apierror.Invalidf("use_beam_search", "beam search is not available: engines give it no stream to read")
	case r.noTokens:
		return apierror.Invalidf("max_tokens", "max_tokens must be at least 1, got 0.")
	}
	return nil
}
