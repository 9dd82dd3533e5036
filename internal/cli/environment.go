package cli

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/parlance-llm/parlance"
	"github.com/parlance-llm/parlance/conformance"
	"github.com/parlance-llm/parlance/vocabulary"
)

// environmentFlags are the flags for what a whole run knows of its model.
type environmentFlags struct {
	tokenizer string
	plugins   *pluginFlags
	template  string
}

func addEnvironment(command *cobra.Command) *environmentFlags {
	f := &environmentFlags{plugins: addPlugins(command)}
	command.Flags().StringVar(&f.tokenizer, "tokenizer", "", "the `FOLDER` with the model's tokenizer; it says which markers are tokens, and chooses among dialects")
	if err := command.MarkFlagDirname("tokenizer"); err != nil {
		panic("cli: " + err.Error()) // the flag has just been added
	}
	command.Flags().StringVar(&f.template, "response-template", "", "a `FILE` with the template that the hf and beam parsers read, or the tokenizer_config.json that holds it; without it that of --tokenizer is read")
	return f
}

func (f *environmentFlags) given() bool {
	return f.tokenizer != "" || f.template != "" || f.plugins.given()
}

// read reads what the flags name.
func (f *environmentFlags) read() (e *conformance.Environment, err error) {
	e = &conformance.Environment{}
	if e.Registry, err = f.plugins.Registry(); err != nil {
		return nil, err
	}
	if f.tokenizer != "" {
		if e.Vocabulary, err = vocabulary.Load(f.tokenizer); err != nil {
			return nil, err
		}
	}
	switch {
	case f.template != "":
		data, err := os.ReadFile(f.template)
		if err != nil {
			return nil, fmt.Errorf("--response-template: %w", err)
		}
		if e.Template, err = parlance.ParseResponseTemplate(data); err != nil {
			return nil, fmt.Errorf("%s: %w", f.template, err)
		}
	case f.tokenizer != "":
		if e.Template, err = parlance.LoadResponseTemplate(f.tokenizer); err != nil {
			return nil, fmt.Errorf("%s: %w", f.tokenizer, err)
		}
	}
	return e, nil
}
