package engine

import (
	"context"
	"encoding/json/jsontext"
	"encoding/json/v2"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/parlance-llm/parlance/internal/oddvalue"
)

// saying is a transport that answers the routes that it has.
type saying map[string]string

// RoundTrip implements http.RoundTripper.
func (c saying) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Body != nil {
		_, _ = io.Copy(io.Discard, r.Body)
		r.Body.Close()
	}
	text, ok := c[r.URL.Path]
	response := &http.Response{StatusCode: 200, Header: http.Header{"Content-Type": {"application/json"}}, Request: r, ProtoMajor: 1, ProtoMinor: 1}
	switch {
	case !ok:
		response.StatusCode, text = 404, `{"detail":"Not Found"}`
	case strings.HasPrefix(text, "data: "):
		response.Header.Set("Content-Type", "text/event-stream")
	}
	response.Body = io.NopCloser(strings.NewReader(text))
	return response, nil
}

// engineRoutes are what each engine's server says, with about every member that is read.
var engineRoutes = map[string]saying{
	"openai-completions": {
		"/v1/models":      `{"object":"list","data":[{"id":"a","object":"model","created":5,"owned_by":"x","root":"r","parent":"p","max_model_len":100}]}`,
		"/v1/completions": `{"id":"c","choices":[{"index":0,"text":"hi","logprobs":{"tokens":["hi"],"token_logprobs":[-1],"top_logprobs":[{"hi":-1,"ho":-2}]},"finish_reason":"stop","stop_reason":"x"}],"usage":{"prompt_tokens":1,"completion_tokens":2,"prompt_tokens_details":{"cached_tokens":1}}}`,
	},
	"openai-chat": {
		"/v1/models":           `{"object":"list","data":[{"id":"a"}]}`,
		"/v1/chat/completions": `{"id":"c","choices":[{"index":0,"delta":{"role":"assistant","content":"hi","reasoning_content":"r","tool_calls":null},"logprobs":{"content":[{"token":"hi","logprob":-1,"bytes":[104,105],"top_logprobs":[{"token":"ho","logprob":-2,"bytes":null}]}]},"finish_reason":"stop"}],"usage":{"prompt_tokens":1,"completion_tokens":2}}`,
	},
	"vllm": {
		"/v1/models":      `{"object":"list","data":[{"id":"a","max_model_len":100}]}`,
		"/v1/completions": `{"choices":[{"index":0,"text":"hi","token_ids":[7],"prompt_token_ids":[1,2],"logprobs":{"tokens":["token_id:7"],"token_logprobs":[-1],"top_logprobs":[{"token_id:7":-1}]},"finish_reason":"stop","stop_reason":7}],"usage":{"prompt_tokens":1,"completion_tokens":2}}`,
		"/tokenize":       `{"count":2,"max_model_len":100,"tokens":[1,2],"token_strs":["x","y"]}`,
		"/detokenize":     `{"prompt":"hi"}`,
		"/tokenizer_info": `{"chat_template":"t","bos_token":"<s>","eos_token":{"content":"</s>"}}`,
	},
	"sglang": {
		"/v1/models":  `{"object":"list","data":[{"id":"a","max_model_len":100}]}`,
		"/model_info": `{"model_path":"a","tool_call_parser":"hermes","reasoning_parser":"qwen3"}`,
		"/generate":   `{"text":"hi","output_ids":[7],"meta_info":{"finish_reason":{"type":"stop","matched":"x"},"prompt_tokens":1,"completion_tokens":1,"cached_tokens":1,"output_token_logprobs":[[-1,7,"hi"]],"output_top_logprobs":[[[-1,7,"hi"],[-2,8,"ho"]]]}}`,
		"/tokenize":   `{"count":2,"tokens":[1,2],"max_model_len":100}`,
		"/detokenize": `{"text":"hi"}`,
	},
	"llamacpp": {
		"/v1/models":      `{"object":"list","data":[{"id":"a","meta":{"n_ctx_train":100,"n_ctx":50}}]}`,
		"/props":          `{"default_generation_settings":{"n_ctx":100},"chat_template":"t","chat_template_tool_use":"u","bos_token":"<s>","eos_token":"</s>","build_info":"b1"}`,
		"/completion":     `{"index":0,"content":"hi","tokens":[7],"stop":true,"stop_type":"word","stopping_word":"x","tokens_predicted":1,"tokens_evaluated":2,"tokens_cached":1,"truncated":false,"completion_probabilities":[{"id":7,"token":"hi","logprob":-1,"bytes":[104],"top_logprobs":[{"id":8,"token":"ho","logprob":-2,"bytes":[1]}]}]}`,
		"/tokenize":       `{"tokens":[{"id":1,"piece":"x"},{"id":2,"piece":[255]}]}`,
		"/detokenize":     `{"content":"hi"}`,
		"/apply-template": `{"prompt":"hi"}`,
	},
	"ollama": {
		"/api/tags":     `{"models":[{"name":"a","model":"a"}]}`,
		"/api/version":  `{"version":"1"}`,
		"/api/show":     `{"template":"{% t %}","model_info":{"x.context_length":100}}`,
		"/api/chat":     `{"model":"a","_debug_info":{"rendered_template":"hi"}}`,
		"/api/generate": `{"model":"a","response":"hi","thinking":"","done":true,"done_reason":"stop","prompt_eval_count":1,"eval_count":2,"logprobs":[{"token":"hi","logprob":-1,"bytes":[104],"top_logprobs":[{"token":"ho","logprob":-2,"bytes":[1]}]}]}`,
	},
}

