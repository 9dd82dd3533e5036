package grammar

import "strings"

// Definition is one wire format as its file says it, after `extends` and `respell` have been worked in. It is not
// changed after it has been read and may be shared by goroutines. docs/notation.md tells what each key means.
type Definition struct {
	// Format is the name of the definition, which is also the name of its file.
	Format string
	// File is where it was read from, for errors.
	File    string
	Title   string
	Extends string

	// Tool holds the tool-parser names; Reasoning the reasoning-parser names, each with what differs under it.
	Tool      []string
	Reasoning []ReasoningName
	// Models are known checkpoints, as glob patterns.
	Models []string
	// Notes are quirks worth telling, for the format's page.
	Notes []string

	// Rules are the grammar: inherited rules first, then the definition's own, in the order of the files.
	Rules []*Rule
	// Holes are the names of the holes in literals, with the literals a hole is read off.
	Holes map[string][]string
	// Results say how tool results are written behind a turn; nil if the definition says nothing of them.
	Results *Results

	// Tokens are the literals, or parts of literals, that are single tokens where a vocabulary has them.
	Tokens []string
	// Needed are the tokens without which the format cannot be used with a vocabulary.
	Needed []string

	// Turn marks the turns of the model in a prompt.
	Turn Turn
	// Thinking says where a turn begins when the prompt does not show it (rulings 5 to 7).
	Thinking Thinking
	// WithoutPrompt is "inside" if a turn begins in a thought as long as nothing is known of the prompt.
	WithoutPrompt string

	Request   Request
	Constrain Constrain
	Detect    Detect

	// Join stands between whole messages of one tray (ruling 13).
	Join string
	// Unwrap are parameters that hold the whole argument object if they stand alone (ruling 30).
	Unwrap []string
	// Cannot are the reasons, of Unwritable, for which the format cannot carry a message.
	Cannot []string
	// IDs is how call ids, or the numbers of calls, are made: "" (any), or one of the constants that begin with IDs.
	IDs string
	// Written is how the renderer spells values, where the family has a way of its own.
	Written Written
	// Thoughts is "content" if thoughts stay in the content, markers included.
	Thoughts string
	// Escapes is "newlines" if written-out line breaks in the trays are real ones.
	Escapes string
	// Alone is true if the format always reads both halves itself, whichever parser is named for the other one.
	Alone bool
	// From is "response_template" if the grammar comes at run time, from the response template of a checkpoint.
	From string
	// Regions is "closed" if inside a region nothing counts but its own closer, and outside a closer that belongs to no
	// region is text.
	Regions string
	// Slow tells why the format may miss the speed limits, where it may.
	Slow string
}

// How call ids, or the numbers of calls, are made.
const (
	// IDsPerConversation are numbers that count through the conversation, from 0.
	IDsPerConversation = "per_conversation"
	// IDsPerMessage are numbers that count in each message, from 0; IDsPerMessageFromOne from 1.
	IDsPerMessage        = "per_message"
	IDsPerMessageFromOne = "per_message from 1"
	// IDsNineAlphanumerics are nine letters or digits.
	IDsNineAlphanumerics = "9 alphanumerics"
)

// Unwritable are the reasons, in the words of package render, for which a format may be unable to carry a message.
var Unwritable = []string{"closer", "key", "lone argument", "marker", "name", "order", "thought", "type", "white space"}

// ReasoningName is a reasoning-parser name with the keys that differ under it.
type ReasoningName struct {
	Name string
	// Thinking is nil where the definition's own holds.
	Thinking *Thinking
	Thoughts string
	// Models are the checkpoints for this name; nil where the definition's own hold.
	Models []string
}

// Turn holds the markers of a model's turn in a prompt.
type Turn struct {
	Begin string `yaml:"begin"`
	End   string `yaml:"end"`
	// Resume is the marker that ends tool results inside a turn: the model goes on behind it.
	Resume string `yaml:"resume"`
}

// Thinking is the switch of a family.
type Thinking struct {
	// Start is "inside" for the families of ruling 6, else "".
	Start string
	// EnabledBy and DisabledBy are chat-template arguments with the values (bool, string or float64) that switch
	// thinking on or off; one that is on wins.
	EnabledBy, DisabledBy map[string][]any
	// ByDefault is the state when no such argument is given.
	ByDefault bool
	// Given tells that the definition has the key at all.
	Given bool
}

