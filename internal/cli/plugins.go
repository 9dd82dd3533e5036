package cli

import (
	"github.com/spf13/cobra"

	"github.com/parlance-llm/parlance"
	"github.com/parlance-llm/parlance/internal/plugins"
)

// pluginFlags are the flags for formats beside the built-in ones.
type pluginFlags struct{ plugins.Flags }

func addPlugins(command *cobra.Command) *pluginFlags {
	f := &pluginFlags{}
	flags := command.Flags()
	flags.StringArrayVar(&f.Tool, "tool-parser-plugin", nil, "a `FILE` with the definition of a format, or a folder of them, whose parsers can be named; may be repeated")
	flags.StringArrayVar(&f.Reasoning, "reasoning-parser-plugin", nil, "the same `FILE` or folder for reasoning; a definition may hold both halves")
	flags.BoolVar(&f.Override, "override-parsers", false, "let the definitions of plug-ins take names of built-in formats and parsers")
	for _, flag := range []string{"tool-parser-plugin", "reasoning-parser-plugin"} {
		if err := command.MarkFlagFilename(flag, "yaml"); err != nil {
			panic("cli: " + err.Error()) // the flag has just been added
		}
	}
	return f
}

func (f *pluginFlags) given() bool { return len(f.Tool)+len(f.Reasoning) > 0 }

// available is the registry, or that of the built-in formats if a plug-in is broken: enough for the shell.
func (f *pluginFlags) available() *parlance.Registry {
	r, err := f.Registry()
	if err != nil {
		r = parlance.Default()
	}
	return r
}

// completeParsers gives the shell the names of parsers, those of plug-ins too.
func completeParsers(command *cobra.Command, f *pluginFlags) {
	complete(command, "tool-call-parser", func() []string { return f.available().ToolNames() })
	complete(command, "reasoning-parser", func() []string { return f.available().ReasoningNames() })
}
