package cli

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json/jsontext"
	"encoding/json/v2"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/parlance-llm/parlance"
	"github.com/parlance-llm/parlance/engine"
	"github.com/parlance-llm/parlance/server"
	"github.com/parlance-llm/parlance/server/config"
)

// demo is the server on the recordings that are built in, and two exchanges with it.
type demo struct {
	port  int
	model string
	once  bool
}

func newDemo() *cobra.Command {
	d := &demo{}
	command := &cobra.Command{
		Use:   "demo",
		Short: "Show a whole and a streamed answer, with no model",
		Long: `Demo starts the server on recordings that are built in, asks it for one answer whole and once more as a stream, and
shows what the model had written and what clients get. On a terminal the server then goes on, so that you can ask it
yourself; Ctrl-C ends it.`,
		Args: takes(0, 0),
		RunE: func(command *cobra.Command, _ []string) error { return d.run(command) },
	}
	command.Flags().IntVar(&d.port, "port", 8000, "the port to serve on; if it is taken, a free one is")
	command.Flags().StringVar(&d.model, "model", "qwen3-8b", "the `MODEL` whose recordings to show")
	command.Flags().BoolVar(&d.once, "once", false, "end after the two answers, on a terminal too")
	return command
}

func (d *demo) run(command *cobra.Command) error {
	flags := pflag.NewFlagSet("serve", pflag.ContinueOnError)
	c := config.Register(flags)
	if err := flags.Parse([]string{"--host", "127.0.0.1", "--port", strconv.Itoa(d.freePort()), "--responses-store", "memory", "--playground"}); err != nil {
		return err
	}
	if err := c.Load(flags, func(string) (string, bool) { return "", false }); err != nil {
		return err
	}
	s, err := server.New(c, slog.New(slog.NewTextHandler(command.ErrOrStderr(), &slog.HandlerOptions{Level: slog.LevelWarn})))
	if err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(command.Context(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	serving, end := context.WithCancel(ctx)
	defer end()
	opened, ended := make(chan string, 1), make(chan error, 1)
	go func() { ended <- s.Run(serving, func(address string) { opened <- address }) }()
	select {
	case err := <-ended:
		return err
	case address := <-opened:
		if err := d.show(ctx, command.OutOrStdout(), "http://"+address); err != nil {
			return err
		}
	}
	if d.once || !isTerminal(command.OutOrStdout()) {
		end()
		fmt.Fprintln(command.OutOrStdout(), "\nThe server has ended; on a terminal, without --once, it goes on.")
	} else {
		fmt.Fprintln(command.OutOrStdout(), "\nThe server goes on. Ctrl-C ends it.")
	}
	return <-ended
}

// freePort is the port that was asked for, or 0 if somebody has it.
func (d *demo) freePort() int {
	listener, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(d.port)))
	if err != nil {
		return 0
	}
	listener.Close()
	return d.port
}

const (
	demoQuestion = "What is the weather in Paris?"
	demoTool     = `{"type":"function","function":{"name":"get_weather","description":"The weather in a city","parameters":{"type":"object","properties":{"city":{"type":"string"}},"required":["city"]}}}`
)

// body is the request of the demo.
func (d *demo) body(stream bool) string {
	more := ""
	if stream {
		more = `,"stream":true,"stream_options":{"include_usage":true}`
	}
	return `{"model":"` + d.model + `","messages":[{"role":"user","content":"` + demoQuestion + `"}],"tools":[` + demoTool + `]` + more + `}`
}

func (d *demo) show(ctx context.Context, out io.Writer, url string) error {
	p := newPalette(out)
	text, err := d.written(ctx)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "%s\n\n", p.paint(bold, "The question: "+demoQuestion+" The tool: get_weather(city)."))
	heading(out, p, faint, "what the model "+d.model+" wrote")
	fmt.Fprintf(out, "%s\n\n", visible(text))
	if err := d.showWhole(ctx, out, p, url); err != nil {
		return err
	}
	if err := d.showStream(ctx, out, p, url); err != nil {
		return err
	}
	heading(out, p, bold, "try it")
	fmt.Fprintf(out, `
curl -N %[1]s/v1/chat/completions -H 'Content-Type: application/json' -d '%[2]s'

from openai import OpenAI
client = OpenAI(base_url="%[1]s/v1", api_key="none")
answer = client.chat.completions.create(model="%[3]s", messages=[{"role": "user", "content": "%[4]s"}],
    tools=[%[5]s])
print(answer.choices[0].message)

curl %[1]s/v1/models   # the other models whose recordings are here

%[1]s/playground/   in a browser: what became of every character
%[1]s/docs/         the documentation
`, url, d.body(true), d.model, demoQuestion, demoTool)
	return nil
}

