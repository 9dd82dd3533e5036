package syntax

import (
	"strings"

	"github.com/parlance-llm/parlance/constraint/language"
	"github.com/parlance-llm/parlance/constraint/regular"
)

// entityForms are the ways to write the characters that have entities.
var entityForms = map[rune][]string{
	'&': {"&amp;"}, '<': {"&lt;"}, '>': {">", "&gt;"}, '"': {`"`, "&quot;"}, '\'': {"'", "&apos;"},
}

// markupForms are the same without those of quotation marks, which bound the strings of JSON.
var markupForms = map[rune][]string{'&': {"&amp;"}, '<': {"&lt;"}, '>': {">", "&gt;"}}

// withEntities is one text with its entities.
func withEntities(text string, forms map[rune][]string) language.Node {
	if !strings.ContainsAny(text, `&<>"'`) {
		return language.Text(text)
	}
	only, err := regular.Texts(text)
	if err != nil {
		return language.Never()
	}
	return &language.Regular{Automaton: only.Spelled(forms)}
}
