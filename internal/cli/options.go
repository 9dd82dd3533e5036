package cli

import (
	"github.com/spf13/cobra"

	"github.com/parlance-llm/parlance"
)

// options are the flags for what the library leaves to its user.
type options struct {
	whiteSpace, calls, unknownTools *choice
	heldLimit, argumentLimit        size
}

func addOptions(command *cobra.Command) *options {
	o := &options{heldLimit: 4 << 10, argumentLimit: 16 << 20}
	o.whiteSpace = addChoice(command, "white-space", "white space at the ends of a tray and between markup: left out, or kept", "trim", "exact")
	o.calls = addChoice(command, "calls", "calls of a stream: given out while they arrive, or held until they are whole and valid", "eager", "validated")
	o.unknownTools = addChoice(command, "unknown-tools", "calls of tools that are not declared: passed on, or left as text", "pass", "fail")
	command.Flags().Var(&o.heldLimit, "held-limit", "the most that is held of guards, headers, names and runs of closers")
	command.Flags().Var(&o.argumentLimit, "argument-limit", "the most that is held of arguments before their name, and of values that must be read whole")
	return o
}

// apply puts the options into a request.
func (o *options) apply(r *parlance.Request) {
	r.Exact = o.whiteSpace.value == "exact"
	r.Validated = o.calls.value == "validated"
	r.KnownToolsOnly = o.unknownTools.value == "fail"
	r.HeldLimit, r.ArgumentLimit = int(o.heldLimit), int(o.argumentLimit)
}
