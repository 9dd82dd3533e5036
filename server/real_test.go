package server_test

import (
	"bufio"
	"context"
	"encoding/json/v2"
	"fmt"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// The tests of this file stand in front of a real llama.cpp server, whose address is in PARLANCE_LLAMACPP_URL; .ci/engine
// starts one. Nothing is asserted about time, and hardly anything about what a small model says.

func serveReal(t *testing.T, arguments ...string) (url, engine string) {
	t.Helper()
	engine = os.Getenv("PARLANCE_LLAMACPP_URL")
	if engine == "" {
		t.Skip("PARLANCE_LLAMACPP_URL is not set")
	}
	return serve(t, append([]string{"--engine", "llamacpp", "--engine-url", engine, "--engine-timeout", "5m"}, arguments...)...), engine
}

// realAnswer is a message of Chat Completions, whole or put together from the chunks of a stream.
type realAnswer struct {
	content, reasoning, finish string
	calls                      []realCall
	completionTokens           int
	chunks                     int
}

type realCall struct {
	ID       string
	Index    int
	Function struct{ Name, Arguments string }
}

type realMessage struct {
	Content   string
	Reasoning string
	ToolCalls []realCall `json:"tool_calls"`
}

type realChunk struct {
	Choices []struct {
		Message, Delta realMessage
		FinishReason   string `json:"finish_reason"`
	}
	Usage *struct {
		CompletionTokens int `json:"completion_tokens"`
	}
	Error *struct{ Message string }
}

func chatReal(t *testing.T, url string, stream bool, body string) (answer realAnswer) {
	t.Helper()
	if stream {
		body = strings.Replace(body, "{", `{"stream":true,"stream_options":{"include_usage":true},`, 1)
	}
	status, data := post(t, url+"/v1/chat/completions", body)
	if status != http.StatusOK {
		t.Fatalf("status %d: %s", status, data)
	}
	list := []string{string(data)}
	if stream {
		list = events(t, data)
		if n := len(list); n == 0 || list[n-1] != "[DONE]" {
			t.Fatalf("the stream does not end with [DONE]: %s", data)
		}
		list = list[:len(list)-1]
	}
	for _, text := range list {
		var chunk realChunk
		if err := json.Unmarshal([]byte(text), &chunk, json.MatchCaseInsensitiveNames(true)); err != nil || chunk.Error != nil {
			t.Fatalf("%v in %s", err, text)
		}
		answer.chunks++
		if chunk.Usage != nil {
			answer.completionTokens = chunk.Usage.CompletionTokens
		}
		for _, choice := range chunk.Choices {
			for _, m := range []realMessage{choice.Message, choice.Delta} {
				answer.content += m.Content
				answer.reasoning += m.Reasoning
				for _, call := range m.ToolCalls {
					if !stream || call.ID != "" {
						answer.calls = append(answer.calls, call)
					} else {
						last := &answer.calls[call.Index]
						last.Function.Arguments += call.Function.Arguments
					}
				}
			}
			if choice.FinishReason != "" {
				answer.finish = choice.FinishReason
			}
		}
	}
	return answer
}

func TestRealChat(t *testing.T) {
	url, _ := serveReal(t)
	const question = `"messages":[{"role":"user","content":"Name three fruits."}],"temperature":0,"seed":1,"max_completion_tokens":12`
	whole, stream := chatReal(t, url, false, "{"+question+"}"), chatReal(t, url, true, "{"+question+"}")
	if whole.content == "" || whole.content != stream.content || whole.finish != "length" || stream.finish != "length" ||
		whole.completionTokens != 12 || stream.completionTokens != 12 || stream.chunks < 6 {
		t.Errorf("whole %+v\nstream %+v", whole, stream)
	}
}

func TestRealChatStops(t *testing.T) {
	url, _ := serveReal(t)
	for _, stream := range []bool{false, true} {
		answer := chatReal(t, url, stream, `{"messages":[{"role":"user","content":"Count from one to nine, in digits."},{"role":"assistant","content":"1, 2, 3,"}],
			"continue_final_message":true,"add_generation_prompt":false,"temperature":0,"seed":1,"max_completion_tokens":40,"stop":["6"]}`)
		if answer.finish != "stop" || !strings.Contains(answer.content, "5") || strings.Contains(answer.content, "6") {
			t.Errorf("%+v", answer)
		}
	}
}

// boundedWeather and boundedTime bound what a small model may write: an open text would run to the limit.
const boundedWeather = `{"type":"function","function":{"name":"get_weather","parameters":{"type":"object","properties":{
	"city":{"type":"string","enum":["Paris","Oslo","Rome"]},"days":{"type":"integer","minimum":1,"maximum":9}},"required":["city","days"],"additionalProperties":false},"strict":true}}`

const boundedTime = `{"type":"function","function":{"name":"get_time","parameters":{"type":"object","properties":{
	"zone":{"type":"string","enum":["UTC","CET"]}},"required":["zone"],"additionalProperties":false},"strict":true}}`

// Forced calls in the syntax of five formats: each answer has calls of declared tools with arguments that fit their schemas.
func TestRealForcedCalls(t *testing.T) {
	for _, format := range []string{"hermes", "qwen3_coder", "llama3_json", "pythonic", "glm47"} {
		t.Run(format, func(t *testing.T) {
			url, _ := serveReal(t, "--tool-call-parser", format, "--enable-auto-tool-choice")
			for i := range 10 {
				answer := chatReal(t, url, i%2 == 1, fmt.Sprintf(`{"messages":[{"role":"user","content":"What is the weather in Paris, and how late is it?"}],"tools":[%s,%s],
					"tool_choice":"required","parallel_tool_calls":false,"temperature":1,"seed":%d,"max_completion_tokens":200}`, boundedWeather, boundedTime, i))
				if len(answer.calls) != 1 || answer.finish != "tool_calls" || answer.content != "" {
					t.Errorf("seed %d: %+v", i, answer)
				}
				for _, call := range answer.calls {
					if err := fits(call.Function.Name, call.Function.Arguments); err != nil || call.ID == "" {
						t.Errorf("seed %d: %+v: %v", i, call, err)
					}
				}
			}
		})
	}
}

// fits tells whether a call fits the tools.
func fits(name, arguments string) error {
	switch name {
	case "get_weather":
		var a struct {
			City string `json:"city"`
			Days int    `json:"days"`
		}
		if err := json.Unmarshal([]byte(arguments), &a, json.RejectUnknownMembers(true)); err != nil {
			return err
		}
		if !slices.Contains([]string{"Paris", "Oslo", "Rome"}, a.City) || a.Days < 1 || a.Days > 9 {
			return fmt.Errorf("%+v is not allowed", a)
		}
	case "get_time":
		var a struct {
			Zone string `json:"zone"`
		}
		if err := json.Unmarshal([]byte(arguments), &a, json.RejectUnknownMembers(true)); err != nil {
			return err
		}
		if a.Zone != "UTC" && a.Zone != "CET" {
			return fmt.Errorf("%+v is not allowed", a)
		}
	default:
		return fmt.Errorf("%q is not declared", name)
	}
	return nil
}

// A client leaves in the middle: the engine's slot is free again, long before the answer would have ended.
func TestRealClientLeavesServer(t *testing.T) {
	url, engine := serveReal(t)
	before := generated(t, engine)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, url+"/v1/chat/completions",
		strings.NewReader(`{"stream":true,"messages":[{"role":"user","content":"Tell a long story."}],"max_completion_tokens":1500,"ignore_eos":true}`))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/json")
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	lines := bufio.NewScanner(response.Body)
	for n := 0; n < 3 && lines.Scan(); {
		if strings.HasPrefix(lines.Text(), "data: ") {
			n++
		}
	}
	if busySlots(t, engine) == 0 {
		t.Error("no slot of the engine is busy with the answer")
	}
	cancel()
	for range 600 {
		if busySlots(t, engine) == 0 {
			if n := generated(t, engine) - before; n > 1000 {
				t.Errorf("the engine went on to %d tokens of 1,500 after the client had left", n)
			}
			return
		}
		time.Sleep(100 * time.Millisecond)
	}
	t.Error("a slot of the engine is still busy")
}

// generated is how many tokens the engine has generated.
func generated(t *testing.T, engine string) int {
	t.Helper()
	response, err := http.Get(engine + "/metrics")
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	lines := bufio.NewScanner(response.Body)
	for lines.Scan() {
		if text, ok := strings.CutPrefix(lines.Text(), "llamacpp:tokens_predicted_total "); ok {
			n, err := strconv.ParseFloat(text, 64)
			if err != nil {
				t.Fatal(err)
			}
			return int(n)
		}
	}
	t.Fatal("the engine does not tell how many tokens it has generated")
	return 0
}

func busySlots(t *testing.T, engine string) (busy int) {
	t.Helper()
	response, err := http.Get(engine + "/slots")
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	var slots []struct {
		Processing bool `json:"is_processing"`
	}
	if err := json.UnmarshalRead(response.Body, &slots); err != nil || len(slots) == 0 {
		t.Fatalf("%d slots, %v", len(slots), err)
	}
	for _, slot := range slots {
		if slot.Processing {
			busy++
		}
	}
	return busy
}