// On tells whether thinking is switched on by the chat-template arguments of a request.
func (t *Thinking) On(arguments map[string]any) bool {
	matches := func(by map[string][]any) bool {
		for name, values := range by {
			given, ok := arguments[name]
			if !ok {
				continue
			}
			for _, value := range values {
				if value == given {
					return true
				}
			}
		}
		return false
	}
	switch {
	case matches(t.EnabledBy):
		return true
	case matches(t.DisabledBy):
		return false
	}
	return t.ByDefault
}

// Request is what a request to an engine must change.
type Request struct {
	// SkipSpecialTokens false asks the engine to keep special tokens in its text; nil asks nothing.
	SkipSpecialTokens *bool `yaml:"skip_special_tokens"`
	// SpacesBetweenSpecialTokens false asks it to put no blanks between them.
	SpacesBetweenSpecialTokens *bool `yaml:"spaces_between_special_tokens"`
}

// Constrain says how calls are forced.
type Constrain struct {
	// Forced is "native" (in the format's own syntax) or "json" (as the plain JSON of ruling 16).
	Forced string `yaml:"forced"`
	// Tag is the name of an engine's built-in structural tag for this format.
	Tag string `yaml:"tag"`
	// Level is the strictness where the server sets none: "auto", "function" or "parameter".
	Level string `yaml:"level"`
	// Excludes are literals that free text beside constrained calls may not hold.
	Excludes []string `yaml:"excludes"`
}

// Detect holds hard evidence for the detector.
type Detect struct {
	// Template and Vocabulary list texts that must occur; Not lists texts that must not.
	Template   []string `yaml:"template"`
	Vocabulary []string `yaml:"vocabulary"`
	Not        []string `yaml:"not"`
}

// Written is how values are spelled when a message is written. What is "" is spelled as usual: JSON with a space behind
// comma and colon, its members in the order given; text, words and containers as the argument syntax has them.
type Written struct {
	// Keys is "sorted" if members are written in the order of their names, at every depth.
	Keys string `yaml:"keys"`
	// JSON is "compact" if JSON is written without spaces.
	JSON string `yaml:"json"`
	// Strings is "single" if the strings of Python stand in single quotes.
	Strings string `yaml:"strings"`
	// Words is "python" if a tagged value is True, False or None, or "json" if an argument of Python is true, false or null.
	Words string `yaml:"words"`
	// Lists and Objects are "python" if a tagged one is written as Python prints it, or "json" if one among the arguments
	// of Python is written as JSON.
	Lists   string `yaml:"lists"`
	Objects string `yaml:"objects"`
	// Items is the name under which the elements of a list are written, one by one, where parameters hold parameters.
	Items string `yaml:"items"`
}

// Fill fills the holes of a literal with the suffix that was read off the vocabulary or the prompt.
func (d *Definition) Fill(literal, suffix string) string {
	for name := range d.Holes {
		literal = strings.ReplaceAll(literal, "{"+name+"}", suffix)
	}
	return literal
}

// Rule finds a rule by its name, or gives nil.
func (d *Definition) Rule(name string) *Rule {
	for _, rule := range d.Rules {
		if rule.Name == name {
			return rule
		}
	}
	return nil
}

// ReasoningName finds a reasoning-parser name, or gives nil.
func (d *Definition) ReasoningName(name string) *ReasoningName {
	for i := range d.Reasoning {
		if d.Reasoning[i].Name == name {
			return &d.Reasoning[i]
		}
	}
	return nil
}

// Output is the body of the output rule, or the default: a thought, then text, frames, messages and blocks (or calls,
// where there is no block).
func (d *Definition) Output() Expression {
	if rule := d.Rule("output"); rule != nil {
		return rule.Body
	}
	loop := &Choice{Alternatives: []*Sequence{{Items: []Expression{&Capture{Name: "content"}}}}}
	body := &Sequence{}
	add := func(name string) bool {
		if d.Rule(name) == nil {
			return false
		}
		loop.Alternatives = append(loop.Alternatives, &Sequence{Items: []Expression{&Reference{Name: name}}})
		return true
	}
	if d.Rule("thought") != nil {
		body.Items = append(body.Items, &Optional{Inner: &Reference{Name: "thought"}})
	}
	add("frame")
	add("message")
	if !add("block") {
		add("call")
	}
	body.Items = append(body.Items, &Repeat{Inner: loop})
	return body
}
