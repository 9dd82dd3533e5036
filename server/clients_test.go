package server_test

import (
	"encoding/json/v2"
	"io"
	"net/http"
	"reflect"
	"testing"
)

// answer is what a client makes of an answer, whole or streamed.
type answer struct {
	Reasoning, Content string
	Calls              []string // name and arguments
	Finish             string
	Stop               any
}

// delta is a message, or a part of one.
type delta struct {
	Role      string `json:"role"`
	Reasoning string `json:"reasoning"`
	Content   string `json:"content"`
	ToolCalls []struct {
		Index    int    `json:"index"`
		ID       string `json:"id"`
		Type     string `json:"type"`
		Function struct {
			Name      string  `json:"name"`
			Arguments *string `json:"arguments"`
		} `json:"function"`
	} `json:"tool_calls"`
}

type completion struct {
	ID      string `json:"id"`
	Choices []struct {
		Message delta  `json:"message"`
		Delta   delta  `json:"delta"`
		Finish  string `json:"finish_reason"`
		Stop    any    `json:"stop_reason"`
	} `json:"choices"`
	Usage struct {
		Completion int `json:"completion_tokens"`
		Details    struct {
			Reasoning int `json:"reasoning_tokens"`
		} `json:"completion_tokens_details"`
	} `json:"usage"`
}

// both asks whole and streamed, holds that the answers are the same, and gives it with the raw chunks.
func both(t *testing.T, url, fields string) (answer, []string) {
	t.Helper()
	body := `{"messages":[{"role":"user","content":"Hi"}],` + fields
	status, data := post(t, url+"/v1/chat/completions", body+"}")
	if status != http.StatusOK {
		t.Fatalf("%s: status %d: %s", fields, status, data)
	}
	var c completion
	if err := json.Unmarshal(data, &c); err != nil {
		t.Fatalf("%v: %s", err, data)
	}
	choice := c.Choices[0]
	whole := answer{Reasoning: choice.Message.Reasoning, Content: choice.Message.Content, Finish: choice.Finish, Stop: choice.Stop}
	for _, call := range choice.Message.ToolCalls {
		whole.Calls = append(whole.Calls, call.Function.Name+" "+*call.Function.Arguments)
	}
	status, data = post(t, url+"/v1/chat/completions", body+`,"stream":true}`)
	if status != http.StatusOK {
		t.Fatalf("%s, streamed: status %d: %s", fields, status, data)
	}
	chunks := events(t, data)
	streamed := accumulate(t, chunks)
	if !reflect.DeepEqual(whole, streamed) {
		t.Errorf("%s:\nwhole    %+v\nstreamed %+v", fields, whole, streamed)
	}
	return whole, chunks
}

// accumulate puts chunks together, and holds them to what keeps every client happy (W18, W40).
func accumulate(t *testing.T, chunks []string) (out answer) {
	t.Helper()
	if len(chunks) == 0 || chunks[len(chunks)-1] != "[DONE]" {
		t.Fatalf("expected an end mark, found %q", chunks)
	}
	var roles int
	for _, chunk := range chunks[:len(chunks)-1] {
		var c completion
		if err := json.Unmarshal([]byte(chunk), &c); err != nil {
			t.Fatalf("%v: %s", err, chunk)
		}
		choice := c.Choices[0]
		d := choice.Delta
		if d.Role != "" {
			roles++
			continue
		}
		said := 0
		for _, yes := range []bool{d.Reasoning != "", d.Content != "", len(d.ToolCalls) > 0} {
			if yes {
				said++
			}
		}
		if said > 1 || len(d.ToolCalls) > 1 || said == 0 && choice.Finish == "" {
			t.Errorf("expected one thing in a chunk, found %s", chunk)
		}
		out.Reasoning += d.Reasoning
		out.Content += d.Content
		for _, call := range d.ToolCalls {
			if call.Function.Arguments == nil {
				t.Fatalf("expected arguments in %s", chunk)
			}
			if call.Index == len(out.Calls) {
				if call.ID == "" || call.Type != "function" || call.Function.Name == "" || *call.Function.Arguments != "" {
					t.Errorf("expected id, type, name and empty arguments first, found %s", chunk)
				}
				out.Calls = append(out.Calls, call.Function.Name+" ")
			} else if call.ID+call.Type+call.Function.Name != "" || *call.Function.Arguments == "" {
				t.Errorf("expected only arguments, found %s", chunk)
			}
			out.Calls[call.Index] += *call.Function.Arguments
		}
		if choice.Finish != "" {
			out.Finish, out.Stop = choice.Finish, choice.Stop
		}
	}
	if roles != 1 {
		t.Errorf("expected one role, found %d", roles)
	}
	return out
}

func is(t *testing.T, found, want answer) {
	t.Helper()
	if !reflect.DeepEqual(found, want) {
		t.Errorf("expected %+v, found %+v", want, found)
	}
}

func fetchText(t *testing.T, url string) (int, string) {
	t.Helper()
	response, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	data, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response.StatusCode, string(data)
}
