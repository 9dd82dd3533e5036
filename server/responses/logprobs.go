package responses

import (
	"github.com/parlance-llm/parlance/engine"
	"github.com/parlance-llm/parlance/server/generate"
)

// logprobsOf writes log probabilities, if they were asked for.
func (r *Request) logprobsOf(tokens []engine.TokenLogprob) (out []logprob) {
	if !r.Logprobs {
		return nil
	}
	for _, t := range tokens {
		one := shown(t)
		entry := logprob{Token: one.Token, Bytes: one.Bytes, Logprob: one.Logprob, Top: []top{}}
		for _, other := range t.Top {
			entry.Top = append(entry.Top, shown(other))
		}
		out = append(out, entry)
	}
	return out
}

func shown(t engine.TokenLogprob) top {
	return top{Token: t.Token, Bytes: generate.TokenBytes(t), Logprob: generate.FiniteLogprob(t.Logprob)}
}
