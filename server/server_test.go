package server_test

import (
	"bytes"
	"encoding/json/v2"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/pflag"

	"github.com/parlance-llm/parlance/server/config"
)

// configure reads a command line as serve does.
func configure(t *testing.T, environment map[string]string, arguments ...string) (*config.Config, error) {
	t.Helper()
	flags := pflag.NewFlagSet("serve", pflag.ContinueOnError)
	c := config.Register(flags)
	if err := flags.Parse(arguments); err != nil {
		return nil, err
	}
	lookup := func(name string) (string, bool) { text, ok := environment[name]; return text, ok }
	return c, c.Load(flags, lookup)
}

// serve starts a server with a command line and gives its address.
func serve(t *testing.T, arguments ...string) string {
	t.Helper()
	web := httptest.NewServer(handlerOf(t, arguments...))
	t.Cleanup(web.Close)
	return web.URL
}

// says makes a folder of recordings with one model m, which says each of the texts in turn. A piece of an answer ends at
// every "|".
func says(t *testing.T, texts ...string) string {
	t.Helper()
	type recording struct {
		Pieces []string `json:"pieces"`
	}
	model := struct {
		Model      string      `json:"model"`
		Recordings []recording `json:"recordings"`
	}{Model: "m"}
	for _, text := range texts {
		model.Recordings = append(model.Recordings, recording{strings.Split(text, "|")})
	}
	return record(t, model)
}

// record writes a folder of recordings with one file.
func record(t *testing.T, model any) string {
	t.Helper()
	data, err := json.Marshal(model)
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	if err := os.WriteFile(filepath.Join(folder, "m.json"), data, 0o600); err != nil {
		t.Fatal(err)
	}
	return folder
}

// post sends a body and gives the status and the answer.
func post(t *testing.T, url, body string) (int, []byte) {
	t.Helper()
	response, err := http.Post(url, "application/json", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	data, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response.StatusCode, data
}

// events are the data of a stream's events.
func events(t *testing.T, stream []byte) (out []string) {
	t.Helper()
	for line := range bytes.Lines(stream) {
		if data, ok := bytes.CutPrefix(bytes.TrimSpace(line), []byte("data: ")); ok {
			out = append(out, string(data))
		}
	}
	return out
}

const weather = `{"type":"function","function":{"name":"get_weather","parameters":{"type":"object","properties":{"city":{"type":"string"}}}}}`

func TestBundledRecordingsOfEveryFamily(t *testing.T) {
	url := serve(t)
	for _, model := range []string{"deepseek-v4", "gemma-4-31b", "glm-4.7", "kimi-k2-thinking", "minimax-m2", "magistral-small", "gpt-oss-20b", "qwen3-8b"} {
		status, data := post(t, url+"/v1/chat/completions", `{"model":"`+model+`","messages":[{"role":"user","content":"What is the weather in Paris?"}],"tools":[`+weather+`]}`)
		var answer struct {
			Choices []struct {
				Message struct {
					Reasoning string
					ToolCalls []struct {
						Function struct{ Name, Arguments string }
					} `json:"tool_calls"`
				}
				FinishReason string `json:"finish_reason"`
			}
		}
		if err := json.Unmarshal(data, &answer, json.MatchCaseInsensitiveNames(true)); err != nil || status != http.StatusOK || len(answer.Choices) != 1 {
			t.Fatalf("%s: status %d: %s (%v)", model, status, data, err)
		}
		choice := answer.Choices[0]
		if len(choice.Message.ToolCalls) != 1 || choice.Message.ToolCalls[0].Function.Name != "get_weather" || choice.Message.Reasoning == "" || choice.FinishReason != "tool_calls" {
			t.Errorf("%s: expected a thought and one call, found %s", model, data)
		}
	}
}
