package generate

import (
	"fmt"
	"math"

	"github.com/parlance-llm/parlance/engine"
)

// lowestLogprob stands for the logarithm of nothing, which JSON cannot write (vLLM 0.33.0 writes the same).
const lowestLogprob = -9999.0

// FiniteLogprob is a log probability as JSON can hold it.
func FiniteLogprob(x float64) float64 {
	if math.IsNaN(x) {
		return lowestLogprob
	}
	return max(x, lowestLogprob)
}

// TokenName is how a token is named beside its log probability: by its text, or as token_id:N.
func TokenName(t engine.TokenLogprob, asID bool) string {
	if asID && t.ID >= 0 {
		return fmt.Sprintf("token_id:%d", t.ID)
	}
	return t.Token
}

// TokenBytes are the bytes of a token as numbers, as the OpenAI interfaces write them.
func TokenBytes(t engine.TokenLogprob) []int {
	text := t.Bytes
	if text == nil {
		text = []byte(t.Token)
	}
	out := make([]int, len(text))
	for i, b := range text {
		out[i] = int(b)
	}
	return out
}