// written is what the recorded model writes.
func (d *demo) written(ctx context.Context) (string, error) {
	e, err := engine.Open("replay", engine.Options{ReplaySpeed: -1})
	if err != nil {
		return "", err
	}
	defer e.Close()
	prompt, err := e.ApplyTemplate(ctx, &engine.Conversation{
		Model: d.model, Messages: jsontext.Value(`[{"role":"user","content":"` + demoQuestion + `"}]`), Tools: jsontext.Value("[" + demoTool + "]"),
	})
	if err != nil {
		return "", err
	}
	stream, err := e.Generate(ctx, &engine.Request{Model: d.model, Prompt: prompt})
	if err != nil {
		return "", err
	}
	answer, err := engine.Collect(stream)
	return answer.Text, err
}

// ask posts the request.
func (d *demo) ask(ctx context.Context, url string, stream bool) (*http.Response, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, url+"/v1/chat/completions", strings.NewReader(d.body(stream)))
	if err != nil {
		return nil, err
	}
	request.Header.Set("Content-Type", "application/json")
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, err
	}
	if response.StatusCode != http.StatusOK {
		defer response.Body.Close()
		text, _ := io.ReadAll(response.Body)
		return nil, fmt.Errorf("the server answered %s: %s", response.Status, text)
	}
	return response, nil
}

// demoMessage is what the demo reads of an answer, or of a chunk of one.
type demoMessage struct {
	Reasoning string `json:"reasoning"`
	Content   string `json:"content"`
	Calls     []struct {
		ID       string `json:"id"`
		Index    int    `json:"index"`
		Function struct {
			Name      string `json:"name"`
			Arguments string `json:"arguments"`
		} `json:"function"`
	} `json:"tool_calls"`
}

func (d *demo) showWhole(ctx context.Context, out io.Writer, p palette, url string) error {
	response, err := d.ask(ctx, url, false)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	var answer struct {
		Choices []struct {
			Message demoMessage `json:"message"`
			Finish  string      `json:"finish_reason"`
		} `json:"choices"`
	}
	if err := json.UnmarshalRead(response.Body, &answer); err != nil {
		return err
	}
	if len(answer.Choices) == 0 {
		return errors.New("the server answered without a choice")
	}
	choice := answer.Choices[0]
	m := &parlance.Message{Reasoning: choice.Message.Reasoning, Content: choice.Message.Content}
	for _, call := range choice.Message.Calls {
		m.Calls = append(m.Calls, parlance.Call{ID: call.ID, Name: call.Function.Name, Arguments: call.Function.Arguments})
	}
	fmt.Fprintf(out, "%s\n\n", p.paint(bold, "What a client gets, whole (finish_reason "+choice.Finish+"):"))
	showMessage(out, p, m)
	fmt.Fprintln(out)
	return nil
}

func (d *demo) showStream(ctx context.Context, out io.Writer, p palette, url string) error {
	response, err := d.ask(ctx, url, true)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	fmt.Fprintf(out, "%s\n\n", p.paint(bold, "What a client gets, streamed (one line a chunk):"))
	lines := bufio.NewScanner(response.Body)
	for lines.Scan() {
		data, ok := bytes.CutPrefix(lines.Bytes(), []byte("data: "))
		if !ok || string(data) == "[DONE]" {
			continue
		}
		var chunk struct {
			Choices []struct {
				Delta  demoMessage `json:"delta"`
				Finish string      `json:"finish_reason"`
			} `json:"choices"`
			Usage jsontext.Value `json:"usage"`
		}
		if err := json.Unmarshal(data, &chunk); err != nil {
			return fmt.Errorf("a chunk could not be read: %w", err)
		}
		for _, choice := range chunk.Choices {
			showChunk(out, p, choice.Delta, choice.Finish)
		}
		if chunk.Usage != nil {
			fmt.Fprintf(out, "  %s %s\n", p.paint(faint, "usage     "), chunk.Usage)
		}
	}
	fmt.Fprintln(out)
	return lines.Err()
}

// showChunk prints what a chunk says.
func showChunk(out io.Writer, p palette, m demoMessage, finish string) {
	line := func(c colour, name, text string) {
		fmt.Fprintf(out, "  %s %s\n", p.paint(c, fmt.Sprintf("%-10s", name)), text)
	}
	if m.Reasoning != "" {
		line(colours["reasoning"], "reasoning", strconv.Quote(m.Reasoning))
	}
	if m.Content != "" {
		line(colours["content"], "content", strconv.Quote(m.Content))
	}
	for _, call := range m.Calls {
		if call.ID != "" {
			line(colours["tool calls"], "tool call", call.Function.Name+p.paint(faint, "  id "+call.ID))
		}
		if call.Function.Arguments != "" {
			line(colours["arguments"], "arguments", strconv.Quote(call.Function.Arguments))
		}
	}
	if finish != "" {
		line(faint, "finish", finish)
	}
}
