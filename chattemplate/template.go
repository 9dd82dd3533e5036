package chattemplate

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/ardanlabs/jinja"
)

// Limits bound a rendering. A field that is zero has its default.
type Limits struct {
	// Source bounds the source of a template, in bytes; 1 MiB by default.
	Source int
	// Steps bounds the turns of all loops and the calls of macros; ten million by default.
	Steps int
	// Output bounds the text and the lists that are made on the way, in bytes; 512 MiB by default, 1 GiB at most. What a
	// loop prints counts with every turn, and every text that is put together counts, so it is several times the length
	// of the longest prompt.
	Output int
}

// maxOutput bounds what a rendering can make, whatever its limits.
const maxOutput = 1 << 30

func (l Limits) orDefault() Limits {
	if l.Source == 0 {
		l.Source = 1 << 20
	}
	if l.Steps == 0 {
		l.Steps = 10_000_000
	}
	if l.Output == 0 {
		l.Output = 512 << 20
	}
	l.Output = min(l.Output, maxOutput)
	return l
}

// Option changes how a template is read and run.
type Option func(*Template)

// Lenient lets a template go on where Python refuses: an undefined value prints nothing, null prints None, and methods
// that change a value do.
func Lenient() Option { return func(t *Template) { t.lenient = true } }

// WithLimits sets limits.
func WithLimits(l Limits) Option { return func(t *Template) { t.limits = l.orDefault() } }

// Template is a chat template that has been read. It is immutable; any number of goroutines may render it at once.
type Template struct {
	name, source string
	lenient      bool
	limits       Limits
	compiled     *jinja.Template
	functions    []string
	variables    []string
	texts        []string
	// contentFormat, knowsDeveloper and asksForText are what the template expects of messages.
	contentFormat               ContentFormat
	knowsDeveloper, asksForText bool
}

// Parse reads the source of a template. The name is for errors. The error is a *SyntaxError.
func Parse(name, source string, options ...Option) (*Template, error) {
	t := &Template{name: name, source: source, limits: Limits{}.orDefault()}
	for _, option := range options {
		option(t)
	}
	if len(source) > t.limits.Source {
		return nil, &SyntaxError{name, 1, fmt.Sprintf("it is longer than %d bytes", t.limits.Source)}
	}
	w, err := t.compile(false)
	if err != nil {
		if at := (*lineError)(nil); errors.As(err, &at) {
			return nil, &SyntaxError{name, max(at.line, 1), at.message}
		}
		return nil, &SyntaxError{name, 1, err.Error()}
	}
	t.compiled, t.functions, t.texts = w.compiled, slices.Sorted(maps.Keys(w.functions)), w.texts
	for name := range w.variables {
		if !w.assigned[name] && globals[name] == nil && name != "loop" {
			t.variables = append(t.variables, name)
		}
	}
	slices.Sort(t.variables)
	t.contentFormat, t.asksForText = w.content.format(), w.content.text
	t.knowsDeveloper = slices.ContainsFunc(w.texts, func(s string) bool { return strings.Contains(s, "developer") })
	return t, nil
}

// compile writes the template for the library. A traced one also notes its lines.
func (t *Template) compile(traced bool) (*writer, error) {
	w := newWriter()
	w.traced = traced
	parts, err := lex(t.source)
	if err == nil {
		err = w.write(parts)
	}
	if err == nil {
		w.compiled, err = jinja.Compile(strings.Join(w.out, ""))
	}
	return w, err
}

// Name is the name the template was read under.
func (t *Template) Name() string { return t.name }

// Source is what the template was read from.
func (t *Template) Source() string { return t.source }

// Variables are the names that the template takes from the request, sorted: messages, tools, and the switches it knows.
// A name that the template also assigns a value itself is not among them, unless it is one that every template gets.
func (t *Template) Variables() []string { return slices.Clone(t.variables) }

// Texts are the strings and the text of the template itself, in their order.
func (t *Template) Texts() []string { return slices.Clone(t.texts) }

// Request is what a template is rendered with. Messages, Tools and Documents are JSON texts as the client wrote them:
// the order of keys is seen in the prompt.
type Request struct {
	// Messages is an array of messages.
	Messages []byte
	// Tools is an array of tools; nothing is none.
	Tools []byte
	// Documents is an array of documents; nothing is none.
	Documents []byte
	// AddGenerationPrompt ends the prompt with the beginning of the assistant's turn.
	AddGenerationPrompt bool
	// ContinueFinalMessage ends the prompt within the last message.
	ContinueFinalMessage bool
	// Variables is an object of further variables, the chat template's arguments; nothing is none. Variables of the names
	// above are not heeded.
	Variables []byte
	// Tokens are the texts of special tokens by their names, such as bos_token. Variables go before them.
	Tokens map[string]string
	// Now is what strftime_now prints; zero is the local time.
	Now time.Time
}

// Render renders the prompt. The error is a *RenderError, or a *RequestError if the request is no JSON.
func (t *Template) Render(request Request) (string, error) {
	variables, err := request.variables()
	if err != nil {
		return "", err
	}
	return t.render(variables, request)
}

