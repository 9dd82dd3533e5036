package responses

import (
	"math"

	"github.com/parlance-llm/parlance/engine"
)

// lowest stands for the logarithm of nothing, which JSON cannot write.
const lowest = -9999.0

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
	out := top{Token: t.Token, Bytes: []int{}, Logprob: max(t.Logprob, lowest)}
	if math.IsNaN(out.Logprob) {
		out.Logprob = lowest
	}
	text := t.Bytes
	if text == nil {
		text = []byte(t.Token)
	}
	for _, b := range text {
		out.Bytes = append(out.Bytes, int(b))
	}
	return out
}
