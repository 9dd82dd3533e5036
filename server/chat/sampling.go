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

// checkSampling checks the values of the sampling, as the engine would.
func (r *Request) checkSampling() error {
	s := &r.Sampling
	within := func(name string, value *float64, low, high float64, open bool) error {
		if value == nil || *value <= high && (*value > low || *value == low && !open) {
			return nil
		}
		bracket := "["
		if open {
			bracket = "("
		}
		return apierror.Invalidf(name, "%s must be in %s%v, %v], got %v.", name, bracket, low, high, *value)
	}
	for _, err := range []error{
		within("temperature", s.Temperature, 0, 2, false),
		within("top_p", s.TopP, 0, 1, true),
		within("min_p", s.MinP, 0, 1, false),
		within("presence_penalty", s.PresencePenalty, -2, 2, false),
		within("frequency_penalty", s.FrequencyPenalty, -2, 2, false),
		within("repetition_penalty", s.RepetitionPenalty, 0, 2, true),
	} {
		if err != nil {
			return err
		}
	}
	switch {
	case r.beams:
		return apierror.Invalidf("use_beam_search", "beam search is not available: engines give it no stream to read")
	case r.N < 1:
		return apierror.Invalidf("n", "n must be at least 1, got %d.", r.N)
	case r.N > 1 && s.Temperature != nil && *s.Temperature == 0:
		return apierror.Invalidf("n", "n must be 1 when using greedy sampling, got %d.", r.N)
	case s.TopK != nil && *s.TopK < -1:
		return apierror.Invalidf("top_k", "top_k must be 0 or -1 (disable), or at least 1, got %d.", *s.TopK)
	case r.MaxTokens < 0 || r.noTokens:
		return apierror.Invalidf("max_tokens", "max_tokens must be at least 1, got %d.", r.MaxTokens)
	case s.MinTokens < 0:
		return apierror.Invalidf("min_tokens", "min_tokens must be greater than or equal to 0, got %d.", s.MinTokens)
	case r.MaxTokens > 0 && s.MinTokens > r.MaxTokens:
		return apierror.Invalidf("min_tokens", "min_tokens must be less than or equal to max_tokens=%d, got %d.", r.MaxTokens, s.MinTokens)
	}
	if r.ThinkingBudget != nil {
		switch {
		case *r.ThinkingBudget < -1:
			return apierror.Invalidf("thinking_token_budget", "thinking_token_budget must be at least 0, or -1 for no limit, got %d.", *r.ThinkingBudget)
		case *r.ThinkingBudget == -1:
			r.ThinkingBudget = nil
		}
	}
	return nil
}
