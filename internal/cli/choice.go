package cli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
)

// choice is a flag with a few values.
type choice struct {
	value   string
	allowed []string
}

// Set implements pflag.Value.
func (c *choice) Set(text string) error {
	if !slices.Contains(c.allowed, text) {
		return fmt.Errorf("expected %s, found %q", strings.Join(c.allowed, " or "), text)
	}
	c.value = text
	return nil
}

// Type implements pflag.Value.
func (c *choice) Type() string { return strings.Join(c.allowed, "|") }

func (c *choice) String() string { return c.value }

// addChoice adds a flag with a few values, the first of which holds if it is not given.
func addChoice(command *cobra.Command, name, usage string, allowed ...string) *choice {
	c := &choice{value: allowed[0], allowed: allowed}
	command.Flags().Var(c, name, usage)
	complete(command, name, func() []string { return allowed })
	return c
}

// complete gives the shell the values of a flag.
func complete(command *cobra.Command, flag string, values func() []string) {
	completeWith(command, flag, values, cobra.ShellCompDirectiveNoFileComp)
}

// completeOrFile gives the shell the names that a flag takes beside files.
func completeOrFile(command *cobra.Command, flag string, values func() []string) {
	completeWith(command, flag, values, cobra.ShellCompDirectiveDefault)
}

func completeWith(command *cobra.Command, flag string, values func() []string, directive cobra.ShellCompDirective) {
	err := command.RegisterFlagCompletionFunc(flag, func(_ *cobra.Command, _ []string, begun string) ([]string, cobra.ShellCompDirective) {
		// The shell is given files only where nothing else fits, so what does not fit is left out here.
		return slices.DeleteFunc(slices.Clone(values()), func(value string) bool { return !strings.HasPrefix(value, begun) }), directive
	})
	if err != nil {
		panic("cli: " + err.Error()) // the flag has just been added
	}
}
