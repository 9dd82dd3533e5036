package parlance

import (
	"strings"

	"github.com/parlance-llm/parlance/internal/machine"
	"github.com/parlance-llm/parlance/internal/program"
)

// Thought says where a turn begins, as far as the thought goes.
type Thought uint8

const (
	// ThoughtSilent: the prompt shows nothing of a thought; the switch decides (rulings 6, 7).
	ThoughtSilent Thought = iota
	// ThoughtOpen: a thought is open at the end of the prompt.
	ThoughtOpen
	// ThoughtClosed: the prompt shows that the thought is over, or that something else has begun.
	ThoughtClosed
)

func (t Thought) String() string { return [...]string{"silent", "open", "closed"}[t] }

// PromptState is what is known of the thought where a turn begins.
type PromptState struct {
	// Prompt is what the prompt of the request shows, behind its last turn boundary (ruling 5).
	Prompt Thought
	// Inside tells whether the output begins in a thought: as the prompt shows, else as the switch of the family and the
	// chat-template arguments say.
	Inside bool
	// Off: thinking is switched off in a family whose switch decides (ruling 7), so that the output can open no thought.
	Off bool
}

// PromptState tells where the answer to a request will begin. Only Prompt or PromptTokens, ChatTemplateKwargs and
// SpecialTokens of the request matter. It is the same for whole answers and streams.
func (p *Parser) PromptState(r Request) PromptState {
	if p.reasoningHalf == nil {
		return PromptState{}
	}
	tokens := p.bound != nil && len(r.PromptTokens) > 0
	compiled, err := p.program(variant{holes: p.suffix(&r), tokens: tokens, shown: p.thoughtsStayContent()})
	if err != nil {
		panic("parlance: " + err.Error()) // the format itself has compiled; a variant of it always does
	}
	start := p.start(&r, compiled, tokens)
	m := machine.New(compiled, machine.Options{})
	state := PromptState{Prompt: [...]Thought{machine.Silent: ThoughtSilent, machine.Open: ThoughtOpen, machine.Over: ThoughtClosed}[m.Begin(start)]}
	state.Off = start.Mode == program.Off
	state.Inside = state.Prompt == ThoughtOpen || state.Prompt == ThoughtSilent && start.Inside && start.Mode == program.On && compiled.Start[program.On].Inside != nil
	return state
}

// turn gives the place in a prompt where the turn begins: behind the last turn boundary, of a template too.
func (p *Parser) turn(prompt string, compiled *program.Program, real func(at int, boundary string) bool) int {
	if p.template == nil {
		return p.library.Turn(prompt, compiled.MessageOpeners, real)
	}
	return max(p.library.Turn(prompt, nil, real), p.template.template.Begin(prompt, real))
}

// prompt gives the part of a request's prompt that belongs to the turn. tokens tells whether markers that are tokens of
// the vocabulary count only as such.
func (p *Parser) prompt(r *Request, compiled *program.Program, tokens bool) []machine.Piece {
	if len(r.PromptTokens) == 0 {
		if r.Prompt == "" {
			return nil
		}
		text := r.Prompt[p.turn(r.Prompt, compiled, nil):]
		if !tokens {
			return []machine.Piece{ordinary(text)}
		}
		// Only the text of the prompt is known: its markers are taken for the tokens that they are mostly.
		pieces := []machine.Piece{ordinary("")}
		for _, part := range p.bound.vocabulary.Split(text) {
			pieces = append(pieces, p.bound.prompt(Token{Text: part.Text, ID: part.ID}))
		}
		return pieces
	}
	text, special := p.written(r.PromptTokens)
	from := p.turn(text, compiled, p.boundary(special))
	if !tokens {
		return []machine.Piece{ordinary(text[from:])}
	}
	pieces := []machine.Piece{ordinary("")} // something is known, if only that the turn begins afresh
	at := 0
	for _, token := range r.PromptTokens {
		piece := p.bound.prompt(token)
		end := at + len(piece.Text)
		switch {
		case end <= from:
		case at >= from:
			pieces = append(pieces, piece)
		default:
			pieces = append(pieces, machine.Piece{Text: piece.Text[from-at:], Token: machine.Ordinary})
		}
		at = end
	}
	return pieces
}

// written gives the text of tokens, and where in it the added tokens of the vocabulary stand.
func (p *Parser) written(tokens []Token) (text string, special map[int]string) {
	var out strings.Builder
	special = map[int]string{}
	for _, token := range tokens {
		if p.bound == nil {
			out.WriteString(token.Text)
			continue
		}
		text := p.bound.prompt(token).Text
		if _, ok := p.bound.vocabulary.Text(token.ID); ok {
			special[out.Len()] = string(text)
		}
		out.Write(text)
	}
	return out.String(), special
}

// boundary tells of a turn boundary found in a prompt whether it is one: where it begins with a token of the vocabulary
// it must be that token, not its characters (design contract 8). nil if nothing is known of a vocabulary.
func (p *Parser) boundary(special map[int]string) func(at int, boundary string) bool {
	if p.bound == nil {
		return nil
	}
	return func(at int, boundary string) bool {
		token := p.bound.vocabulary.Prefix(boundary)
		return token == "" || special[at] == token
	}
}

// prompt gives a token of a prompt to the machine: as a marker, if it is one, else as its text. In a prompt every added
// token stands for itself.
func (b *bound) prompt(token Token) machine.Piece {
	if number, ok := b.numbers[token.ID]; ok {
		return b.marker(number)
	}
	if text, ok := b.vocabulary.Text(token.ID); ok {
		return ordinary(text)
	}
	return ordinary(token.Text)
}