// TestMutatedAnswers: whatever an engine's server says in the place of any member, the engine gives an answer or an *Error,
// and gives it at once.
func TestMutatedAnswers(t *testing.T) {
	for name, said := range engineRoutes {
		for path, text := range said {
			var value any
			if err := json.Unmarshal([]byte(text), &value); err != nil {
				t.Fatalf("%s %s: %v", name, path, err)
			}
			use(t, name, said, path, "", nil, text)
			oddvalue.Each(value, oddValues, func(place string, odd any) {
				data, err := json.Marshal(value)
				if err != nil {
					t.Fatal(err)
				}
				use(t, name, said, path, place, odd, string(data))
			})
		}
	}
}

// use asks everything of an engine whose server says something else on one path.
func use(t *testing.T, name string, said saying, path, place string, odd any, text string) {
	t.Helper()
	mutated := saying{}
	for path, text := range said {
		mutated[path] = framed(path, text)
	}
	mutated[path] = framed(path, text)
	e, err := Open(name, Options{URL: "http://engine", Retries: -1, Transport: mutated})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	ctx, stop := context.WithTimeout(t.Context(), 10*time.Second)
	defer stop()
	check := func(what string, err error) {
		t.Helper()
		if failed := (*Error)(nil); err != nil && (!errors.As(err, &failed) || ctx.Err() != nil || failed.Message+failed.Error() == "") {
			t.Errorf("%s %s: %s is %v: %s: %v", name, path, place, odd, what, err)
		}
		if err != nil && place == "" && path != "" {
			if failed := (*Error)(nil); !errors.As(err, &failed) || failed.Kind != Unsupported {
				t.Errorf("%s: %s: %v", name, what, err)
			}
		}
	}
	can := e.Capabilities()
	_, err = e.Models(ctx)
	check("models", err)
	_, err = e.Template(ctx, "")
	check("template", err)
	_, err = e.Tokenize(ctx, "", "hi", true)
	check("tokenize", err)
	_, err = e.Detokenize(ctx, "", []int{1})
	check("detokenize", err)
	conversation := &Conversation{Messages: jsontext.Value(hi)}
	_, err = e.ApplyTemplate(ctx, conversation)
	check("apply template", err)
	request := &Request{Prompt: Prompt{Text: "hi"}, Logprobs: can.Logprobs, TokenIDs: can.TokenIDs, PromptTokenIDs: can.TokenIDs}
	if can.Logprobs {
		request.TopLogprobs = min(1, can.MaxTopLogprobs)
	}
	if can.ChatOnly {
		request.Prompt, request.Conversation = Prompt{}, conversation
	}
	stream, err := e.Generate(ctx, request)
	if err == nil {
		_, err = Collect(stream)
	}
	check("generate", err)
}

// framed is what a server says on a path: an event, or a line, on those that generate.
func framed(path, text string) string {
	switch path {
	case "/v1/completions", "/v1/chat/completions", "/generate":
		return sse(text) + sse("[DONE]")
	case "/completion":
		return sse(text)
	case "/api/generate":
		return text + "\n"
	}
	return text
}

// oddValues are what the places of answers are tried with.
var oddValues = []any{nil, true, -1.0, 1e300, "", "x", []any{}, []any{nil}, []any{[]any{}}, map[string]any{}}
