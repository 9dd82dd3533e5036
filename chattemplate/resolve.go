package chattemplate

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/parlance-llm/parlance/templates"
)

// Resolve finds the templates that an operator asks for, which is the value of --chat-template. It is, the first that
// fits:
//
//   - nothing: the model's own templates;
//   - the source of a template, known by its {{ or {%;
//   - the name of one of the model's templates, such as tool_use;
//   - a file, or a folder that Load reads;
//   - the name of one of our templates; see the package templates.
//
// model are the templates of the model, nil if they are not known. Its special tokens stay.
func Resolve(value string, model *Set, options ...Option) (*Set, error) {
	if model == nil {
		model = &Set{from: "of the model"}
	}
	found, err := resolve(value, model, options)
	if err != nil || found == model {
		return found, err
	}
	for name, token := range model.Tokens {
		if _, ok := found.Tokens[name]; !ok {
			found.Tokens[name] = token
		}
	}
	return found, nil
}

func resolve(value string, model *Set, options []Option) (*Set, error) {
	if value == "" {
		return model, nil
	}
	if strings.Contains(value, "{{") || strings.Contains(value, "{%") {
		return parsed("given on the command line", value, options)
	}
	if t, ok := model.Named(value); ok {
		return One(t), nil
	}
	if _, err := os.Stat(value); err == nil {
		return Load(value, options...)
	} else if !errors.Is(err, fs.ErrNotExist) {
		return nil, &LoadError{value, err}
	}
	if source, ok := templates.Source(value); ok {
		return parsed(value, source, options)
	}
	known := slices.Concat(model.Names(), templates.Names())
	return nil, &LoadError{value, fmt.Errorf("expected a file, a folder, the source of a template, or one of the names %s", strings.Join(known, ", "))}
}

func parsed(name, source string, options []Option) (*Set, error) {
	t, err := Parse(name, source, options...)
	if err != nil {
		return nil, err
	}
	return One(t), nil
}
