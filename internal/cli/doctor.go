package cli

import (
	"bufio"
	"encoding/json/jsontext"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/parlance-llm/parlance/conformance"
	"github.com/parlance-llm/parlance/doctor"
	"github.com/parlance-llm/parlance/engine"
	"github.com/parlance-llm/parlance/templates"
)

// doctorFlags are what the command line of doctor says.
type doctorFlags struct {
	options doctor.Options
	plugins *pluginFlags
	engine  *choice
	field   *choice
	kwargs  string
	json    bool
}

func newDoctor() *cobra.Command {
	f := &doctorFlags{}
	command := &cobra.Command{
		Use:   "doctor URL",
		Short: "Find out why a server's answers are not what they should be",
		Long: `Doctor asks the server at URL what the weather is, with a tool: whole and streamed, with the call forced, with a
response format beside the tool, with thinking off. It shows the prompt, what the model wrote, what became of it, and what
other parsers would make of it, and ends with a verdict: what is wrong, and the change to make.

URL is an engine (vLLM, SGLang, llama.cpp, Ollama, anything with /v1/completions), a server with an OpenAI interface, or
Parlance itself. With --tool-call-parser or --reasoning-parser an engine is examined as if Parlance stood in front of it
with these flags; without them its own chat route is examined, as its clients see it.

The status is 1 if something is wrong.`,
		Example: `  parlance doctor http://127.0.0.1:8000
  parlance doctor http://127.0.0.1:8080 --tool-call-parser hermes --reasoning-parser qwen3
  parlance doctor http://127.0.0.1:8000 --model qwen3-8b --json`,
		Args: takes(1, 1),
		RunE: func(command *cobra.Command, arguments []string) error {
			f.options.URL = arguments[0]
			return f.run(command)
		},
	}
	flags := command.Flags()
	flags.SortFlags = false
	flags.StringVar(&f.options.ToolCallParser, "tool-call-parser", "", "the `NAME` of the parser for tool calls")
	flags.StringVar(&f.options.ReasoningParser, "reasoning-parser", "", "the `NAME` of the parser for reasoning")
	flags.StringVar(&f.options.Model, "model", "", "the `NAME` of the model to ask (the server's first)")
	flags.StringVar(&f.options.APIKey, "api-key", "", "the `KEY` that the server wants")
	names := append([]string{"auto", doctor.Parlance}, engine.Names()...)
	f.engine = addChoice(command, "engine", "the `KIND` of the server: "+strings.Join(names[1:], ", ")+"; auto finds out", names...)
	flags.StringVar(&f.options.ChatTemplate, "chat-template", "", "the chat template: a `FILE`, its text, or the name of one of ours; without it that of the server, as far as it tells")
	flags.StringVar(&f.options.Tokenizer, "tokenizer", "", "the `FOLDER` with the model's tokenizer, to see whether it has the markers")
	flags.StringVar(&f.kwargs, "chat-template-kwargs", "", "arguments of the chat template to send along, a `JSON` object")
	flags.StringArrayVar(&f.options.Stop, "stop", nil, "a stop string, `TEXT`, to send along; may be given several times")
	flags.IntVar(&f.options.MaxTokens, "max-tokens", 2048, "the limit of each answer, in tokens")
	f.field = addChoice(command, "reasoning-field", "the field in which your client looks for the reasoning", "any", "reasoning", "reasoning_content")
	flags.BoolVar(&f.json, "json", false, "print one JSON object")
	f.plugins = addPlugins(command)
	completeParsers(command, f.plugins)
	completeOrFile(command, "chat-template", templates.Names)
	return command
}

func (f *doctorFlags) run(command *cobra.Command) error {
	if f.options.MaxTokens < 1 {
		return usagef("--max-tokens: expected a number from 1, found %d", f.options.MaxTokens)
	}
	f.options.Plugins, f.options.OverrideParsers = slices.Concat(f.plugins.Tool, f.plugins.Reasoning), f.plugins.Override
	if f.engine.value != "auto" {
		f.options.Engine = f.engine.value
	}
	if f.field.value != "any" {
		f.options.ReasoningField = f.field.value
	}
	if f.kwargs != "" {
		if err := conformance.Decode([]byte(f.kwargs), &f.options.Kwargs); err != nil {
			return &usageError{fmt.Errorf("--chat-template-kwargs: %w", err)}
		}
	}
	r, err := doctor.Examine(command.Context(), f.options)
	if err != nil {
		return err
	}
	out := bufio.NewWriter(command.OutOrStdout())
	if f.json {
		err = writeLine(out, r)
	} else {
		showExamination(out, newPalette(command.OutOrStdout()), r)
	}
	if err := errors.Join(err, out.Flush()); err != nil {
		return err
	}
	if r.Wrong() {
		return errSilent
	}
	return nil
}

