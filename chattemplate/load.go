package chattemplate

import (
	"encoding/json/jsontext"
	"encoding/json/v2"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/parlance-llm/parlance/internal/explain"
)

// defaultName and toolName are the names that transformers gives the templates of a model with several: tool_use is
// taken where a request has tools, if there is one, and default otherwise.
const (
	defaultName = "default"
	toolName    = "tool_use"
)

// Set are the templates of a model, by their names.
type Set struct {
	// Tokens are the texts of the model's special tokens by their names, such as bos_token, as far as they were found.
	Tokens    map[string]string
	templates map[string]*Template
	from      string
}

// LoadError says that the templates of a model cannot be had. It wraps the cause.
type LoadError struct {
	Path string
	Err  error
}

func (e *LoadError) Error() string { return fmt.Sprintf("chat template %s: %v", e.Path, e.Err) }
func (e *LoadError) Unwrap() error { return e.Err }

// ErrNoTemplate says that a model has no chat template.
var ErrNoTemplate = errors.New("there is no chat template")

// Load reads the templates of a model: from its folder, or from one file, which is a template, or a
// tokenizer_config.json or chat_template.json that holds some.
//
// In a folder chat_template.jinja and the files of additional_chat_templates go before those held by
// tokenizer_config.json and chat_template.json. The special tokens are those of tokenizer_config.json. A folder without
// a template gives an empty set.
func Load(path string, options ...Option) (*Set, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, &LoadError{path, err}
	}
	l := loader{set: &Set{Tokens: map[string]string{}, templates: map[string]*Template{}, from: path}, options: options}
	switch {
	case info.IsDir():
		err = l.folder(path)
	case filepath.Ext(path) == ".json":
		err = l.config(path)
	default:
		err = l.template(defaultName, path)
	}
	if err != nil {
		return nil, err
	}
	return l.set, nil
}

type loader struct {
	set     *Set
	options []Option
}

func (l *loader) folder(path string) error {
	for _, name := range []string{"tokenizer_config.json", "chat_template.json"} {
		if err := l.config(filepath.Join(path, name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	if err := l.template(defaultName, filepath.Join(path, "chat_template.jinja")); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	more, err := filepath.Glob(filepath.Join(path, "additional_chat_templates", "*.jinja"))
	if err != nil {
		return &LoadError{path, err}
	}
	for _, file := range more {
		if err := l.template(strings.TrimSuffix(filepath.Base(file), ".jinja"), file); err != nil {
			return err
		}
	}
	return nil
}

func (l *loader) template(name, path string) error {
	source, err := os.ReadFile(path)
	if err != nil {
		return &LoadError{path, err}
	}
	return l.add(name, path, string(source))
}

func (l *loader) add(name, path, source string) error {
	t, err := Parse(path, source, l.options...)
	if err == nil {
		l.set.templates[name] = t
	}
	return err
}

// config reads the templates and special tokens of a JSON file of a tokenizer.
func (l *loader) config(path string) error {
	data, err := os.ReadFile(path)
	if err != nil {
		return &LoadError{path, err}
	}
	var members map[string]jsontext.Value
	if err := json.Unmarshal(data, &members, lenient); err != nil {
		return &LoadError{path, explain.Error(err)}
	}
	for name, value := range members {
		if strings.HasSuffix(name, "_token") {
			if text, ok := tokenText(value); ok {
				l.set.Tokens[name] = text
			}
		}
	}
	held := members["chat_template"]
	if len(held) == 0 || string(held) == "null" {
		return nil
	}
	var one string
	if json.Unmarshal(held, &one, lenient) == nil {
		return l.add(defaultName, path, one)
	}
	var several []struct {
		Name     string `json:"name"`
		Template string `json:"template"`
	}
	if err := json.Unmarshal(held, &several, lenient); err != nil {
		return &LoadError{path, fmt.Errorf("chat_template: expected a text, or an array of templates with names: %w", explain.Error(err))}
	}
	for _, named := range several {
		if err := l.add(named.Name, path+": "+named.Name, named.Template); err != nil {
			return err
		}
	}
	return nil
}

// lenient: the files come from many tools, and what matters here is whether they can be understood.
var lenient = json.JoinOptions(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))

// tokenText reads a special token, which is a text or an object that holds one.
func tokenText(value jsontext.Value) (text string, ok bool) {
	if json.Unmarshal(value, &text, lenient) == nil {
		return text, string(value) != "null"
	}
	var token struct {
		Content *string `json:"content"`
	}
	if json.Unmarshal(value, &token, lenient) == nil && token.Content != nil {
		return *token.Content, true
	}
	return "", false
}

// Names are the names of the templates, sorted.
func (s *Set) Names() []string {
	names := make([]string, 0, len(s.templates))
	for name := range s.templates {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// Named gives the template of a name.
func (s *Set) Named(name string) (*Template, bool) {
	t, ok := s.templates[name]
	return t, ok
}

// For gives the template for a request with or without tools: tool_use for one with tools, if there is such a template,
// else default. The error wraps ErrNoTemplate.
func (s *Set) For(tools bool) (*Template, error) {
	if t := s.templates[toolName]; tools && t != nil {
		return t, nil
	}
	if t := s.templates[defaultName]; t != nil {
		return t, nil
	}
	if len(s.templates) > 0 {
		return nil, &LoadError{s.from, fmt.Errorf("%w of the name default; there are %s", ErrNoTemplate, strings.Join(s.Names(), ", "))}
	}
	return nil, &LoadError{s.from, ErrNoTemplate}
}

// One makes a set of one template, which every request gets.
func One(t *Template) *Set {
	return &Set{Tokens: map[string]string{}, templates: map[string]*Template{defaultName: t}, from: t.name}
}
