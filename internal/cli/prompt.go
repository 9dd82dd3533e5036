package cli

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/parlance-llm/parlance"
	"github.com/parlance-llm/parlance/chattemplate"
	"github.com/parlance-llm/parlance/conformance"
	"github.com/parlance-llm/parlance/templates"
)

// promptFlags are what the command line of prompt says.
type promptFlags struct {
	template        *templateFlags
	tool, reasoning string
	tools           string
	generation      bool
	raw, json       bool
	plugins         *pluginFlags
}

// templateFlags are the flags that choose a chat template and its arguments.
type templateFlags struct {
	template, model, kwargs string
	format                  *choice
	lenient                 bool
}

func addTemplateFlags(command *cobra.Command) *templateFlags {
	f := &templateFlags{}
	flags := command.Flags()
	flags.StringVar(&f.template, "chat-template", "", "the chat template: a `FILE`, its text, or a name: of one of the model's templates, such as tool_use, or of one of ours")
	flags.StringVar(&f.model, "model", "", "the `FOLDER` of the model, for its chat templates and special tokens")
	flags.StringVar(&f.kwargs, "default-chat-template-kwargs", "", "arguments of the chat template where the request has none, a `JSON` object")
	f.format = addChoice(command, "chat-template-content-format", "how the content of messages is given to the template", "auto", "string", "openai")
	flags.BoolVar(&f.lenient, "lenient-chat-template", false, "go on where Python would refuse what the template does")
	completeOrFile(command, "chat-template", templates.Names)
	return f
}

// load finds the templates.
func (f *templateFlags) load() (*chattemplate.Set, error) {
	var options []chattemplate.Option
	if f.lenient {
		options = append(options, chattemplate.Lenient())
	}
	var model *chattemplate.Set
	if f.model != "" {
		var err error
		if model, err = chattemplate.Load(f.model, options...); err != nil {
			return nil, fmt.Errorf("--model: %w", err)
		}
	} else if f.template == "" {
		return nil, usagef("expected --chat-template or --model, found neither (our own templates: %s)", strings.Join(templates.Names(), ", "))
	}
	set, err := chattemplate.Resolve(f.template, model, options...)
	if err != nil {
		return nil, fmt.Errorf("--chat-template: %w", err)
	}
	return set, nil
}

func newPrompt() *cobra.Command {
	f := &promptFlags{}
	command := &cobra.Command{
		Use:   "prompt [REQUEST]",
		Short: "Print the prompt that a chat template makes of a request",
		Long: `Prompt renders the prompt of a request for chat completions, a JSON object with messages and tools, from the file REQUEST
or the standard input. What is there because of the tools is marked: in colour on a terminal, else between ⟪tools⟫ and
⟪/tools⟫. --raw prints the prompt alone, byte for byte.

On the standard error it warns if the template does not show the tools, since a model calls only what it is shown, and,
given --tool-call-parser, if the template writes calls in another format than the parser reads. Given --reasoning-parser
it says whether the answer begins inside a thought.`,
		Example: `  parlance prompt --chat-template hermes --tool-call-parser hermes request.json
  parlance prompt --model ~/models/Qwen3-8B --chat-template tool_use --raw request.json
  parlance prompt --chat-template my.jinja --json < request.json`,
		Args: takes(0, 1),
		RunE: func(command *cobra.Command, arguments []string) error { return f.run(command, arguments) },
	}
	flags := command.Flags()
	flags.SortFlags = false
	f.template = addTemplateFlags(command)
	flags.StringVar(&f.tools, "tools", "", "a `FILE` with the tools, instead of those of the request")
	flags.BoolVar(&f.generation, "add-generation-prompt", true, "end the prompt with the beginning of the answer")
	flags.StringVar(&f.tool, "tool-call-parser", "", "the `NAME` of the parser that will read the calls")
	flags.StringVar(&f.reasoning, "reasoning-parser", "", "the `NAME` of the parser that will read the reasoning")
	flags.BoolVar(&f.raw, "raw", false, "print the prompt and nothing else")
	flags.BoolVar(&f.json, "json", false, "print one JSON object: the prompt, where the tools are shown, and the warnings")
	f.plugins = addPlugins(command)
	completeParsers(command, f.plugins)
	return command
}

