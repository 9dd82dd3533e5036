package doctor_test

import (
	"encoding/json/v2"
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"
)

// asked is what a fake server looks at of a request.
type asked struct {
	Stream bool   `json:"stream"`
	Choice any    `json:"tool_choice"`
	Format any    `json:"response_format"`
	Prompt string `json:"prompt"`
}

// said is what it answers. Arguments "" is no call. Refusal is the message of a 400.
type said struct {
	Reasoning, Content, Name, Arguments, Finish, Stop, Refusal string
}

// fake is a server with a chat route that answers as a function says, and a completions route that writes raw, if that is
// not "". It gives the server's address.
func fake(t *testing.T, raw string, answer func(asked) said) string {
	t.Helper()
	mux := http.NewServeMux()
	write := func(w http.ResponseWriter, v any) {
		data, err := json.Marshal(v)
		if err != nil {
			t.Error(err)
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(data)
	}
	mux.HandleFunc("GET /v1/models", func(w http.ResponseWriter, _ *http.Request) {
		write(w, map[string]any{"object": "list", "data": []map[string]any{{"id": "m", "object": "model"}}})
	})
	if raw != "" {
		mux.HandleFunc("POST /v1/completions", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/event-stream")
			data, err := json.Marshal(map[string]any{"choices": []map[string]any{{"index": 0, "text": raw, "finish_reason": "stop"}}})
			if err != nil {
				t.Error(err)
			}
			fmt.Fprintf(w, "data: %s\n\ndata: [DONE]\n\n", data)
		})
	}
	mux.HandleFunc("POST /v1/chat/completions", func(w http.ResponseWriter, r *http.Request) {
		var q asked
		if err := json.UnmarshalRead(r.Body, &q); err != nil {
			t.Error(err)
		}
		a := answer(q)
		if a.Refusal != "" {
			w.WriteHeader(http.StatusBadRequest)
			write(w, map[string]any{"error": map[string]any{"message": a.Refusal}})
			return
		}
		message := map[string]any{"role": "assistant", "content": a.Content, "reasoning_content": a.Reasoning}
		if a.Name != "" {
			message["tool_calls"] = []map[string]any{{"index": 0, "id": "call-1", "type": "function", "function": map[string]any{"name": a.Name, "arguments": a.Arguments}}}
		}
		choice := map[string]any{"index": 0, "finish_reason": a.Finish}
		if a.Stop != "" {
			choice["stop_reason"] = a.Stop
		}
		if !q.Stream {
			choice["message"] = message
			write(w, map[string]any{"choices": []any{choice}})
			return
		}
		choice["delta"] = message
		data, err := json.Marshal(map[string]any{"choices": []any{choice}})
		if err != nil {
			t.Error(err)
		}
		w.Header().Set("Content-Type", "text/event-stream")
		fmt.Fprintf(w, "data: %s\n\ndata: [DONE]\n\n", data)
	})
	web := httptest.NewServer(mux)
	t.Cleanup(web.Close)
	return web.URL
}

// good is the answer of a server that is well.
func good() said {
	return said{Name: "get_weather", Arguments: `{"city": "Paris"}`, Finish: "tool_calls"}
}
