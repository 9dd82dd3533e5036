package web

import (
	"net/http"
	"strings"
	"unicode/utf8"
)

// serveTokens answers where the tokens of a text end, in UTF-16 units, each with its id: {"tokens": [[end, id], …]}.
func (h *handler) serveTokens(w http.ResponseWriter, r *http.Request) {
	var question struct {
		Text string `json:"text"`
	}
	if !readQuestion(w, r, &question, &question.Text) {
		return
	}
	if h.Tokens == nil {
		refuse(w, http.StatusNotFound, "the server knows no tokenizer: start it with --tokenizer, or before an engine that has one")
		return
	}
	tokens, err := h.Tokens(r.Context(), question.Text)
	if err != nil {
		refuse(w, http.StatusBadGateway, "the text could not be cut into tokens: "+err.Error())
		return
	}
	ends, ok := places(question.Text, tokens)
	if !ok {
		refuse(w, http.StatusBadGateway, "the tokens do not make up the text, so that their places are not known")
		return
	}
	answer(w, map[string]any{"tokens": ends})
}

// places are the ends of the tokens in a text and their ids. A token that ends inside a character ends behind it, together
// with the one that completes it. It answers false if the tokens are not the text.
func places(text string, tokens []Token) (ends [][2]int, ok bool) {
	ends = [][2]int{}
	at, bytes, from := 0, 0, 0 // from: where the characters that are not counted begin
	for _, token := range tokens {
		if !strings.HasPrefix(text[bytes:], token.Text) {
			return nil, false
		}
		bytes += len(token.Text)
		if bytes < len(text) && !utf8.RuneStart(text[bytes]) {
			continue
		}
		at += units(text[from:bytes])
		from = bytes
		if n := len(ends); token.Text == "" && n > 0 {
			continue
		}
		ends = append(ends, [2]int{at, token.ID})
	}
	return ends, bytes == len(text)
}