// variables makes the variables of a request.
func (request *Request) variables() (map[string]jinja.Value, error) {
	out := map[string]jinja.Value{}
	for name, token := range request.Tokens {
		out[name] = jinja.NewString(token)
	}
	more, err := readValue(request.Variables)
	if err != nil || !more.IsDict() && !more.IsNone() {
		return nil, &RequestError{"chat_template_kwargs", expected("an object", more, err)}
	}
	if more.IsDict() {
		maps.Copy(out, more.AsDict().Data)
	}
	for _, field := range []struct {
		name     string
		data     []byte
		optional bool
	}{{"messages", request.Messages, false}, {"tools", request.Tools, true}, {"documents", request.Documents, true}} {
		v, err := readValue(field.data)
		if err != nil || !v.IsList() && !(field.optional && v.IsNone()) {
			return nil, &RequestError{field.name, expected("an array", v, err)}
		}
		out[field.name] = v
	}
	out["add_generation_prompt"] = jinja.NewBool(request.AddGenerationPrompt)
	return out, nil
}

func expected(what string, found jinja.Value, err error) string {
	if err != nil {
		return fmt.Sprintf("expected %s: %v", what, err)
	}
	return fmt.Sprintf("expected %s, found %s", what, kind(found))
}

// render renders variables that are made.
func (t *Template) render(variables map[string]jinja.Value, request Request) (prompt string, err error) {
	r := &rendering{limits: t.limits, lenient: t.lenient, now: request.Now}
	if r.now.IsZero() {
		r.now = time.Now()
	}
	tail := ""
	if request.ContinueFinalMessage {
		if tail, err = markFinalMessage(variables["messages"]); err != nil {
			return "", err
		}
	}
	prompt, err = t.run(r, t.compiled, t.functions, variables)
	if err == nil && request.ContinueFinalMessage {
		prompt, err = cutFinalMessage(prompt, tail)
	}
	if err == nil {
		return prompt, nil
	}
	known := (*RenderError)(nil)
	if !errors.As(err, &known) {
		known = &RenderError{Reason: Refused, Message: err.Error()}
	}
	known.Template = t.name
	if known.Reason == Refused || known.Reason == Failed {
		known.Line = t.failing(variables, r.now)
	}
	return "", known
}

// run renders once.
func (t *Template) run(r *rendering, compiled *jinja.Template, functions []string, variables map[string]jinja.Value) (prompt string, err error) {
	values := make(map[string]jinja.Value, len(variables)+len(functions))
	r.bind(functions, values)
	for name, v := range variables {
		values[identifier(name)] = v
	}
	defer func() {
		if e := recover(); e != nil {
			prompt, err = "", &RenderError{Reason: Failed, Message: fmt.Sprint(e)}
		}
	}()
	if prompt, err = compiled.RenderValues(values); err == nil {
		err = r.refused
	}
	return prompt, err
}

// failing finds the line at which a rendering fails, by doing it again with an eye on the lines; 0 if it does not fail
// there again.
func (t *Template) failing(variables map[string]jinja.Value, now time.Time) int {
	w, err := t.compile(true)
	if err != nil {
		return 0
	}
	again := &rendering{limits: t.limits, lenient: t.lenient, now: now}
	if _, err := t.run(again, w.compiled, slices.Sorted(maps.Keys(w.functions)), variables); err == nil {
		return 0
	}
	return again.line
}

// finalMark is put behind the message that the model is to go on with, so that the prompt can be cut there.
const finalMark = "CONTINUE_FINAL_MESSAGE_TAG "

// markFinalMessage marks the end of the last message and gives its text.
func markFinalMessage(messages jinja.Value) (string, error) {
	all := messages.AsList().Items
	missing := &RequestError{"continue_final_message", "the last message has no text to go on with"}
	if len(all) == 0 || !all[len(all)-1].IsDict() {
		return "", missing
	}
	message := all[len(all)-1].AsDict()
	content, _ := message.Get("content")
	if content.IsList() {
		for i := content.AsList().Len() - 1; i >= 0; i-- {
			part := content.AsList().Get(i)
			if !part.IsDict() {
				continue
			}
			if text, _ := part.AsDict().Get("text"); text.IsString() {
				part.AsDict().Set("text", jinja.NewString(text.AsString()+finalMark))
				return text.AsString(), nil
			}
		}
		return "", missing
	}
	if !content.IsString() {
		return "", missing
	}
	message.Set("content", jinja.NewString(content.AsString()+finalMark))
	return content.AsString(), nil
}

// cutFinalMessage cuts a prompt behind the last message.
func cutFinalMessage(prompt, text string) (string, error) {
	mark := strings.TrimSpace(finalMark)
	at := strings.LastIndex(prompt, mark)
	if at < 0 || !strings.Contains(prompt, strings.TrimFunc(text, isSpace)) {
		return "", &RenderError{Reason: Refused, Message: "the last message cannot be gone on with: the template does not print it as it stands"}
	}
	if strings.HasPrefix(prompt[at:], finalMark) {
		return prompt[:at], nil
	}
	return strings.TrimRightFunc(prompt[:at], isSpace), nil
}
