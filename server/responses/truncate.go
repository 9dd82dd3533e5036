package responses

import (
	"cmp"
	"context"
	"encoding/json/jsontext"
	"fmt"
	"slices"
	"sort"

	"github.com/parlance-llm/parlance/server/apierror"
	"github.com/parlance-llm/parlance/server/generate"
)

// truncate leaves out what is oldest of a conversation that does not fit the model's context, if the request wants that
// (truncation auto). System messages at its beginning stay, and so does what the user said last with all that followed. A
// note says what was left out, or that nobody could tell whether it fits.
func (h *Handler) truncate(ctx context.Context, r *Request) error {
	if !r.truncates {
		return nil
	}
	length := cmp.Or(h.Models.ContextLength(ctx, r.Model.Name), h.Settings.ContextLength)
	if length == 0 {
		r.notes = append(r.notes, "truncation is not possible: the engine does not tell how long its context is")
		return nil
	}
	// The answer needs room: what was asked for, or an eighth of the context, and no more than half of it.
	room := length - min(cmp.Or(r.MaxTokens, length/8), length/2)
	messages := r.Messages
	first, cuts := turns(messages)
	without := func(n int) []jsontext.Value {
		if n == 0 {
			return messages
		}
		return slices.Concat(messages[:first], messages[cuts[n-1]:])
	}
	var failed error
	n := sort.Search(len(cuts), func(n int) bool {
		if failed != nil {
			return true
		}
		r.Messages = without(n)
		tokens, err := h.Generator.CountPrompt(ctx, &r.Request)
		failed = err
		return tokens <= room
	})
	r.Messages = without(n)
	if failed != nil {
		r.Messages = messages
		if e := apierror.From(failed); e.Kind != apierror.NotImplemented {
			return e
		}
		r.notes = append(r.notes, "truncation is not possible: "+failed.Error())
		return nil
	}
	if left := len(messages) - len(r.Messages); left > 0 {
		r.notes = append(r.notes, fmt.Sprintf("%d messages at the beginning of the conversation were left out, so that it fits the context (truncation auto)", left))
	}
	return nil
}

// turns finds where a conversation may be cut: first is where it begins behind the system messages, cuts are the messages
// that may then come first: those of the user, and those of the model that do not go on with a call.
func turns(messages []jsontext.Value) (first int, cuts []int) {
	for first < len(messages) && generate.Role(messages[first]) == "system" {
		first++
	}
	last := 0
	for i, m := range messages {
		if generate.Role(m) == "user" {
			last = i
		}
	}
	for i := first + 1; i <= last; i++ {
		if generate.Role(messages[i]) != "tool" {
			cuts = append(cuts, i)
		}
	}
	return first, cuts
}
