// Command clients drives a server with openai-go: every scenario whole, and streamed into the accumulator.
//
// Usage: clients URL FOLDER (the folder of scenarios.json and tools.json)
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"reflect"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
)

type message struct {
	Reasoning string  `json:"reasoning"`
	Content   string  `json:"content"`
	Calls     [][]any `json:"calls"`
	Finish    string  `json:"finish"`
}

type scenario struct {
	Name    string         `json:"name"`
	Ask     string         `json:"ask"`
	Tools   bool           `json:"tools"`
	Body    map[string]any `json:"body"`
	Extra   map[string]any `json:"extra"`
	Choices int            `json:"choices"`
	Cut     bool           `json:"cut"`
	Want    message        `json:"want"`
}

var failed bool

func check(name string, found, want any) {
	if !reflect.DeepEqual(found, want) {
		failed = true
		fmt.Printf("go: %s: expected %+v, found %+v\n", name, want, found)
	}
}

func main() {
	url, folder := os.Args[1], os.Args[2]
	client := openai.NewClient(option.WithBaseURL(url+"/v1"), option.WithAPIKey("none"), option.WithMaxRetries(0))
	var scenarios []scenario
	var tools any
	read(folder+"/scenarios.json", &scenarios)
	read(folder+"/tools.json", &tools)
	for _, s := range scenarios {
		run(client, s, tools)
	}
	_, err := client.Chat.Completions.New(context.Background(), openai.ChatCompletionNewParams{Model: "nobody", Messages: []openai.ChatCompletionMessageParamUnion{openai.UserMessage("Hi")}})
	var status *openai.Error
	check("another model", errors.As(err, &status) && status.StatusCode == 404 && status.Param == "model", true)
	if failed {
		fmt.Println("go: failed")
		os.Exit(1)
	}
	fmt.Println("go: all as expected with openai-go")
}

func read(file string, into any) {
	data, err := os.ReadFile(file)
	if err == nil {
		err = json.Unmarshal(data, into)
	}
	if err != nil {
		panic(err)
	}
}

func run(client openai.Client, s scenario, tools any) {
	ctx := context.Background()
	params := openai.ChatCompletionNewParams{Model: "scripted", Messages: []openai.ChatCompletionMessageParamUnion{openai.UserMessage(s.Ask)}}
	var options []option.RequestOption
	for _, fields := range []map[string]any{s.Body, s.Extra} {
		for name, value := range fields {
			options = append(options, option.WithJSONSet(name, value))
		}
	}
	if s.Tools {
		options = append(options, option.WithJSONSet("tools", tools))
	}
	count := max(s.Choices, 1)
	want := make([]message, count)
	for i := range want {
		want[i] = s.Want
	}

	whole, err := client.Chat.Completions.New(ctx, params, options...)
	if err != nil {
		check(s.Name+", whole", err.Error(), "an answer")
		return
	}
	found := make([]message, 0, count)
	for _, c := range whole.Choices {
		found = append(found, of(c, text(c.Message.JSON.ExtraFields["reasoning"].Raw()), s.Cut))
	}
	check(s.Name+", whole", found, want)

	stream := client.Chat.Completions.NewStreaming(ctx, params, append(options, option.WithJSONSet("stream_options", map[string]any{"include_usage": true}))...)
	accumulator := openai.ChatCompletionAccumulator{}
	reasoning := make([]string, count)
	finished := 0
	for stream.Next() {
		chunk := stream.Current()
		check(s.Name+", chunk taken", accumulator.AddChunk(chunk), true)
		if _, ok := accumulator.JustFinishedToolCall(); ok {
			finished++
		}
		for _, c := range chunk.Choices {
			reasoning[c.Index] += text(c.Delta.JSON.ExtraFields["reasoning"].Raw())
		}
	}
	if err := stream.Err(); err != nil {
		check(s.Name+", streamed", err.Error(), "no error")
	}
	found = found[:0]
	for i, c := range accumulator.Choices {
		found = append(found, of(c, reasoning[i], s.Cut))
	}
	check(s.Name+", accumulated", found, want)
	check(s.Name+", usage", accumulator.Usage.CompletionTokens, whole.Usage.CompletionTokens)
	if count == 1 {
		check(s.Name+", calls told when they are done", finished, len(s.Want.Calls))
	}
}

// text is the text of a JSON string, "" for anything else.
func text(raw string) (out string) {
	_ = json.Unmarshal([]byte(raw), &out)
	return out
}

func of(c openai.ChatCompletionChoice, reasoning string, cut bool) message {
	m := message{Reasoning: reasoning, Content: c.Message.Content, Calls: [][]any{}, Finish: c.FinishReason}
	for _, call := range c.Message.ToolCalls {
		var arguments any = call.Function.Arguments
		if !cut {
			if err := json.Unmarshal([]byte(call.Function.Arguments), &arguments); err != nil {
				arguments = err.Error()
			}
		}
		if call.ID == "" || call.Type != "function" {
			arguments = "a call without id or type"
		}
		m.Calls = append(m.Calls, []any{call.Function.Name, arguments})
	}
	return m
}
