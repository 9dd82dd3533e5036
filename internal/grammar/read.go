package grammar

import (
	"bytes"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

// Source is a definition as its file has it, before `extends` is worked in.
type Source struct {
	Definition
	respell  map[string]string
	own      []*Rule
	text     string              // of the grammar
	given    map[string]Position // the keys of the file, and where their values stand
	respells Position
}

// Read reads one definition file. Errors are of type *Error and tell file, line, what was expected and what was found.
func Read(file string, data []byte) (*Source, error) {
	var document yaml.Node
	if err := yaml.Unmarshal(data, &document); err != nil {
		return nil, yamlError(file, data, err)
	}
	if len(document.Content) == 0 {
		return nil, &Error{File: file, Position: Position{1, 1}, Message: "expected a definition, found an empty file"}
	}
	s := &Source{given: map[string]Position{}}
	s.File = file
	r := reader{file: file, data: data}
	if err := r.mapping(document.Content[0], s.keys()); err != nil {
		return nil, err
	}
	if s.Format == "" {
		return nil, &Error{File: file, Position: Position{1, 1}, Message: "expected the key format with the name of the definition"}
	}
	for _, key := range r.given {
		s.given[key.name] = key.value
	}
	return s, nil
}

// Grammar is the text of the grammar as the file has it.
func (s *Source) Grammar() string { return s.text }

// Respelled are the markers of the extended definition that are spelled otherwise, with their new spelling.
func (s *Source) Respelled() map[string]string { return s.respell }

var yamlLine = regexp.MustCompile(`^yaml: line (\d+): (.*)$`)

func yamlError(file string, data []byte, err error) error {
	if at, found := unprintable(data); found != "" {
		return &Error{File: file, Position: at, Message: "expected text in UTF-8, found " + found}
	}
	if m := yamlLine.FindStringSubmatch(err.Error()); m != nil {
		line, _ := strconv.Atoi(m[1])
		return &Error{File: file, Position: Position{line, 1}, Message: m[2]}
	}
	return &Error{File: file, Message: strings.TrimPrefix(err.Error(), "yaml: ")}
}

// unprintable finds the first byte of a file that YAML cannot hold, "" if there is none.
func unprintable(data []byte) (at Position, found string) {
	at = Position{1, 1}
	for len(data) > 0 {
		r, size := utf8.DecodeRune(data)
		switch {
		case r == utf8.RuneError && size == 1:
			return at, fmt.Sprintf("the byte 0x%02x", data[0])
		case r == '\n':
			at = Position{at.Line + 1, 0}
		case r < ' ' && r != '\t' && r != '\r' || r == 0x7f:
			return at, fmt.Sprintf("the control character 0x%02x", r)
		}
		at.Column++
		data = data[size:]
	}
	return at, ""
}

// reader turns YAML nodes into values, key by key, so that every error knows its line.
type reader struct {
	file  string
	data  []byte
	given []givenKey
}

// givenKey is a key of a mapping, with the place of its value.
type givenKey struct {
	name  string
	value Position
}

type decode func(r *reader, node *yaml.Node) error

func (r *reader) fail(node *yaml.Node, format string, arguments ...any) error {
	return &Error{File: r.file, Position: Position{node.Line, node.Column}, Message: fmt.Sprintf(format, arguments...)}
}

// indentation is the number of blanks before a line, from 1, or before the first one behind it that is not empty.
func (r *reader) indentation(line int) int {
	number := 0
	for text := range bytes.Lines(r.data) {
		if number++; number < line || len(bytes.TrimSpace(text)) == 0 {
			continue
		}
		return len(text) - len(bytes.TrimLeft(text, " "))
	}
	return 0
}

func kindOf(node *yaml.Node) string {
	switch node.Kind {
	case yaml.MappingNode:
		return "a mapping"
	case yaml.SequenceNode:
		return "a list"
	}
	return strconv.Quote(node.Value)
}

func (r *reader) mapping(node *yaml.Node, keys map[string]decode) error {
	if node.Kind != yaml.MappingNode {
		return r.fail(node, "expected a mapping, found %s", kindOf(node))
	}
	seen := map[string]bool{}
	for i := 0; i < len(node.Content); i += 2 {
		key, value := node.Content[i], node.Content[i+1]
		read, ok := keys[key.Value]
		if !ok {
			names := make([]string, 0, len(keys))
			for name := range keys {
				names = append(names, name)
			}
			slices.Sort(names)
			return r.fail(key, "unknown key %q; expected one of %s", key.Value, strings.Join(names, ", "))
		}
		if seen[key.Value] {
			return r.fail(key, "the key %q is given twice", key.Value)
		}
		seen[key.Value] = true
		if err := read(r, value); err != nil {
			return err
		}
		r.given = append(r.given, givenKey{key.Value, Position{value.Line, value.Column}})
	}
	return nil
}

func text(into *string, allowed ...string) decode {
	return func(r *reader, node *yaml.Node) error {
		if node.Kind != yaml.ScalarNode {
			return r.fail(node, "expected a text, found %s", kindOf(node))
		}
		if len(allowed) > 0 && !slices.Contains(allowed, node.Value) {
			return r.fail(node, "expected one of %s, found %q", strings.Join(allowed, ", "), node.Value)
		}
		*into = node.Value
		return nil
	}
}

func truth(into *bool) decode {
	return func(r *reader, node *yaml.Node) error {
		if node.Kind != yaml.ScalarNode || node.ShortTag() != "!!bool" || node.Decode(into) != nil {
			return r.fail(node, "expected true or false, found %s", kindOf(node))
		}
		return nil
	}
}

func optionalTruth(into **bool) decode {
	return func(r *reader, node *yaml.Node) error {
		*into = new(bool)
		return truth(*into)(r, node)
	}
}

// texts reads a list of texts, of those allowed if there are any.
func texts(into *[]string, allowed ...string) decode {
	return func(r *reader, node *yaml.Node) error {
		if node.Kind != yaml.SequenceNode {
			return r.fail(node, "expected a list of texts, found %s", kindOf(node))
		}
		*into = []string{}
		for _, item := range node.Content {
			var one string
			if err := text(&one, allowed...)(r, item); err != nil {
				return err
			}
			*into = append(*into, one)
		}
		return nil
	}
}

// named reads a mapping with free keys.
func named(each func(r *reader, key string, node *yaml.Node) error) decode {
	return func(r *reader, node *yaml.Node) error {
		if node.Kind != yaml.MappingNode {
			return r.fail(node, "expected a mapping, found %s", kindOf(node))
		}
		for i := 0; i < len(node.Content); i += 2 {
			if err := each(r, node.Content[i].Value, node.Content[i+1]); err != nil {
				return err
			}
		}
		return nil
	}
}

func group(keys map[string]decode) decode {
	return func(r *reader, node *yaml.Node) error {
		inner := reader{file: r.file, data: r.data}
		return inner.mapping(node, keys)
	}
}

func switchValues(into *map[string][]any) decode {
	return named(func(r *reader, key string, node *yaml.Node) error {
		if *into == nil {
			*into = map[string][]any{}
		}
		nodes := []*yaml.Node{node}
		if node.Kind == yaml.SequenceNode {
			nodes = node.Content
		}
		for _, node := range nodes {
			var value any
			if node.Kind != yaml.ScalarNode || node.Decode(&value) != nil {
				return r.fail(node, "expected a value of the chat-template argument %s, found %s", key, kindOf(node))
			}
			if n, ok := value.(int); ok {
				value = float64(n) // as JSON has it
			}
			(*into)[key] = append((*into)[key], value)
		}
		return nil
	})
}

func thinking(into *Thinking) decode {
	return func(r *reader, node *yaml.Node) error {
		*into = Thinking{Given: true}
		return group(map[string]decode{
			"start":       text(&into.Start, "inside", "outside"),
			"enabled_by":  switchValues(&into.EnabledBy),
			"disabled_by": switchValues(&into.DisabledBy),
			"by_default":  truth(&into.ByDefault),
		})(r, node)
	}
}

func (s *Source) reasoningNames(r *reader, node *yaml.Node) error {
	if node.Kind == yaml.SequenceNode {
		var names []string
		if err := texts(&names)(r, node); err != nil {
			return err
		}
		for _, name := range names {
			s.Reasoning = append(s.Reasoning, ReasoningName{Name: name})
		}
		return nil
	}
	return named(func(r *reader, key string, node *yaml.Node) error {
		name := ReasoningName{Name: key}
		var own Thinking
		if err := group(map[string]decode{
			"thinking": thinking(&own),
			"thoughts": text(&name.Thoughts, "content"),
			"models":   texts(&name.Models),
		})(r, node); err != nil {
			return err
		}
		if own.Given {
			name.Thinking = &own
		}
		s.Reasoning = append(s.Reasoning, name)
		return nil
	})(r, node)
}

func (s *Source) grammarText(r *reader, node *yaml.Node) error {
	rules, err := r.rules(node, "the grammar as a block of text")
	if err != nil {
		return err
	}
	s.own, s.text = rules, node.Value
	return nil
}

// keys are the keys of a definition file, with how each is read.
func (s *Source) keys() map[string]decode {
	return map[string]decode{
		"format":    text(&s.Format),
		"title":     text(&s.Title),
		"extends":   text(&s.Extends),
		"tool":      texts(&s.Tool),
		"reasoning": s.reasoningNames,
		"models":    texts(&s.Models),
		"notes":     texts(&s.Notes),
		"respell": func(r *reader, node *yaml.Node) error {
			s.respell, s.respells = map[string]string{}, Position{node.Line, node.Column}
			return named(func(r *reader, key string, node *yaml.Node) error {
				var to string
				if err := text(&to)(r, node); err != nil {
					return err
				}
				s.respell[key] = to
				return nil
			})(r, node)
		},
		"holes": func(r *reader, node *yaml.Node) error {
			s.Holes = map[string][]string{}
			return named(func(r *reader, key string, node *yaml.Node) error {
				var literals []string
				if err := texts(&literals)(r, node); err != nil {
					return err
				}
				s.Holes[key] = literals
				return nil
			})(r, node)
		},
		"tokens": texts(&s.Tokens),
		"needed": texts(&s.Needed),
		"turn": group(map[string]decode{
			"begin":  text(&s.Turn.Begin),
			"end":    text(&s.Turn.End),
			"resume": text(&s.Turn.Resume),
		}),
		"thinking":       thinking(&s.Thinking),
		"without_prompt": text(&s.WithoutPrompt, "inside"),
		"request": group(map[string]decode{
			"skip_special_tokens":           optionalTruth(&s.Request.SkipSpecialTokens),
			"spaces_between_special_tokens": optionalTruth(&s.Request.SpacesBetweenSpecialTokens),
		}),
		"constrain": group(map[string]decode{
			"forced":   text(&s.Constrain.Forced, "native", "json"),
			"tag":      text(&s.Constrain.Tag),
			"level":    text(&s.Constrain.Level, "auto", "function", "parameter"),
			"excludes": texts(&s.Constrain.Excludes),
		}),
		"detect": group(map[string]decode{
			"template":   texts(&s.Detect.Template),
			"vocabulary": texts(&s.Detect.Vocabulary),
			"not":        texts(&s.Detect.Not),
		}),
		"join":   text(&s.Join),
		"unwrap": texts(&s.Unwrap),
		"cannot": texts(&s.Cannot, Unwritable...),
		"ids":    text(&s.IDs, IDsPerConversation, IDsPerMessage, IDsPerMessageFromOne, IDsNineAlphanumerics),
		"written": group(map[string]decode{
			"keys":    text(&s.Written.Keys, "sorted"),
			"json":    text(&s.Written.JSON, "compact"),
			"strings": text(&s.Written.Strings, "single"),
			"words":   text(&s.Written.Words, "python", "json"),
			"lists":   text(&s.Written.Lists, "python", "json"),
			"objects": text(&s.Written.Objects, "python", "json"),
			"items":   text(&s.Written.Items),
		}),
		"thoughts": text(&s.Thoughts, "content"),
		"escapes":  text(&s.Escapes, "newlines"),
		"alone":    truth(&s.Alone),
		"from":     text(&s.From, "response_template"),
		"regions":  text(&s.Regions, "closed"),
		"slow":     text(&s.Slow),
		"grammar":  s.grammarText,
		"results":  s.resultsKey,
	}
}