// showExamination prints a report for people, the verdict last.
func showExamination(out io.Writer, p palette, r *doctor.Report) {
	fmt.Fprintf(out, "%s is %s and serves %s; examined through %s.\n", r.URL, r.Target, visible(r.Model), r.Through)
	how := "the flags say so"
	if r.Assumed {
		how = "no flag says so: what the model wrote does"
	}
	if r.ToolCallParser+r.ReasoningParser != "" {
		fmt.Fprintf(out, "The raw text is read by%s%s (%s).\n", flagOf(" --tool-call-parser ", r.ToolCallParser), flagOf(" --reasoning-parser ", r.ReasoningParser), how)
	}
	if r.Template != "" {
		fmt.Fprintf(out, "The chat template comes from %s; it looks like %s.\n", r.Template, or(r.TemplateFlags, "no format that is known"))
	}
	fmt.Fprintln(out)
	part := func(c colour, title, text, missing string) {
		heading(out, p, c, title)
		if text == "" {
			text = p.paint(faint, missing)
		}
		fmt.Fprintf(out, "%s\n\n", strings.TrimSuffix(text, "\n"))
	}
	part(faint, "the prompt", visible(r.Prompt), "(not known: the server does not tell; --chat-template can)")
	raw, finish := "", ""
	switch {
	case r.Raw == nil:
	case r.Raw.Error != "":
		raw = p.paint(red, visible(r.Raw.Error))
	default:
		raw, finish = visible(r.Raw.Text), " (finish reason "+string(r.Raw.Finish)+")"
	}
	part(bold, "what the model wrote"+finish, raw, "(not known: the server has no route for it, or the prompt is not known)")
	if r.Read != nil {
		part(bold, "what the parser makes of it", reply(p, r.Read), "")
	}
	part(bold, "what a client gets, whole", reply(p, r.Whole), "")
	if r.Streamed != nil {
		part(bold, "what a client gets, streamed", reply(p, r.Streamed), "")
	}
	for _, other := range []struct {
		title string
		reply *doctor.Reply
	}{{"with the call forced", r.Forced}, {"with a response format beside the tool", r.Format}, {"with thinking off", r.Off}} {
		if other.reply != nil {
			part(faint, other.title, reply(p, other.reply), "")
		}
	}
	for _, o := range r.Others {
		like := ""
		if len(o.Like) > 0 {
			like = p.paint(faint, "(and so would "+strings.Join(o.Like, ", ")+")") + "\n"
		}
		part(faint, "what "+o.Tool+o.Reasoning+" would make of it", like+reply(p, o.Read), "")
	}
	showFindings(out, p, r)
}

func flagOf(flag, value string) string {
	if value == "" {
		return ""
	}
	return flag + value
}

func or(text, otherwise string) string {
	if text == "" {
		return otherwise
	}
	return text
}

// reply is an answer in a few lines.
func reply(p palette, r *doctor.Reply) string {
	if r.Error != "" {
		return p.paint(red, fmt.Sprintf("status %d: %s", r.Status, visible(r.Error)))
	}
	var lines []string
	line := func(c colour, name, text string) {
		lines = append(lines, p.paint(c, fmt.Sprintf("%-10s", name))+" "+text)
	}
	quote := func(text string) string {
		data, _ := jsontext.AppendQuote(nil, text)
		return visible(string(data))
	}
	if r.Reasoning != "" {
		line(colours["reasoning"], "reasoning", quote(r.Reasoning))
	}
	if r.Content != "" {
		line(colours["content"], "content", quote(r.Content))
	}
	for _, call := range r.Calls {
		line(colours["tool calls"], "tool call", visible(call.Name)+" "+visible(call.Arguments))
	}
	if r.Finish != "" {
		end := r.Finish
		if r.Stop != "" {
			end += ", stopped by " + quote(r.Stop)
		}
		line(faint, "finish", end)
	}
	for _, w := range r.Warnings {
		line(yellow, "warning", visible(w))
	}
	return strings.Join(lines, "\n")
}

// showFindings prints what was found, and the verdict.
func showFindings(out io.Writer, p palette, r *doctor.Report) {
	heading(out, p, bold, "verdict")
	if len(r.Findings) == 0 {
		fmt.Fprintln(out, p.paint(green, "Nothing is wrong."))
	}
	for i, f := range r.Findings {
		c, kind := red, ""
		if f.Note {
			c, kind = yellow, "note: "
		}
		fmt.Fprintf(out, "%d. %s %s%s\n   %s %s\n", i+1, p.paint(c, f.Code), kind, visible(f.Says), p.paint(bold, "change:"), visible(f.Change))
	}
}