// promptRequest are the fields of a request that matter for its prompt.
type promptRequest struct {
	Messages            json.RawMessage `json:"messages"`
	Tools               json.RawMessage `json:"tools"`
	Documents           json.RawMessage `json:"documents"`
	Kwargs              json.RawMessage `json:"chat_template_kwargs"`
	ReasoningEffort     string          `json:"reasoning_effort"`
	AddGenerationPrompt *bool           `json:"add_generation_prompt"`
	ContinueFinal       bool            `json:"continue_final_message"`
}

// promptResult is what --json prints.
type promptResult struct {
	Prompt   string           `json:"prompt"`
	Tools    *promptToolBlock `json:"tools,omitzero"`
	Warnings []string         `json:"warnings"`
	// InThought is there if a reasoning parser was named.
	InThought *bool `json:"starts_in_thought,omitzero"`
}

// promptToolBlock is where the prompt shows the tools, in bytes.
type promptToolBlock struct {
	Start int `json:"start"`
	End   int `json:"end"`
}

func (f *promptFlags) run(command *cobra.Command, arguments []string) error {
	if f.raw && f.json {
		return usagef("expected --raw or --json, found both")
	}
	set, err := f.template.load()
	if err != nil {
		return err
	}
	chat, err := f.chat(command, arguments, set)
	if err != nil {
		return err
	}
	template, err := set.For(hasTools(chat.Tools))
	if err != nil {
		return err
	}
	shown, err := template.ShowTools(chat)
	if err != nil {
		return err
	}
	result, err := f.result(template, chat, shown)
	if err != nil {
		return err
	}
	return f.show(command, result)
}

func hasTools(tools []byte) bool {
	return len(tools) > 0 && string(tools) != "null"
}

// chat reads the request.
func (f *promptFlags) chat(command *cobra.Command, arguments []string, set *chattemplate.Set) (chat chattemplate.Chat, err error) {
	in, name, err := input(command, arguments)
	if err != nil {
		return chat, err
	}
	defer in.Close()
	data, err := io.ReadAll(in)
	if err != nil {
		return chat, fmt.Errorf("%s: %w", name, err)
	}
	var request promptRequest
	if err := conformance.Decode(data, &request); err != nil {
		return chat, fmt.Errorf("%s: expected a request for chat completions: %w", name, err)
	}
	if request.Messages == nil {
		return chat, fmt.Errorf("%s: messages: expected an array of messages, found nothing", name)
	}
	if f.tools != "" {
		if request.Tools, err = os.ReadFile(f.tools); err != nil {
			return chat, fmt.Errorf("--tools: %w", err)
		}
		if err := conformance.Decode(request.Tools, &[]json.RawMessage{}); err != nil {
			return chat, fmt.Errorf("%s: tools: %w", f.tools, err)
		}
	}
	chat = chattemplate.Chat{
		Messages: request.Messages, Tools: request.Tools, Documents: request.Documents, Kwargs: request.Kwargs,
		ReasoningEffort: request.ReasoningEffort, ContinueFinalMessage: request.ContinueFinal, Tokens: set.Tokens,
		AddGenerationPrompt: f.generation && !request.ContinueFinal, ContentFormat: chattemplate.ContentFormat(f.template.format.value),
		Defaults: []byte(f.template.kwargs),
	}
	if request.AddGenerationPrompt != nil && !command.Flags().Changed("add-generation-prompt") {
		chat.AddGenerationPrompt = *request.AddGenerationPrompt
	}
	return chat, nil
}

