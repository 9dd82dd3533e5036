package render

import (
	"slices"
	"testing"

	"github.com/parlance-llm/parlance/internal/grammar"
)

// TestReasonsOfDefinitions: what a definition may name as a reason are reasons of this package, in its words.
func TestReasonsOfDefinitions(t *testing.T) {
	ofFormats := []Reason{ReasonCloser, ReasonKey, ReasonLone, ReasonMarker, ReasonName, ReasonOrder, ReasonThought, ReasonType, ReasonSpace}
	var words []string
	for _, reason := range ofFormats {
		words = append(words, string(reason))
	}
	if !slices.Equal(words, grammar.Unwritable) {
		t.Errorf("expected %q, found %q", words, grammar.Unwritable)
	}
}