// result looks for what may be wrong with a prompt.
func (f *promptFlags) result(template *chattemplate.Template, chat chattemplate.Chat, shown chattemplate.Shown) (*promptResult, error) {
	result := &promptResult{Prompt: shown.Prompt, Warnings: append([]string{}, shown.Warnings...)}
	switch {
	case shown.End > shown.Start:
		result.Tools = &promptToolBlock{shown.Start, shown.End}
		if len(shown.Missing) > 0 {
			result.Warnings = append(result.Warnings, fmt.Sprintf("the template %s does not show these tools: %s", template.Name(), strings.Join(shown.Missing, ", ")))
		}
	case hasTools(chat.Tools) && len(shown.Missing) > 0:
		result.Warnings = append(result.Warnings, fmt.Sprintf("the template %s ignores the tools; the model cannot know that it may call them (--chat-template chooses another)", template.Name()))
	}
	if f.tool == "" && f.reasoning == "" {
		return result, nil
	}
	registry, err := f.plugins.Registry()
	if err != nil {
		return nil, err
	}
	parser, err := registry.Lookup(f.tool, f.reasoning)
	if err != nil {
		return nil, err
	}
	if f.tool != "" {
		if warning := callWarning(template, chat, parser); warning != "" {
			result.Warnings = append(result.Warnings, warning)
		}
	}
	if f.reasoning != "" {
		var kwargs map[string]any
		if len(chat.Kwargs) > 0 {
			if err := json.Unmarshal(chat.Kwargs, &kwargs); err != nil {
				return nil, fmt.Errorf("chat_template_kwargs: %w", err)
			}
		}
		inside := parser.PromptState(parlance.Request{Prompt: shown.Prompt, ChatTemplateKwargs: kwargs}).Inside
		result.InThought = &inside
	}
	return result, nil
}

// The probe is a call that a template is given to show, to see whether a parser reads it back.
const (
	probeName  = "get_weather"
	probeTools = `[{"type": "function", "function": {"name": "get_weather", "description": "Tells the weather.", "parameters": {"type": "object", "properties": {"city": {"type": "string", "description": "A city."}}, "required": ["city"]}}}]`
	probeTurn  = `{"role": "assistant", "content": "", "tool_calls": [{"id": "abcdefgh1", "type": "function", "function": {"name": "get_weather", "arguments": {"city": "Paris"}}}]}`
)

// callWarning tells what is wrong if the template shows a call so that the parser does not read it back.
func callWarning(template *chattemplate.Template, chat chattemplate.Chat, parser *parlance.Parser) string {
	chat.Messages, chat.Tools = []byte(`[{"role": "user", "content": "What is the weather in Paris?"}]`), []byte(probeTools)
	prompt, turn, err := template.Turn(chat, []byte(probeTurn))
	if err != nil {
		return fmt.Sprintf("the template %s does not show calls of earlier turns: %v", template.Name(), err)
	}
	if !strings.Contains(turn, probeName) {
		return fmt.Sprintf("the template %s leaves out the calls of earlier turns", template.Name())
	}
	tools, err := parlance.ParseTools([]byte(probeTools))
	if err != nil {
		panic(err) // they are right
	}
	message := parser.Parse(turn, parlance.Request{Tools: tools, Prompt: prompt}, parlance.FinishStop)
	if len(message.Calls) == 1 && message.Calls[0].Name == probeName {
		return ""
	}
	return fmt.Sprintf("the template %s shows calls that the parser %s does not read: %s", template.Name(), parser.ToolName(), visible(strings.TrimSpace(turn)))
}

func (f *promptFlags) show(command *cobra.Command, result *promptResult) error {
	out := bufio.NewWriter(command.OutOrStdout())
	if f.json {
		return errors.Join(writeLine(out, result), out.Flush())
	}
	for _, warning := range result.Warnings {
		fmt.Fprintln(command.ErrOrStderr(), "warning: "+warning)
	}
	if result.InThought != nil {
		state := "does not begin inside a thought"
		if *result.InThought {
			state = "begins inside a thought"
		}
		fmt.Fprintln(command.ErrOrStderr(), "the answer "+state)
	}
	switch p := newPalette(command.OutOrStdout()); {
	case f.raw:
		fmt.Fprint(out, result.Prompt)
	case result.Tools == nil:
		fmt.Fprintln(out, visible(result.Prompt))
	default:
		before, block, after := result.Prompt[:result.Tools.Start], result.Prompt[result.Tools.Start:result.Tools.End], result.Prompt[result.Tools.End:]
		open, end := "⟪tools⟫", "⟪/tools⟫"
		if p.on {
			open, end = "", ""
		}
		fmt.Fprintln(out, visible(before)+open+p.paint(cyan, visible(block))+end+visible(after))
	}
	return out.Flush()
}
